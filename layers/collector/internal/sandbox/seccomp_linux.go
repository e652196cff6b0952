package sandbox

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// denied are system calls that no collector needs: those that open sockets (io_uring does so without socket()), and those
// that reach into other processes, namespaces or the kernel.
var denied = []uint32{
	unix.SYS_SOCKET, unix.SYS_IO_URING_SETUP, unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_BPF,
	unix.SYS_PERF_EVENT_OPEN, unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_UNSHARE, unix.SYS_SETNS,
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_USERFAULTFD,
}

// Offsets in struct seccomp_data.
const (
	offsetNumber       = 0
	offsetArchitecture = 4
)

// filterSystemCalls denies the calls above to this process and all that come from it. It needs no privilege, so it holds
// where there are no network namespaces too, on Fargate above all, where the address that hands out the task's
// credentials would be within reach.
func filterSystemCalls() error {
	load := func(offset uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
	}
	equal := func(value uint32, yes, no uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: value, Jt: yes, Jf: no}
	}
	end := func(verdict uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: verdict}
	}
	refuse := end(unix.SECCOMP_RET_ERRNO | uint32(unix.EACCES))
	program := []unix.SockFilter{
		load(offsetArchitecture), equal(auditArchitecture, 1, 0), end(unix.SECCOMP_RET_KILL_PROCESS),
		load(offsetNumber),
		// The second table of system calls on amd64 has this bit, and would pass by the numbers below.
		{Code: unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K, K: 0x40000000, Jt: 0, Jf: 1}, refuse,
	}
	for _, number := range denied {
		program = append(program, equal(number, 0, 1), refuse)
	}
	program = append(program, end(unix.SECCOMP_RET_ALLOW))
	filter := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	if _, _, errno := unix.Syscall(unix.SYS_PRCTL, unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER,
		uintptr(unsafe.Pointer(&filter))); errno != 0 {
		return fmt.Errorf("installing the filter: %w", errno)
	}
	return nil
}
