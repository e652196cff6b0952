package prepare

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/headgate/headgate/layers/collector/internal/operation"
	places "github.com/headgate/headgate/layers/collector/internal/source"
	"github.com/headgate/headgate/layers/collector/internal/validate"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/connector"
	"go.opentelemetry.io/collector/connector/xconnector"
	"go.opentelemetry.io/collector/exporter/xexporter"
	"go.opentelemetry.io/collector/otelcol"
	"go.opentelemetry.io/collector/receiver/xreceiver"
)

type answer struct {
	Problem  *Problem  `json:"problem"`
	Refusal  string    `json:"refusal"`
	Prepared *Prepared `json:"prepared"`
}

// Handle answers `prepare` with one of `{problem: {field, message, line}}`, `{refusal: "why"}` and `{prepared: {...}}`,
// or with the error too_costly or component_not_in_build.
func Handle(ctx context.Context, env *operation.Environment, raw json.RawMessage) (any, error) {
	var request Request
	if err := json.Unmarshal(raw, &request); err != nil {
		return nil, operation.BadRequest("reading the request: %v", err)
	}
	factories, err := env.Factories()
	if err != nil {
		return nil, fmt.Errorf("making the collector's factories: %w", err)
	}
	prepared, err := Prepare(ctx, request, Collector{
		Connects: ByFactories(factories.Connectors), Readers: ReadersOf(factories.Receivers),
		Requires: requiring(env), Unknown: unknown(env, factories),
		Changed: func(text string, env map[string]string) []validate.ChangedVariable {
			return validate.ChangedVariables(factories, text, env)
		},
		TakesProfiles: takesProfiles(factories), Gates: registeredGates(), Version: env.BuildInfo.Version,
	})
	var problem *Problem
	var refusal *Refusal
	var cost *places.Cost
	switch {
	case errors.As(err, &cost):
		return nil, &operation.Error{Code: "too_costly", Message: cost.Message}
	case errors.As(err, &problem):
		return answer{Problem: problem}, nil
	case errors.As(err, &refusal):
		return answer{Refusal: refusal.Reason}, nil
	case err != nil:
		return nil, err
	}
	return answer{Prepared: prepared}, nil
}

// unknown tells which types of receivers and exporters this collector does not have.
func unknown(env *operation.Environment, factories otelcol.Factories) func(section, id string) (string, bool) {
	return func(section, id string) (string, bool) {
		kind, err := component.NewType(typeOf(id))
		if err != nil {
			return "", false
		}
		_, isReceiver := factories.Receivers[kind]
		_, isExporter := factories.Exporters[kind]
		if section == "receivers" && isReceiver || section == "exporters" && isExporter {
			return "", false
		}
		if absent, lacks := env.Lacks(section, kind); lacks {
			return fmt.Sprintf("this build of collector %s lacks the %s %s", env.BuildInfo.Version, absent.Kind, absent.Type), true
		}
		return fmt.Sprintf("collector %s refuses it: unknown type %q", env.BuildInfo.Version, kind), true
	}
}

// requiring returns the error component_not_in_build for a component that this build lacks.
func requiring(env *operation.Environment) func(section, id string) error {
	return func(section, id string) error {
		kind, err := component.NewType(typeOf(id))
		if err != nil {
			return nil // the collector will refuse it by name
		}
		if absent, lacks := env.Lacks(section, kind); lacks {
			return env.NotInBuild(section+"::"+id, absent)
		}
		return nil
	}
}

// ByFactories returns what each connector of the collector can do. An unknown connector counts as able to do anything:
// the collector will refuse it by name.
func ByFactories(factories map[component.Type]connector.Factory) Connects {
	return func(id, from, to string) bool {
		kind, err := component.NewType(typeOf(id))
		if err != nil {
			return true
		}
		factory, known := factories[kind]
		if !known {
			return true
		}
		return stability(factory, from, to) != component.StabilityLevelUndefined
	}
}

func stability(factory connector.Factory, from, to string) component.StabilityLevel {
	switch from + ">" + to {
	case "logs>logs":
		return factory.LogsToLogsStability()
	case "logs>metrics":
		return factory.LogsToMetricsStability()
	case "logs>traces":
		return factory.LogsToTracesStability()
	case "metrics>logs":
		return factory.MetricsToLogsStability()
	case "metrics>metrics":
		return factory.MetricsToMetricsStability()
	case "metrics>traces":
		return factory.MetricsToTracesStability()
	case "traces>logs":
		return factory.TracesToLogsStability()
	case "traces>metrics":
		return factory.TracesToMetricsStability()
	case "traces>traces":
		return factory.TracesToTracesStability()
	}
	if profiling, able := factory.(xconnector.Factory); able {
		return stabilityWithProfiles(profiling, from, to)
	}
	return component.StabilityLevelUndefined
}

func stabilityWithProfiles(factory xconnector.Factory, from, to string) component.StabilityLevel {
	switch from + ">" + to {
	case "logs>profiles":
		return factory.LogsToProfilesStability()
	case "metrics>profiles":
		return factory.MetricsToProfilesStability()
	case "traces>profiles":
		return factory.TracesToProfilesStability()
	case "profiles>logs":
		return factory.ProfilesToLogsStability()
	case "profiles>metrics":
		return factory.ProfilesToMetricsStability()
	case "profiles>traces":
		return factory.ProfilesToTracesStability()
	case "profiles>profiles":
		return factory.ProfilesToProfilesStability()
	}
	return component.StabilityLevelUndefined
}

// takesProfiles tells whether the receiver that reads a sample and the exporter that records take profiles.
func takesProfiles(factories otelcol.Factories) bool {
	reader, reads := factories.Receivers[component.MustNewType(ReadersOf(factories.Receivers).OTLP[0])].(xreceiver.Factory)
	recorder, records := factories.Exporters[component.MustNewType("file")].(xexporter.Factory)
	return reads && records && reader.ProfilesStability() != component.StabilityLevelUndefined &&
		recorder.ProfilesStability() != component.StabilityLevelUndefined
}
