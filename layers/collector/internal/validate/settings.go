package validate

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/headgate/headgate/layers/collector/internal/operation"
	"go.opentelemetry.io/collector/otelcol"
)

// Limits on a question about settings.
const (
	maxSettings = 50
	maxPath     = 30
)

// Setting is what this version knows of one key: whether its component has it, and which keys stand beside it. Component is
// set if this build has the component.
type Setting struct {
	Component bool     `json:"component"`
	Known     bool     `json:"known"`
	Beside    []string `json:"beside"`
}

// HandleSettings answers `settings {paths}`, of which each begins with a section and a component's name, with a Setting for
// each.
func HandleSettings(_ context.Context, env *operation.Environment, raw json.RawMessage) (any, error) {
	var request struct {
		Paths [][]string `json:"paths"`
	}
	if err := json.Unmarshal(raw, &request); err != nil {
		return nil, operation.BadRequest("settings takes paths: %v", err)
	}
	if len(request.Paths) > maxSettings {
		return nil, operation.BadRequest("settings takes at most %d paths", maxSettings)
	}
	factories, err := env.Factories()
	if err != nil {
		return nil, fmt.Errorf("making the factories: %w", err)
	}
	answer := struct {
		Settings []Setting `json:"settings"`
	}{[]Setting{}}
	for _, path := range request.Paths {
		answer.Settings = append(answer.Settings, settingAt(factories, path))
	}
	return answer, nil
}

func settingAt(factories otelcol.Factories, path []string) Setting {
	setting := Setting{Beside: []string{}}
	if len(path) < 2 || len(path) > maxPath {
		return setting
	}
	config := serviceType
	if path[0] != "service" {
		factory := factoryOf(factories, path[0], path[1])
		if factory == nil || len(path) < 3 {
			return setting
		}
		config = configType(factory)
	}
	setting.Component = true
	if names := fieldNames(config, path[:len(path)-1]); names != nil {
		setting.Beside = names
	}
	setting.Known = slices.Contains(setting.Beside, path[len(path)-1])
	return setting
}
