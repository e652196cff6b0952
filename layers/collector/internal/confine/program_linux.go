package confine

import (
	"errors"
	"fmt"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// notification is Linux's struct seccomp_notif, and response its seccomp_notif_resp.
type notification struct {
	id         uint64
	process    uint32
	flags      uint32
	number     int32
	audit      uint32
	instructor uint64
	arguments  [6]uint64
}

type response struct {
	id    uint64
	value int64
	errno int32
	flags uint32
}

// allowOneProgram makes the kernel ask a listener about each execveat of this thread and its children. A thread of the
// launcher listens, allows one, and ends when the launcher becomes the collector: no one answers the collector's own
// calls, so they fail. The listener's descriptor closes with the program's start.
func allowOneProgram() error {
	program := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_EXECVEAT, Jt: 0, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_USER_NOTIF},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	asking := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	listener, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER,
		unix.SECCOMP_FILTER_FLAG_NEW_LISTENER, uintptr(unsafe.Pointer(&asking)))
	if errno != 0 {
		return fmt.Errorf("installing the filter: %w", errno)
	}
	go allowNext(listener)
	return nil
}

// allowNext waits for an execveat and allows it. If that fails, nothing listens any more, and execveat fails.
func allowNext(listener uintptr) {
	defer unix.Close(int(listener))
	var asked notification
	for {
		_, _, errno := unix.Syscall(unix.SYS_IOCTL, listener, unix.SECCOMP_IOCTL_NOTIF_RECV, uintptr(unsafe.Pointer(&asked)))
		if errno == 0 {
			break
		}
		if !errors.Is(errno, syscall.EINTR) {
			return
		}
	}
	answer := response{id: asked.id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
	_, _, _ = unix.Syscall(unix.SYS_IOCTL, listener, unix.SECCOMP_IOCTL_NOTIF_SEND, uintptr(unsafe.Pointer(&answer)))
}

// Execute runs the program of a descriptor in this process, with this environment and nothing of its own. The root
// directory that this process has now does not contain the program's path.
func Execute(program int, arguments, variables []string) error {
	empty, err := unix.BytePtrFromString("")
	if err != nil {
		return err
	}
	argv, err := syscall.SlicePtrFromStrings(arguments)
	if err != nil {
		return err
	}
	environment, err := syscall.SlicePtrFromStrings(variables)
	if err != nil {
		return err
	}
	_, _, errno := unix.Syscall6(unix.SYS_EXECVEAT, uintptr(program), uintptr(unsafe.Pointer(empty)),
		uintptr(unsafe.Pointer(&argv[0])), uintptr(unsafe.Pointer(&environment[0])), unix.AT_EMPTY_PATH, 0)
	return errno
}
