package reference

import (
	"cmp"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/headgate/headgate/layers/collector/internal/alias"
	"github.com/headgate/headgate/layers/collector/internal/comments"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/otelcol"
)

// Entry is a component of the build. Aliases are deprecated names that it answers to.
type Entry struct {
	Kind       string            `json:"kind"`
	Type       string            `json:"type"`
	Aliases    []string          `json:"aliases"`
	Module     string            `json:"module"`
	Stability  map[string]string `json:"stability"`
	Summary    string            `json:"summary"`
	Deprecated *string           `json:"deprecated"`
	Schema     *Schema           `json:"schema"`
}

// made is a component before its configuration is described.
type made struct {
	Entry
	factory component.Factory
}

// all returns the components of a build, each once, by kind and type.
func all(factories *otelcol.Factories, texts *comments.Texts) []made {
	components := slices.Concat(
		of("receiver", factories.Receivers, factories.ReceiverModules),
		of("processor", factories.Processors, factories.ProcessorModules),
		of("exporter", factories.Exporters, factories.ExporterModules),
		of("connector", factories.Connectors, factories.ConnectorModules),
		of("extension", factories.Extensions, factories.ExtensionModules),
	)
	for i := range components {
		one := &components[i]
		said := texts.Component(one.Module)
		one.Summary, one.Stability = said.Summary, stability(one.factory)
		if said.Deprecated != "" {
			one.Deprecated = &said.Deprecated
		} else if slices.Contains(values(one.Stability), "deprecated") {
			deprecated := "It is deprecated."
			one.Deprecated = &deprecated
		}
	}
	slices.SortFunc(components, func(a, b made) int {
		return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(a.Type, b.Type))
	})
	return components
}

func values(of map[string]string) []string {
	var found []string
	for _, value := range of {
		found = append(found, value)
	}
	return found
}

// of returns the components of a kind, each once: a renamed one stands in the map under both names.
func of[F component.Factory](kind string, factories map[component.Type]F, modules map[component.Type]string) []made {
	var components []made
	for name, factory := range factories {
		if name != factory.Type() {
			continue
		}
		entry := Entry{Kind: kind, Type: name.String(), Module: modules[name], Aliases: []string{}}
		if deprecated, has := alias.Of(factory); has {
			entry.Aliases = append(entry.Aliases, deprecated.String())
		}
		components = append(components, made{entry, factory})
	}
	return components
}

// noDefault is why the settings of a component are open whose factory makes no configuration.
const noDefault = "the component has no configuration"

// configuration describes what a factory's components take.
func (w *walker) configuration(factory component.Factory) *Schema {
	first, second := defaults(factory.CreateDefaultConfig)
	if first == nil || second == nil {
		return &Schema{Open: noDefault}
	}
	v, again := reflect.ValueOf(first), reflect.ValueOf(second)
	return w.value(v, place{closed: true, isDefault: true, again: again})
}

// defaults makes a default configuration twice, for users of different home directories: what differs depends on the
// time, on chance or on the machine. One component has none for a user without a home directory.
func defaults(create func() component.Config) (first, second component.Config) {
	const home = "HOME"
	before, had := os.LookupEnv(home)
	defer func() {
		if had {
			_ = os.Setenv(home, before)
		} else {
			_ = os.Unsetenv(home)
		}
	}()
	_ = os.Setenv(home, "/home/first")
	first = create()
	_ = os.Setenv(home, "/home/second")
	return first, create()
}
