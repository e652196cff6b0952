// Package guard starts the collector in the supervisor's place, for six reasons.
//
// 1. The collector must end when its supervisor ends, for whatever reason. The collector looks for its supervisor every
// five seconds, but may hang before that, because its output is no longer read.
//
// 2. Supervisor v0.149.0 has a defect: it validates a new configuration with `validate --config NEW --config OLD`,
// since it appends the collector's usual arguments. The collector merges the two, so an invalid configuration passes if
// the old one fills the gap, and a valid one is refused if the two contradict each other. A test of this package fails
// as soon as the official packages change this; then the first part of Arguments can go.
//
// 3. At its start the supervisor runs the collector once to learn about it. That collector would serve its metrics on
// the default address localhost:8888, so on a host where something else listens there the supervisor could not start.
//
// 4. The supervisor accepts a configuration without pipelines and reports it as applied, because it validates and runs
// the collector with the feature gate service.AllowNoPipelines. Validated without the gate, the collector refuses it.
//
// 5. A configuration can keep the collector's own metrics from this host. Then it gets another place for them
// (internal/metrics).
//
// 6. The collector gets the variables that belong to its configuration (internal/variables), also where that is only
// validated.
package guard

import (
	"os"
	"slices"
	"strings"

	"github.com/headgate/headgate/layers/supervisor/internal/metrics"
	"github.com/headgate/headgate/layers/supervisor/internal/programs"
	"github.com/headgate/headgate/layers/supervisor/internal/upgrade"
	"github.com/headgate/headgate/layers/supervisor/internal/variables"
	"go.yaml.in/yaml/v3"
)

// Variable is the environment variable with the installed collector's path, for the program that the supervisor starts
// instead; Storage has the folder with another one that may run in its place, if this host replaces its collector; Metrics
// has the file for what is added to the configuration.
const (
	Variable = "HEADGATE_GUARDED_COLLECTOR"
	Storage  = "HEADGATE_GUARDED_STORAGE"
	Metrics  = "HEADGATE_GUARDED_METRICS"
	// Gates has the feature gates that the collector is started with, if there are any.
	Gates = "HEADGATE_GUARDED_FEATURE_GATES"
	// Variables has the storage folder with the variables that belong to configurations.
	Variables = "HEADGATE_GUARDED_VARIABLES"
)

const allowNoPipelines = "service.AllowNoPipelines"

const withoutMetrics = "--set=service.telemetry.metrics.level=none"

// Collector returns the collector's path, if this process was started instead of the collector.
func Collector() (string, bool) {
	installed, guarded := os.LookupEnv(Variable)
	if storage := os.Getenv(Storage); guarded && storage != "" {
		return programs.Start(storage, upgrade.Name, installed), true
	}
	return installed, guarded
}

// Environment is that of the collector: without what only this program needs.
func Environment() []string {
	return slices.DeleteFunc(os.Environ(), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return name == Variable || name == Storage || name == Metrics || name == Gates || name == Variables
	})
}

// Start runs the collector with the arguments of the supervisor. It returns only if the collector cannot be started, or
// on systems where a process cannot become another one: there this process ends with the collector's exit code.
func Start(collector string, arguments []string) error {
	environment, err := withVariables(arguments[1:], Environment(), os.Getenv(Variables))
	if err != nil {
		return err
	}
	words := Arguments(arguments[1:], os.Getenv(Metrics), variables.ValuesOf(environment))
	argv := append([]string{collector}, WithGates(words, os.Getenv(Gates))...)
	return become(collector, argv, Bounded(environment, limitFiles...))
}

// withVariables is the environment with the variables of the configuration that the arguments name first.
func withVariables(arguments, environment []string, storage string) ([]string, error) {
	for i, argument := range arguments {
		path, named := strings.CutPrefix(argument, "--config=")
		if argument == "--config" && i+1 < len(arguments) {
			path, named = arguments[i+1], true
		}
		if !named {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			// The collector says so in its own words.
			return environment, nil
		}
		return variables.Environment(environment, storage, text)
	}
	return environment, nil
}

// Arguments returns the arguments for the collector: for `validate` only the first --config and without the feature
// gate, for the supervisor's first run without metrics, and for the others with metrics for this host, which are written
// to `added` if that is not empty. `values` are the variables that the collector is started with.
func Arguments(arguments []string, added string, values metrics.Values) []string {
	if len(arguments) == 0 || arguments[0] != "validate" {
		if len(arguments) < 2 || arguments[0] != "--config" {
			return arguments
		}
		if onlyToLearn(arguments[1]) {
			return append([]string{withoutMetrics}, arguments...)
		}
		if added != "" && metrics.Add(arguments[1], added, values) {
			// The last one wins.
			return append(slices.Clone(arguments), "--config", added)
		}
		return arguments
	}
	changed := []string{arguments[0]}
	seen := false
	for i := 1; i < len(arguments); i++ {
		switch {
		case arguments[i] == "--config" && i+1 < len(arguments):
			if !seen {
				changed = append(changed, arguments[i], arguments[i+1])
			}
			seen = true
			i++
		case strings.HasPrefix(arguments[i], "--config="):
			if !seen {
				changed = append(changed, arguments[i])
			}
			seen = true
		default:
			changed = append(changed, arguments[i])
		}
	}
	// Only if the supervisor has set the gate, since other collectors may not know it. The last setting of a gate counts.
	if strings.Contains(strings.Join(changed, " "), allowNoPipelines) {
		changed = append(changed, "--feature-gates=-"+allowNoPipelines)
	}
	return changed
}

// WithGates adds feature gates to arguments. A command of the collector that takes no gates stays as it is.
func WithGates(arguments []string, gates string) []string {
	takes := len(arguments) > 0 && (arguments[0] == "validate" || strings.HasPrefix(arguments[0], "-"))
	if gates == "" || !takes {
		return arguments
	}
	return append(slices.Clone(arguments), "--feature-gates="+gates)
}

// onlyToLearn reports whether the supervisor wrote the configuration to learn about the collector. A configuration that
// it makes from an assigned one has a section for the collector's telemetry.
func onlyToLearn(path string) bool {
	content, err := os.ReadFile(path)
	if err != nil {
		return false
	}
	var written struct {
		Extensions map[string]any `yaml:"extensions"`
		Service    struct {
			Telemetry map[string]any `yaml:"telemetry"`
		} `yaml:"service"`
	}
	if err := yaml.Unmarshal(content, &written); err != nil {
		return false
	}
	_, opamp := written.Extensions["opamp"]
	return opamp && written.Service.Telemetry == nil
}
