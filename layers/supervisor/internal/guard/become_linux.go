package guard

import (
	"fmt"
	"runtime"
	"syscall"
)

// become replaces this process by the collector, so that the supervisor's signals reach it.
func become(collector string, argv, environment []string) error {
	// The setting is this thread's, and survives its exec: nothing may come between that moves to another thread.
	runtime.LockOSThread()
	if _, _, err := syscall.RawSyscall(syscall.SYS_PRCTL, syscall.PR_SET_PDEATHSIG, uintptr(syscall.SIGTERM), 0); err != 0 {
		return fmt.Errorf("tie the collector to its supervisor: %w", err)
	}
	if err := syscall.Exec(collector, argv, environment); err != nil {
		return fmt.Errorf("start the collector %s: %w", collector, err)
	}
	return nil
}
