// Package guard stands between the supervisor and the collector until the collector runs, for four things.
//
// A collector ends with its supervisor, however that ends. The collector looks for its supervisor every five seconds
// itself, but may hang before it does: nobody reads any more what it writes.
//
// And supervisor v0.149.0 has a defect. It validates a new configuration with `validate --config NEW --config OLD`: it appends the
// arguments that the collector runs with. The collector merges the two, so a broken configuration passes where the old
// one fills its gap, and a good one is refused where the two contradict each other. A test of this package fails as
// soon as the official packages do otherwise; then the first part of Mended goes.
//
// And before it does anything else, the supervisor runs the collector once to learn about it. That collector would serve
// its metrics on localhost:8888, as every collector does that is not told otherwise, so on a host where something
// listens there the supervisor could not even start.
//
// And the supervisor lets a configuration pass that has no pipelines, and reports it as applied: it runs the collector,
// and validates for it, with the feature gate service.AllowNoPipelines. Validated without, the collector itself says so,
// whatever a path, a merge or this host's variables make of the text.
package guard

import (
	"fmt"
	"os"
	"strings"
	"syscall"

	"go.yaml.in/yaml/v3"
)

// Variable names the collector to the program that the supervisor starts in its place.
const Variable = "HEADGATE_GUARDED_COLLECTOR"

const allowNoPipelines = "service.AllowNoPipelines"

const withoutMetrics = "--set=service.telemetry.metrics.level=none"

// Collector is the program to become, if this process was started in the collector's place.
func Collector() (string, bool) {
	return os.LookupEnv(Variable)
}

// Exec becomes the collector, in this process: the supervisor's signals reach it as ever. It returns only an error.
func Exec(collector string, arguments []string) error {
	environment := make([]string, 0, len(os.Environ()))
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, Variable+"=") {
			environment = append(environment, variable)
		}
	}
	// Kept by what this process becomes.
	if _, _, err := syscall.RawSyscall(syscall.SYS_PRCTL, syscall.PR_SET_PDEATHSIG, uintptr(syscall.SIGTERM), 0); err != 0 {
		return fmt.Errorf("tie the collector to its supervisor: %w", err)
	}
	argv := append([]string{collector}, Mended(arguments[1:])...)
	if err := syscall.Exec(collector, argv, Bounded(environment, limitFiles...)); err != nil {
		return fmt.Errorf("start the collector %s: %w", collector, err)
	}
	return nil
}

// Mended are the collector's arguments: with only the first --config and only with pipelines where they are those of
// `validate`, and without metrics of its own where it is run to be learned about.
func Mended(arguments []string) []string {
	if len(arguments) == 0 || arguments[0] != "validate" {
		if len(arguments) >= 2 && arguments[0] == "--config" && onlyToLearn(arguments[1]) {
			return append([]string{withoutMetrics}, arguments...)
		}
		return arguments
	}
	mended := []string{arguments[0]}
	seen := false
	for i := 1; i < len(arguments); i++ {
		switch {
		case arguments[i] == "--config" && i+1 < len(arguments):
			if !seen {
				mended = append(mended, arguments[i], arguments[i+1])
			}
			seen = true
			i++
		case strings.HasPrefix(arguments[i], "--config="):
			if !seen {
				mended = append(mended, arguments[i])
			}
			seen = true
		default:
			mended = append(mended, arguments[i])
		}
	}
	// Only where the supervisor found that this collector has the gate; the last word on a gate counts.
	if strings.Contains(strings.Join(mended, " "), allowNoPipelines) {
		mended = append(mended, "--feature-gates=-"+allowNoPipelines)
	}
	return mended
}

// onlyToLearn tells whether the supervisor wrote the configuration to learn about the collector: each that it makes of
// an assigned one says what the collector's telemetry is of.
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
