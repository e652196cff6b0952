package rename

import (
	"fmt"
	"maps"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/headgate/headgate/layers/collector/internal/source"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/service/pipelines"
)

// configuredIn are the components of a resolved configuration.
func configuredIn(plain map[string]any) map[target]bool {
	configured := map[target]bool{}
	for _, section := range source.Sections {
		components, _ := plain[section].(map[string]any)
		for name := range components {
			var id component.ID
			if id.UnmarshalText([]byte(name)) == nil {
				configured[target{section, id}] = true
			}
		}
	}
	return configured
}

// sameReferences returns an error if what named a configured component names none after the renaming.
func (p *plan) sameReferences(plain map[string]any) error {
	before, after := configuredIn(p.plain), configuredIn(plain)
	references, renamed := serviceReferences(p.plain), serviceReferences(plain)
	for _, path := range slices.Sorted(maps.Keys(references)) {
		if references[path].resolves(before) && !renamed[path].resolves(after) {
			return fmt.Errorf("%s would refer to no component", path)
		}
	}
	for _, section := range source.Sections {
		components, _ := p.plain[section].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(components)) {
			var id component.ID
			if id.UnmarshalText([]byte(name)) != nil {
				continue
			}
			factory := p.kinds[section][id.Type()]
			was, complete := p.extensionsIn(factory, components[name], before)
			is, alsoComplete := p.extensionsIn(factory, contentOf(plain, section, p.newName(section, name, id)), after)
			if complete && alsoComplete && was != is {
				return fmt.Errorf("%s%s%s would refer to no extension", section, separator, name)
			}
		}
	}
	return nil
}

// extensionsIn counts the ids of configured extensions in a component. It is complete unless the component cannot be
// read, or has ids further inside than is looked.
func (p *plan) extensionsIn(
	factory component.Factory, content any, configured map[target]bool,
) (count int, complete bool) {
	if content == nil || factory == nil {
		return 0, true
	}
	config, err := decodeBody(factory, content)
	if err != nil {
		return 0, false
	}
	return countIDs(config, func(text string) bool {
		var id component.ID
		if id.UnmarshalText([]byte(text)) != nil {
			return false
		}
		// A component inside of a component may have the name of another kind.
		_, known := p.kinds["extensions"][id.Type()]
		return known && configured[target{"extensions", id}]
	})
}

// referring is a reference: the id, and the sections that may have it.
type referring struct {
	id       component.ID
	sections []string
}

func (r referring) resolves(configured map[target]bool) bool {
	return slices.ContainsFunc(r.sections, func(section string) bool { return configured[target{section, r.id}] })
}

// serviceReferences are the references of the service by their path, as far as it can be read.
func serviceReferences(plain map[string]any) map[string]referring {
	references := map[string]referring{}
	add := func(ids []component.ID, sections []string, path ...string) {
		for i, id := range ids {
			references[strings.Join(append(path, strconv.Itoa(i)), separator)] = referring{id, sections}
		}
	}
	service := decodeService(plain["service"])
	add(service.Extensions, []string{"extensions"}, "service", "extensions")
	for id, pipeline := range service.Pipelines {
		if pipeline == nil {
			continue
		}
		add(pipeline.Receivers, listed["receivers"], "service", "pipelines", id.String(), "receivers")
		add(pipeline.Processors, listed["processors"], "service", "pipelines", id.String(), "processors")
		add(pipeline.Exporters, listed["exporters"], "service", "pipelines", id.String(), "exporters")
	}
	return references
}

type service struct {
	Extensions []component.ID   `mapstructure:"extensions"`
	Pipelines  pipelines.Config `mapstructure:"pipelines"`
}

// decodeService decodes what can be decoded: an error in one pipeline leaves the others.
func decodeService(content any) (decoded service) {
	defer func() {
		if reason := recover(); reason != nil {
			fmt.Fprintf(os.Stderr, "panic: %v\n%s", reason, debug.Stack())
		}
	}()
	mapping, _ := copied(content).(map[string]any)
	_ = confmap.NewFromStringMap(mapping).Unmarshal(&decoded, confmap.WithIgnoreUnused())
	return decoded
}
