// Package components answers which components the collector holds.
package components

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/headgate/headgate/layers/collector/internal/operation"
	"go.opentelemetry.io/collector/component"
)

// Result lists the types of each kind in order, and the collector's version.
type Result struct {
	Version    string   `json:"version"`
	Receivers  []string `json:"receivers"`
	Processors []string `json:"processors"`
	Exporters  []string `json:"exporters"`
	Connectors []string `json:"connectors"`
	Extensions []string `json:"extensions"`
}

// Handle answers `components {}` with a Result.
func Handle(_ context.Context, env *operation.Environment, _ json.RawMessage) (any, error) {
	factories, err := env.Factories()
	if err != nil {
		return nil, fmt.Errorf("making the factories: %w", err)
	}
	return Result{
		Version:    env.BuildInfo.Version,
		Receivers:  types(factories.Receivers),
		Processors: types(factories.Processors),
		Exporters:  types(factories.Exporters),
		Connectors: types(factories.Connectors),
		Extensions: types(factories.Extensions),
	}, nil
}

func types[F component.Factory](factories map[component.Type]F) []string {
	names := make([]string, 0, len(factories))
	for kind := range factories {
		names = append(names, kind.String())
	}
	slices.Sort(names)
	return names
}
