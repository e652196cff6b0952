// Package describe says what is in this build of the collector: its components and its feature gates.
package describe

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/headgate/headgate/layers/collector/internal/alias"
	"github.com/headgate/headgate/layers/collector/internal/operation"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/featuregate"
)

// Description is the answer. Reduced is set if the official release has components that this build lacks. Can is what
// this build does besides that: `steps` for the trace of a run.
type Description struct {
	Version      string             `json:"version"`
	Distribution string             `json:"distribution"`
	Reduced      bool               `json:"reduced"`
	Can          []string           `json:"can"`
	Lacks        []operation.Absent `json:"lacks"`
	Components   []Component        `json:"components"`
	FeatureGates []FeatureGate      `json:"feature_gates"`
}

// Component is a component of the build. DeprecatedType is the former name that it still answers to, empty if it has
// none; Module is its Go module with the version, empty for a provider without one.
type Component struct {
	Kind           string `json:"kind"`
	Type           string `json:"type"`
	DeprecatedType string `json:"deprecated_type"`
	Module         string `json:"module"`
}

// FeatureGate is a registered gate with its stage (Alpha, Beta, Stable, Deprecated). ToVersion is empty while no release
// is set in which it is removed.
type FeatureGate struct {
	ID          string `json:"id"`
	Stage       string `json:"stage"`
	FromVersion string `json:"from_version"`
	ToVersion   string `json:"to_version"`
	Description string `json:"description"`
}

// Handle answers `describe {}` with a Description.
func Handle(_ context.Context, env *operation.Environment, _ json.RawMessage) (any, error) {
	factories, err := env.Components()
	if err != nil {
		return nil, fmt.Errorf("making the factories: %w", err)
	}
	components := slices.Concat(
		of("receiver", factories.Receivers, factories.ReceiverModules),
		of("processor", factories.Processors, factories.ProcessorModules),
		of("exporter", factories.Exporters, factories.ExporterModules),
		of("connector", factories.Connectors, factories.ConnectorModules),
		of("extension", factories.Extensions, factories.ExtensionModules),
	)
	for scheme, module := range env.Providers {
		components = append(components, Component{Kind: "provider", Type: scheme, Module: module})
	}
	slices.SortFunc(components, func(a, b Component) int {
		return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(a.Type, b.Type))
	})
	lacks := env.Lacking
	if lacks == nil {
		lacks = []operation.Absent{}
	}
	return Description{
		Version: env.BuildInfo.Version, Distribution: env.BuildInfo.Command, Reduced: len(lacks) > 0, Lacks: lacks,
		Can:        []string{"steps"},
		Components: components, FeatureGates: gates(),
	}, nil
}

// of returns the components of a kind, each once: a renamed one stands in the map under both names.
func of[F component.Factory](kind string, factories map[component.Type]F, modules map[component.Type]string) []Component {
	var components []Component
	for name, factory := range factories {
		if name != factory.Type() {
			continue
		}
		described := Component{Kind: kind, Type: name.String(), Module: modules[name]}
		if deprecated, has := alias.Of(factory); has {
			described.DeprecatedType = deprecated.String()
		}
		components = append(components, described)
	}
	return components
}

// gates are those that the linked packages register, by name.
func gates() []FeatureGate {
	all := []FeatureGate{}
	featuregate.GlobalRegistry().VisitAll(func(gate *featuregate.Gate) {
		all = append(all, FeatureGate{
			ID: gate.ID(), Stage: gate.Stage().String(), Description: gate.Description(),
			FromVersion: version(gate.FromVersion()), ToVersion: version(gate.ToVersion()),
		})
	})
	slices.SortFunc(all, func(a, b FeatureGate) int { return strings.Compare(a.ID, b.ID) })
	return all
}

// version is empty for what the registry prints for a version that is not set.
func version(printed string) string {
	if printed == "v<nil>" || printed == "v" {
		return ""
	}
	return printed
}
