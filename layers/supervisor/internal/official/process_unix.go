//go:build unix

package official

import (
	"errors"
	"os"
	"syscall"
)

// interrupt asks a process to end, as the supervisor does.
func interrupt(process *os.Process) error { return process.Signal(os.Interrupt) }

// ended reports whether a process has ended.
func ended(process *os.Process) bool {
	return errors.Is(process.Signal(syscall.Signal(0)), os.ErrProcessDone)
}
