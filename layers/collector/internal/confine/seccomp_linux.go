package confine

import (
	"os"
	"slices"
	"syscall"

	"github.com/headgate/headgate/layers/collector/internal/seccomp"
	"golang.org/x/sys/unix"
)

// never are system calls that no collector needs.
var never = append([]uint32{
	// A second program, but for the one execveat of the launcher; see program_linux.go.
	unix.SYS_EXECVE,
	// Sockets of any kind; io_uring opens them without socket().
	unix.SYS_SOCKET, unix.SYS_SOCKETPAIR, unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
	// Other processes.
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_KCMP, unix.SYS_TKILL,
	unix.SYS_PIDFD_OPEN, unix.SYS_PIDFD_GETFD, unix.SYS_PIDFD_SEND_SIGNAL, unix.SYS_PROCESS_MADVISE,
	unix.SYS_SETPRIORITY, unix.SYS_IOPRIO_SET, unix.SYS_SCHED_SETAFFINITY, unix.SYS_SCHED_SETATTR,
	unix.SYS_SCHED_SETPARAM, unix.SYS_SCHED_SETSCHEDULER, unix.SYS_MIGRATE_PAGES, unix.SYS_MOVE_PAGES,
	// Memory that no limit counts, and what processes share.
	unix.SYS_MEMFD_CREATE, unix.SYS_MEMFD_SECRET, unix.SYS_SHMGET, unix.SYS_SHMAT, unix.SYS_MSGGET, unix.SYS_SEMGET,
	unix.SYS_MQ_OPEN,
	// Files that the sandbox would not find where it counts them: with no name, and with more room than their length.
	unix.SYS_UNLINKAT, unix.SYS_RENAMEAT2, unix.SYS_LINKAT, unix.SYS_FALLOCATE, unix.SYS_SETXATTR, unix.SYS_LSETXATTR,
	unix.SYS_FSETXATTR, unix.SYS_OPEN_BY_HANDLE_AT,
	// Namespaces, mounts, and the kernel.
	unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT,
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_USERFAULTFD,
	unix.SYS_PERSONALITY, unix.SYS_QUOTACTL, unix.SYS_ACCT,
}, neverHere...)

// Calls have the same numbers on every machine from here on, and Linux adds some with each release: all are refused but
// those few, so that what comes later is not there. Two of them,
// clone3 and openat2, take their flags behind a pointer, where no filter sees them: the C library and Go use the older
// call then.
const firstCommon, lastCommon = 424, 511

var commonAllowed = []uint32{unix.SYS_CLOSE_RANGE, unix.SYS_FACCESSAT2, unix.SYS_EPOLL_PWAIT2}

func later() []uint32 {
	var numbers []uint32
	for number := uint32(firstCommon); number <= lastCommon; number++ {
		if !slices.Contains(commonAllowed, number) {
			numbers = append(numbers, number)
		}
	}
	return numbers
}

const namespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWUSER |
	unix.CLONE_NEWPID | unix.CLONE_NEWNET

// filter decides about the system calls of the process with that id, which is this one's and will be the collector's.
func filter(process int) seccomp.Filter {
	self := []seccomp.Argument{seccomp.Int(0, int32(process))}
	rules := []seccomp.Rule{
		{Calls: never, Action: seccomp.Fail(syscall.EACCES)},
		{Calls: later(), Action: seccomp.Fail(syscall.ENOSYS)},
		// Threads, but no processes.
		{
			Calls: []uint32{unix.SYS_CLONE}, Action: seccomp.Allow,
			When: []seccomp.Argument{seccomp.Flags(0, unix.CLONE_THREAD|unix.CLONE_VM|namespaces, unix.CLONE_THREAD|unix.CLONE_VM)},
		},
		{Calls: []uint32{unix.SYS_CLONE}, Action: seccomp.Fail(syscall.EACCES)},
		// Signals to itself, by which Go's runtime stops its threads.
		{Calls: signals, When: self, Action: seccomp.Allow},
		{Calls: signals, Action: seccomp.Fail(syscall.EACCES)},
		{Calls: []uint32{unix.SYS_PRLIMIT64}, When: []seccomp.Argument{seccomp.Int(0, 0)}, Action: seccomp.Allow},
		{Calls: []uint32{unix.SYS_PRLIMIT64}, When: self, Action: seccomp.Allow},
		{Calls: []uint32{unix.SYS_PRLIMIT64}, Action: seccomp.Fail(syscall.EACCES)},
		// Shared memory without a file does not count as data of the process, so nothing limits it.
		{
			Calls: []uint32{unix.SYS_MMAP}, Action: seccomp.Fail(syscall.ENOMEM),
			When: []seccomp.Argument{seccomp.Flags(3, unix.MAP_SHARED|unix.MAP_ANONYMOUS, unix.MAP_SHARED|unix.MAP_ANONYMOUS)},
		},
	}
	const unnamed = unix.O_TMPFILE &^ unix.O_DIRECTORY
	for argument, calls := range openCalls {
		rules = append(rules, seccomp.Rule{
			Calls: calls, Action: seccomp.Fail(syscall.EOPNOTSUPP),
			When: []seccomp.Argument{seccomp.Flags(argument, unnamed, unnamed)},
		})
	}
	return seccomp.Filter{Rules: rules, Otherwise: seccomp.Allow}
}

var signals = []uint32{unix.SYS_KILL, unix.SYS_TGKILL, unix.SYS_RT_SIGQUEUEINFO, unix.SYS_RT_TGSIGQUEUEINFO}

// filterSystemCalls holds this process and all that comes of it to what a collector needs. It needs no privilege, so it
// holds where there are no namespaces too, on Fargate above all.
func filterSystemCalls() error {
	return filter(os.Getpid()).Install()
}
