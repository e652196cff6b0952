// Package guard stands between the supervisor and the collector until the collector runs, for two things.
//
// A collector ends with its supervisor, however that ends. The collector looks for its supervisor every five seconds
// itself, but may hang before it does: nobody reads any more what it writes.
//
// And supervisor v0.149.0 has a defect. It validates a new configuration with `validate --config NEW --config OLD`: it appends the
// arguments that the collector runs with. The collector merges the two, so a broken configuration passes where the old
// one fills its gap, and a good one is refused where the two contradict each other. A test of this package fails as
// soon as the official packages do otherwise; then Mended goes.
package guard

import (
	"fmt"
	"os"
	"strings"
	"syscall"
)

// Variable names the collector to the program that the supervisor starts in its place.
const Variable = "HEADGATE_GUARDED_COLLECTOR"

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
	if err := syscall.Exec(collector, argv, environment); err != nil {
		return fmt.Errorf("start the collector %s: %w", collector, err)
	}
	return nil
}

// Mended are the collector's arguments with only the first --config where they are those of `validate`.
func Mended(arguments []string) []string {
	if len(arguments) == 0 || arguments[0] != "validate" {
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
	return mended
}
