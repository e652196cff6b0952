package confine

import "golang.org/x/sys/unix"

// Older forms of calls that arm64 does not have.
var neverHere = []uint32{
	unix.SYS_FORK, unix.SYS_VFORK, unix.SYS_UNLINK, unix.SYS_RMDIR, unix.SYS_RENAME, unix.SYS_RENAMEAT, unix.SYS_LINK,
	unix.SYS_IOPL, unix.SYS_IOPERM, unix.SYS_MODIFY_LDT,
}

// openCalls take their flags as this argument.
var openCalls = map[int][]uint32{1: {unix.SYS_OPEN}, 2: {unix.SYS_OPENAT}}
