package guard

import (
	"fmt"
	"os"
	"os/exec"
	"unsafe"

	"golang.org/x/sys/windows"
)

// passed is what the console tells all processes of this one's group, so that the collector is told as well.
var passed = []os.Signal{os.Interrupt}

// supervisor is the process that started this one. The handle cannot come to mean another process of the same number.
type supervisor windows.Handle

func parentOf() (supervisor, error) {
	handle, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(os.Getppid()))
	if err != nil {
		return 0, fmt.Errorf("look for the supervisor: %w", err)
	}
	return supervisor(handle), nil
}

func (s supervisor) ended() bool {
	event, err := windows.WaitForSingleObject(windows.Handle(s), 0)
	return err == nil && event == windows.WAIT_OBJECT_0
}

// start starts the collector in a job that ends with this process, however it ends.
func start(command *exec.Cmd) (func(), error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil, err
	}
	closed := func() { _ = windows.CloseHandle(job) }
	limits := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{LimitFlags: windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE},
	}
	_, err = windows.SetInformationJobObject(
		job, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		closed()
		return nil, err
	}
	var assigned error
	err = command.Process.WithHandle(func(handle uintptr) { assigned = windows.AssignProcessToJobObject(job, windows.Handle(handle)) })
	if err == nil && assigned != nil {
		_ = command.Process.Kill()
		closed()
		return nil, fmt.Errorf("tie the collector to this process: %w", assigned)
	}
	return closed, nil
}

// pass does nothing: the collector was told.
func pass(*os.Process, os.Signal) {}

// end asks the group of this process, in which the collector is as well, to end.
func end(process *os.Process) {
	if windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(os.Getpid())) != nil {
		_ = process.Kill()
	}
}
