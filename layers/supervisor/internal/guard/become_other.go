//go:build !linux

package guard

import "os"

// become runs the collector as a child, because nothing ties a process to its parent here, or none can become another
// one. This process ends with it.
func become(collector string, argv, environment []string) error {
	code, err := child(os.Getenv(Variables), collector, argv, environment)
	if err == nil {
		os.Exit(code)
	}
	return err
}
