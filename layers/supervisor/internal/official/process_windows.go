package official

import (
	"os"

	"golang.org/x/sys/windows"
)

// interrupt asks a process to end, as the supervisor does: it has a group of its own.
func interrupt(process *os.Process) error {
	return windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(process.Pid))
}

// ended reports whether a process has ended.
func ended(process *os.Process) bool {
	gone := false
	err := process.WithHandle(func(handle uintptr) {
		event, err := windows.WaitForSingleObject(windows.Handle(handle), 0)
		gone = err == nil && event == windows.WAIT_OBJECT_0
	})
	return gone || err != nil
}
