package check

import "golang.org/x/sys/unix"

// Calls that arm64 has under newer names only.
var (
	harmlessHere = []uint32{
		unix.SYS_NEWFSTATAT, unix.SYS_STAT, unix.SYS_LSTAT, unix.SYS_ACCESS, unix.SYS_READLINK, unix.SYS_EPOLL_WAIT,
		unix.SYS_POLL, unix.SYS_TIME, unix.SYS_ARCH_PRCTL, unix.SYS_GETRLIMIT,
	}
	opensHere = []uint32{unix.SYS_OPEN, unix.SYS_CREAT}
)
