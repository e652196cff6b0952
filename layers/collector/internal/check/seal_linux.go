package check

import (
	"slices"
	"syscall"

	"github.com/headgate/headgate/layers/collector/internal/seccomp"
	"golang.org/x/sys/unix"
)

// seal restricts all threads of this process to the system calls that they need to compute and to answer: they can open
// no file and no socket, run no program, and start or signal no process. Where there are neither namespaces nor
// Landlock, as in Lambda, this is what confines a component that reads an untrusted text.
func seal() error {
	return sealed(unix.Getpid()).Install()
}

// sealed is the filter for the process of that number. What no rule allows fails with EACCES.
func sealed(process int) seccomp.Filter {
	const newNamespacesOrTraced = 0x7e020000 | unix.CLONE_PTRACE
	ours := []seccomp.Argument{seccomp.Int(0, int32(process))}
	self := []seccomp.Argument{seccomp.Int(0, 0)}
	filter := seccomp.Filter{
		Rules: []seccomp.Rule{
			{Calls: append(slices.Clone(harmless), harmlessHere...), Action: seccomp.Allow},
			// Threads, but no processes.
			{
				Calls:  []uint32{unix.SYS_CLONE},
				When:   []seccomp.Argument{seccomp.Flags(0, unix.CLONE_THREAD|newNamespacesOrTraced, unix.CLONE_THREAD)},
				Action: seccomp.Allow,
			},
			{Calls: []uint32{unix.SYS_KILL, unix.SYS_TGKILL, unix.SYS_PRLIMIT64}, When: ours, Action: seccomp.Allow},
			{Calls: []uint32{unix.SYS_PRLIMIT64, unix.SYS_SCHED_GETAFFINITY}, When: self, Action: seccomp.Allow},
			// ENOENT, so that the collector's message is the same as for a file that does not exist.
			{Calls: append([]uint32{unix.SYS_OPENAT}, opensHere...), Action: seccomp.Fail(syscall.ENOENT)},
			{
				Calls:  []uint32{unix.SYS_CLONE3, unix.SYS_OPENAT2, unix.SYS_FACCESSAT2, unix.SYS_PIDFD_OPEN, unix.SYS_EPOLL_PWAIT2},
				Action: seccomp.Fail(syscall.ENOSYS),
			},
		},
		Otherwise: seccomp.Fail(syscall.EACCES),
	}
	for _, option := range []int32{unix.PR_SET_NAME, unix.PR_GET_NAME, unix.PR_SET_VMA} {
		filter.Rules = append(filter.Rules, allowInt(unix.SYS_PRCTL, 0, option))
	}
	// Not F_SETOWN, which has signals sent to any process.
	for _, command := range []int32{
		unix.F_DUPFD, unix.F_GETFD, unix.F_SETFD, unix.F_GETFL, unix.F_SETFL, unix.F_DUPFD_CLOEXEC,
	} {
		filter.Rules = append(filter.Rules, allowInt(unix.SYS_FCNTL, 1, command))
	}
	return filter
}

func allowInt(call uint32, argument int, value int32) seccomp.Rule {
	return seccomp.Rule{
		Calls: []uint32{call}, When: []seccomp.Argument{seccomp.Int(argument, value)}, Action: seccomp.Allow,
	}
}

// harmless are the calls of a Go program that computes, reads and writes what is open, and looks whether a name exists:
// a component may ask for a folder, and its answer must not depend on where it is asked.
var harmless = []uint32{
	unix.SYS_MMAP, unix.SYS_MUNMAP, unix.SYS_MPROTECT, unix.SYS_MREMAP, unix.SYS_MADVISE, unix.SYS_MINCORE, unix.SYS_BRK,
	unix.SYS_FUTEX, unix.SYS_EXIT, unix.SYS_EXIT_GROUP, unix.SYS_GETTID, unix.SYS_GETPID, unix.SYS_GETPPID,
	unix.SYS_SET_ROBUST_LIST, unix.SYS_RSEQ, unix.SYS_SCHED_YIELD, unix.SYS_RESTART_SYSCALL, unix.SYS_MEMBARRIER,
	unix.SYS_NANOSLEEP, unix.SYS_CLOCK_NANOSLEEP, unix.SYS_CLOCK_GETTIME, unix.SYS_CLOCK_GETRES, unix.SYS_GETTIMEOFDAY,
	unix.SYS_SETITIMER, unix.SYS_TIMER_CREATE, unix.SYS_TIMER_SETTIME, unix.SYS_TIMER_DELETE,
	unix.SYS_RT_SIGACTION, unix.SYS_RT_SIGPROCMASK, unix.SYS_RT_SIGRETURN, unix.SYS_SIGALTSTACK,
	unix.SYS_READ, unix.SYS_WRITE, unix.SYS_READV, unix.SYS_WRITEV, unix.SYS_PREAD64, unix.SYS_PWRITE64, unix.SYS_LSEEK,
	unix.SYS_CLOSE, unix.SYS_FSTAT, unix.SYS_DUP, unix.SYS_DUP3, unix.SYS_PIPE2, unix.SYS_EVENTFD2,
	unix.SYS_EPOLL_CREATE1, unix.SYS_EPOLL_CTL, unix.SYS_EPOLL_PWAIT, unix.SYS_PPOLL, unix.SYS_PSELECT6,
	unix.SYS_STATX, unix.SYS_FACCESSAT, unix.SYS_READLINKAT, unix.SYS_GETCWD, unix.SYS_STATFS, unix.SYS_FSTATFS,
	unix.SYS_UNAME, unix.SYS_SYSINFO, unix.SYS_GETRANDOM, unix.SYS_GETUID, unix.SYS_GETEUID, unix.SYS_GETGID,
	unix.SYS_GETEGID, unix.SYS_GETGROUPS, unix.SYS_GETRUSAGE, unix.SYS_TIMES,
}
