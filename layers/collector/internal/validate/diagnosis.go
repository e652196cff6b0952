package validate

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/headgate/headgate/layers/collector/generation"
	"github.com/headgate/headgate/layers/collector/internal/alias"
	"github.com/headgate/headgate/layers/collector/internal/history"
	"github.com/headgate/headgate/layers/collector/internal/nearest"
	"github.com/headgate/headgate/layers/collector/internal/operation"
	"github.com/headgate/headgate/layers/collector/internal/source"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/otelcol"
	"go.opentelemetry.io/collector/service"
	"go.opentelemetry.io/collector/service/telemetry/otelconftelemetry"
)

// diagnosis checks a refused configuration part by part: every component, then the service, then its pipelines.
type diagnosis struct {
	*report
	env *operation.Environment
	// refused are the components that a refused provider left incomplete. Missing settings in them are not reported.
	refused map[string]bool
	// broken are the components that have an error.
	broken map[string]bool
	// kindsOf are the sections in which there is a component of a type.
	kindsOf map[component.Type][]string
}

// configs are the components' configurations, as far as they could be decoded.
type configs map[component.ID]component.Config

// sections of a configuration, in the order of the collector's own.
var sections = append(slices.Clip(source.Sections), "service")

func (d *diagnosis) run(ctx context.Context, conf *confmap.Conf, factories otelcol.Factories) {
	parts := d.decode(conf, factories)
	if d.result.NoConfiguration {
		return
	}
	d.whole(parts)
	d.pipelines(ctx, parts)
}

// decode decodes and validates every component and the service. It returns nil for a text that is something else.
func (d *diagnosis) decode(conf *confmap.Conf, factories otelcol.Factories) *parts {
	if factories.Telemetry == nil {
		factories.Telemetry = otelconftelemetry.NewFactory()
	}
	d.broken = make(map[string]bool)
	d.kindsOf = kindsOf(factories)
	top := conf.ToStringMap()
	if d.sections(top); d.result.NoConfiguration {
		return nil
	}
	parts := &parts{
		factories:  factories,
		receivers:  decodeSection(d, conf, "receivers", factories.Receivers),
		processors: decodeSection(d, conf, "processors", factories.Processors),
		exporters:  decodeSection(d, conf, "exporters", factories.Exporters),
		connectors: decodeSection(d, conf, "connectors", factories.Connectors),
		extensions: decodeSection(d, conf, "extensions", factories.Extensions),
	}
	parts.service = d.service(conf, factories)
	for _, offer := range d.offers {
		section, name, _ := strings.Cut(offer[1], separator)
		var id component.ID
		if list := parts.components()[section]; list != nil && id.UnmarshalText([]byte(name)) == nil && !known(id, list) {
			list[id] = nil // the finding at the definition is also of the pipelines that have the right name
		}
	}
	return parts
}

// parts are a configuration's decoded components and service.
type parts struct {
	factories                                                otelcol.Factories
	receivers, processors, exporters, connectors, extensions configs
	service                                                  service.Config
}

func (p *parts) components() map[string]configs {
	return map[string]configs{
		"receivers": p.receivers, "processors": p.processors, "exporters": p.exporters, "connectors": p.connectors,
		"extensions": p.extensions,
	}
}

// sections finds those that the collector does not know, and those that are not mappings.
func (d *diagnosis) sections(top map[string]any) {
	if d.isAnotherText(top) {
		return
	}
	for name, content := range top {
		if !slices.Contains(sections, name) {
			message := fmt.Sprintf("has invalid keys: %s%s", name, nearest.DidYouMean(name, sections))
			if strings.HasPrefix(name, "x-") || strings.HasPrefix(name, ".") {
				message += "; the collector has no section for anchors: put each anchor where it is used first"
			}
			d.error(UnknownSection, atKey, []string{name}, message)
			components, _ := content.(map[string]any)
			for component := range components {
				d.offer(name, component, nearest.Of(name, sections), component)
			}
			continue
		}
		if !isMapping(content) && content != nil {
			d.refused[name] = true // nothing of it is known
			d.error(WrongType, atKey, []string{name}, fmt.Sprintf("'%s' expected a map or struct, got %q", name, kindOf(content)))
		}
	}
}

// isAnotherText tells whether a text has none of the sections and none that may be mistyped. That is one error.
func (d *diagnosis) isAnotherText(top map[string]any) bool {
	another := otherText(top)
	for name, content := range top {
		near := nearest.Of(name, sections)
		// `services` is a section of Docker Compose.
		if another == "" && (slices.Contains(sections, name) || near != "" && (near != "service" || hasPipelines(content))) || slices.Contains(source.Sections, name) {
			return false
		}
	}
	keys := d.document.Keys()
	if len(keys) == 0 {
		return false
	}
	where, what := keys[0], "it has none of the sections "+strings.Join(sections, ", ")
	if kind := resourceKind(d.document.Root()); kind != "" {
		where, what = "kind", fmt.Sprintf("this text is a Kubernetes %s, and no configuration of a collector is in it", kind)
	}
	if another != "" {
		what = another
	}
	d.result.NoConfiguration = d.error(UnknownSection, atKey, []string{where}, "this is not a collector configuration: "+what) != nil
	return d.result.NoConfiguration
}

func hasPipelines(service any) bool {
	content, _ := service.(map[string]any)
	_, has := content["pipelines"]
	return has
}

// decodeSection decodes and validates every component of a section with its own factory.
func decodeSection[F component.Factory](
	d *diagnosis, conf *confmap.Conf, section string, factories map[component.Type]F,
) configs {
	decoded := make(configs)
	sub, err := conf.Sub(section)
	if err != nil {
		return decoded // reported by sections
	}
	content := sub.ToStringMap()
	for _, name := range slices.Sorted(maps.Keys(content)) {
		path := []string{section, name}
		var id component.ID
		if err := id.UnmarshalText([]byte(name)); err != nil {
			d.componentError(InvalidValue, atKey, path, err.Error())
			continue
		}
		if _, known := decoded[id]; known {
			d.componentError(InvalidValue, atKey, path, fmt.Sprintf("duplicate name %q after unmarshaling %v", name, id))
			continue
		}
		decoded[id] = nil
		factory, known := factories[id.Type()]
		if !known {
			d.componentError(UnknownComponent, atKey, path, d.unknownType(section, id, typeNames(factories)))
			continue
		}
		if content := content[name]; !isMapping(content) && content != nil {
			d.componentError(WrongType, atValue, path, fmt.Sprintf(
				"'[%s]' expected type 'map[string]interface {}', got unconvertible type '%T'", name, content))
			continue
		}
		if d.incomplete(path) {
			d.broken[componentOf(path)] = true
			continue
		}
		if config, err := decode(sub, id, factory); err != nil {
			d.decodeErrors(path, configType(factory), err)
		} else {
			decoded[id] = config
			d.validated(path, config)
		}
	}
	return decoded
}

// incomplete tells whether a refused provider left something out of a component.
func (d *diagnosis) incomplete(path []string) bool {
	return d.refused[""] || d.refused[path[0]] || d.refused[componentOf(path)]
}

func decode(section *confmap.Conf, id component.ID, factory component.Factory) (config component.Config, err error) {
	defer recovered(&err)
	sub, err := section.Sub(id.String())
	if err != nil {
		return nil, err
	}
	config = factory.CreateDefaultConfig()
	return config, sub.Unmarshal(&config)
}

func validateConfig(config any) (err error) {
	defer recovered(&err)
	return generation.Validate(config)
}

func (d *diagnosis) validated(path []string, config any) {
	again := func() error { return validateConfig(config) }
	d.validateErrors(path, again(), again)
}

// unknownType returns the message for an unknown type, with what may have been meant: another type, or another section.
func (d *diagnosis) unknownType(section string, id component.ID, types []string) string {
	message := fmt.Sprintf("unknown type: %q for id: %q", id.Type(), id)
	if section == "exporters" && id.Type().String() == "logging" {
		message = "the logging exporter has been deprecated, use the debug exporter instead" // the collector's own words
	}
	kind := id.Type().String()
	offer := func(kind string) {
		d.offer(section, id.String(), section, kind+strings.TrimPrefix(id.String(), id.Type().String()))
	}
	if words := history.Component(d.env.BuildInfo.Version, section, kind); words != "" {
		offer(history.OfComponent(section, kind).Instead)
		return message + "; " + words
	}
	if others := d.kindsOf[id.Type()]; len(others) > 0 {
		if len(others) == 1 {
			d.offer(section, id.String(), others[0], id.String())
		}
		return message + fmt.Sprintf("; there is one among the %s", strings.Join(others, " and the "))
	}
	for _, known := range types {
		if alias.IsSame(kind, known) {
			offer(known)
			return message + fmt.Sprintf("; %s releases call %q so, did you mean %q?", alias.ReleaseOf(kind, known), known, known)
		}
	}
	if words := history.Other(kind); words != "" {
		return message + "; " + words
	}
	offer(nearest.Of(kind, types))
	return message + nearest.DidYouMean(kind, types)
}

// kindsOf are the sections in which there is a component of a type.
func kindsOf(factories otelcol.Factories) map[component.Type][]string {
	kinds := make(map[component.Type][]string)
	for _, section := range source.Sections {
		for kind := range operation.FactoriesOf(section, factories) {
			kinds[kind] = append(kinds[kind], section)
		}
	}
	return kinds
}

func isMapping(content any) bool {
	_, is := content.(map[string]any)
	return is
}

func (d *diagnosis) componentError(code Code, where place, path []string, message string) {
	d.broken[componentOf(path)] = true
	d.error(code, where, path, message)
}

func typeNames[F any](factories map[component.Type]F) []string {
	names := make([]string, 0, len(factories))
	for kind := range factories {
		names = append(names, kind.String())
	}
	slices.Sort(names)
	return names
}

// service decodes and validates the section of that name.
func (d *diagnosis) service(conf *confmap.Conf, factories otelcol.Factories) service.Config {
	decoded := service.Config{Telemetry: factories.Telemetry.CreateDefaultConfig()}
	sub, err := conf.Sub("service")
	if err != nil {
		return decoded // reported by sections
	}
	path := []string{"service"}
	if err := decodeService(sub, &decoded); err != nil {
		d.decodeErrors(path, serviceType, err)
		return decoded
	}
	d.validated(path, decoded)
	return decoded
}

func decodeService(sub *confmap.Conf, into *service.Config) (err error) {
	defer recovered(&err)
	return sub.Unmarshal(into)
}

// whole finds errors between components: the checks of the collector's own Config, which reports only the first.
func (d *diagnosis) whole(p *parts) {
	if slices.ContainsFunc(append(sections, ""), func(name string) bool { return d.refused[name] }) {
		return // a whole section, or an unknown part, has not been read
	}
	switch {
	case len(p.receivers)+len(p.processors)+len(p.exporters)+len(p.connectors)+len(p.extensions) == 0:
		d.error(InvalidValue, atKey, []string{"service"}, "empty configuration file")
		return
	case len(p.receivers) == 0:
		d.error(InvalidValue, atKey, []string{"receivers"}, "no receiver configuration specified in config")
	case len(p.exporters) == 0:
		d.error(InvalidValue, atKey, []string{"exporters"}, "no exporter configuration specified in config")
	}
	for id := range p.connectors {
		for _, other := range []struct {
			kind    string
			configs configs
		}{{"exporter", p.exporters}, {"receiver", p.receivers}} {
			if _, both := other.configs[id]; both {
				d.error(InvalidValue, atKey, []string{"connectors", id.String()}, fmt.Sprintf(
					"ambiguous ID: Found both %q %s and %q connector. Change one of the components' IDs to eliminate ambiguity (e.g. rename %q connector to %q)",
					id, other.kind, id, id, id.String()+"/connector"))
			}
		}
	}
	for i, id := range p.service.Extensions {
		if _, known := p.extensions[id]; !known {
			d.undefined([]string{"service", "extensions"}, []string{fmt.Sprint(i)}, "extension", id, p.extensions)
		}
	}
	for pipelineID, pipeline := range p.service.Pipelines {
		if pipeline == nil {
			continue
		}
		path := []string{"service", "pipelines", pipelineID.String()}
		for i, id := range pipeline.Receivers {
			if !known(id, p.receivers, p.connectors) {
				d.undefined(path, []string{"receivers", fmt.Sprint(i)}, "receiver", id, p.receivers, p.connectors)
			}
		}
		for i, id := range pipeline.Processors {
			if known(id, p.processors) {
				continue
			}
			added := d.undefined(path, []string{"processors", fmt.Sprint(i)}, "processor", id, p.processors)
			if added != nil && known(id, p.connectors) {
				added.Message += fmt.Sprintf("; %s is a connector: it stands among the exporters of a pipeline, and among the receivers of another one", id)
			}
		}
		for i, id := range pipeline.Exporters {
			if !known(id, p.exporters, p.connectors) {
				d.undefined(path, []string{"exporters", fmt.Sprint(i)}, "exporter", id, p.exporters, p.connectors)
			}
		}
	}
}

func known(id component.ID, lists ...configs) bool {
	return slices.ContainsFunc(lists, func(list configs) bool {
		_, found := list[id]
		return found
	})
}

// undefined adds an error for a component that a list of the service names and that is not configured. The error's path
// is the pipeline's, its position that of the name in the list.
func (d *diagnosis) undefined(path, element []string, kind string, id component.ID, lists ...configs) *Finding {
	if len(d.result.Errors) >= maxFindings {
		return nil
	}
	meant := d.meantComponent(id, lists)
	_, position := d.document.Nearest(append(slices.Clone(path), element...)...)
	added := d.addAt(&d.result.Errors, position, UndefinedReference, path, fmt.Sprintf(
		"references %s %q which is not configured%s", kind, id, nearest.Offer(meant)))
	if added != nil {
		added.path = append(slices.Clone(path), element...)
		for _, section := range []string{kind + "s", "connectors"} {
			d.offer(section, id.String(), section, meant)
		}
	}
	return added
}

// meantComponent returns the configured component that a name may have meant, "" for none: the nearest of its type, or the
// only one of its type if one of the two has no name of its own. A type that nobody knows may be mistyped.
func (d *diagnosis) meantComponent(id component.ID, lists []configs) string {
	var ofType, all []string
	for _, list := range lists {
		for candidate := range list {
			isRenamed := alias.IsSame(candidate.Type().String(), id.Type().String())
			if isRenamed && candidate.Name() == id.Name() {
				return candidate.String()
			}
			if isRenamed || candidate.Type() == id.Type() {
				ofType = append(ofType, candidate.String())
			}
			all = append(all, candidate.String())
		}
	}
	if len(ofType) == 1 && (id.Name() == "" || !strings.Contains(ofType[0], "/")) {
		return ofType[0]
	}
	if len(d.kindsOf[id.Type()]) == 0 {
		return nearest.Of(id.String(), all)
	}
	// What the names begin with is the same, and does not make them similar.
	names := make(map[string]string, len(ofType))
	for _, candidate := range ofType {
		_, name, _ := strings.Cut(candidate, "/")
		names[name] = candidate
	}
	return names[nearest.Of(id.Name(), slices.Sorted(maps.Keys(names)))]
}
