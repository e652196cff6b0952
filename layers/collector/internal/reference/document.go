package reference

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/headgate/headgate/layers/collector/internal/operation"
)

// kinds are those of components. Each has a section of its own.
var kinds = []string{"receiver", "processor", "exporter", "connector", "extension"}

// writeDocument writes the schema of a whole configuration, component by component. They are described twice: first to
// see what several have in common.
func (w *walker) writeDocument(to io.Writer, env *operation.Environment, components []made) error {
	telemetry, err := w.telemetry(env)
	if err != nil {
		return err
	}
	common := newShared()
	for _, one := range components {
		described := w.component(one)
		described.withPaths()
		if err := common.mark(described); err != nil {
			return fmt.Errorf("%s %s: %w", one.Kind, one.Type, err)
		}
	}
	others := maps.Clone(w.definitions)
	others["service/telemetry"] = telemetry
	for _, name := range sortedKeys(others) {
		others[name].withPaths()
		if err := common.mark(others[name]); err != nil {
			return err
		}
	}
	head, err := json.Marshal(whole(env, components))
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(to, "%s,\n\"$defs\":{", head[:len(head)-1]); err != nil {
		return err
	}
	for _, one := range components {
		described := w.component(one)
		described.withPaths()
		described.origin = ""
		if err := common.replace(to, described); err != nil {
			return fmt.Errorf("%s %s: %w", one.Kind, one.Type, err)
		}
		if err := common.define(to, one.Kind+"/"+one.Type, described); err != nil {
			return fmt.Errorf("%s %s: %w", one.Kind, one.Type, err)
		}
	}
	for _, name := range sortedKeys(others) {
		others[name].origin = ""
		if err := common.replace(to, others[name]); err != nil {
			return err
		}
		if err := common.define(to, name, others[name]); err != nil {
			return err
		}
	}
	if err := common.define(to, Variable, variable()); err != nil {
		return err
	}
	_, err = io.WriteString(to, "\n}}\n")
	return err
}

// telemetry describes what the collector tells of itself.
func (w *walker) telemetry(env *operation.Environment) (*Schema, error) {
	factories, err := env.Factories()
	if err != nil {
		return nil, fmt.Errorf("making the factories: %w", err)
	}
	if factories.Telemetry == nil {
		return object(), nil
	}
	first, second := defaults(factories.Telemetry.CreateDefaultConfig)
	return w.value(reflect.ValueOf(first), place{closed: true, isDefault: true, again: reflect.ValueOf(second)}), nil
}

// whole describes a configuration without the definitions that it refers to.
func whole(env *operation.Environment, components []made) *Schema {
	found := &Schema{
		Dialect: dialect, Type: Types{"object"},
		Title:                fmt.Sprintf("Configuration of %s %s", env.BuildInfo.Command, env.BuildInfo.Version),
		Properties:           map[string]*Schema{"service": service(env, components)},
		AdditionalProperties: &Schema{nothing: true},
		Required:             []string{"receivers", "exporters", "service"},
		Reduced:              len(env.Lacking) > 0,
	}
	for _, kind := range kinds {
		found.Properties[kind+"s"] = section(env, kind, components)
	}
	found.Properties["receivers"].needed()
	found.Properties["exporters"].needed()
	return found
}

// section describes the section of a kind: ids, and the configuration that each has by its type.
func section(env *operation.Environment, kind string, components []made) *Schema {
	found := object()
	found.PatternProperties, found.AdditionalProperties = map[string]*Schema{}, &Schema{nothing: true}
	for _, one := range components {
		if one.Kind != kind {
			continue
		}
		found.PatternProperties["^"+one.Type+"(/.*)?$"] = &Schema{Ref: reference(kind + "/" + one.Type)}
		for _, former := range one.Aliases {
			found.PatternProperties["^"+former+"(/.*)?$"] = &Schema{
				Ref: reference(kind + "/" + one.Type), Deprecated: true, note: "Deprecated: use `" + one.Type + "`.",
			}
		}
	}
	for _, absent := range lacking(env, kind) {
		found.PatternProperties["^"+absent+"(/.*)?$"] = &Schema{Open: "this build of the collector lacks it"}
	}
	return found
}

// lacking are patterns of the types of a kind that the official release has and this build has not. Releases rename
// types, and some are the whole name of their module, so underscores do not count.
func lacking(env *operation.Environment, kind string) []string {
	var found []string
	for _, absent := range env.Lacking {
		if absent.Kind != kind {
			continue
		}
		for _, name := range []string{absent.Type, path.Base(absent.Module)} {
			var pattern []string
			for _, letter := range strings.ReplaceAll(name, "_", "") {
				pattern = append(pattern, regexp.QuoteMeta(string(letter)))
			}
			found = append(found, strings.Join(pattern, "_?"))
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// service describes the section that says what runs.
func service(env *operation.Environment, components []made) *Schema {
	pipelines := object()
	pipelines.PatternProperties, pipelines.AdditionalProperties = map[string]*Schema{}, &Schema{nothing: true}
	for _, signal := range signals {
		pipelines.PatternProperties["^"+signal+"(/.*)?$"] = pipeline(env, signal, components)
	}
	pipelines.needed()
	found := object()
	found.needed()
	found.Required = []string{"pipelines"}
	found.Properties = map[string]*Schema{
		"telemetry":  {Ref: reference("service/telemetry")},
		"extensions": ids(patterns(env, components, "extension", func(string) bool { return true })),
		"pipelines":  pipelines,
	}
	found.AdditionalProperties = &Schema{nothing: true}
	return found
}

// pipeline describes a pipeline of a signal, in which only the components stand that support it.
func pipeline(env *operation.Environment, signal string, components []made) *Schema {
	able := func(supported string) bool { return supported == signal }
	feeds := patterns(env, components, "connector", func(pair string) bool { return strings.HasSuffix(pair, "_to_"+signal) })
	takes := patterns(env, components, "connector", func(pair string) bool { return strings.HasPrefix(pair, signal+"_to_") })
	found := object()
	found.Properties = map[string]*Schema{
		"receivers":  ids(append(patterns(env, components, "receiver", able), feeds...)),
		"processors": ids(patterns(env, components, "processor", able)),
		"exporters":  ids(append(patterns(env, components, "exporter", able), takes...)),
	}
	found.needed()
	found.Properties["receivers"].needed()
	found.Properties["exporters"].needed()
	found.Properties["processors"].UniqueItems = true
	found.Required, found.AdditionalProperties = []string{"receivers", "exporters"}, &Schema{nothing: true}
	return found
}

// needed refuses what is empty.
func (s *Schema) needed() {
	s.Type = slices.DeleteFunc(slices.Clone(s.Type), func(name string) bool { return name == "null" })
	if slices.Contains(s.Type, "array") {
		s.MinItems = 1
	} else {
		s.MinProperties = 1
	}
}

// patterns are those of the types of a kind that support one of the signals.
func patterns(env *operation.Environment, components []made, kind string, supports func(string) bool) []string {
	found := lacking(env, kind)
	for _, one := range components {
		if one.Kind == kind && (len(one.Stability) == 0 || slices.ContainsFunc(sortedKeys(one.Stability), supports)) {
			found = append(found, one.Type)
			found = append(found, one.Aliases...)
		}
	}
	return found
}

// ids describes a list of ids of some types.
func ids(types []string) *Schema {
	slices.Sort(types)
	types = slices.Compact(types)
	return &Schema{Type: Types{"array", "null", "string"}, Pattern: placeholder, Items: &Schema{AnyOf: []*Schema{
		{Type: Types{"string"}, Pattern: `^\s*(` + strings.Join(types, "|") + `)\s*(/.*)?$`}, {Ref: reference(Variable)},
	}}}
}
