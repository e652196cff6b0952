// Package seccomp assembles and installs filters of system calls. A filter needs no privilege and cannot be removed, so
// it also works where there are neither namespaces nor Landlock.
package seccomp

import (
	"fmt"
	"math"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Action is what happens to a system call.
type Action uint32

const (
	// Allow lets the call be made.
	Allow Action = unix.SECCOMP_RET_ALLOW
	// Kill ends the process.
	Kill Action = unix.SECCOMP_RET_KILL_PROCESS
)

// Fail makes the call fail with this error, without being made.
func Fail(errno syscall.Errno) Action {
	return Action(unix.SECCOMP_RET_ERRNO | uint32(errno)&unix.SECCOMP_RET_DATA)
}

// Argument is a condition on an argument of a call. The kernel ignores the upper 32 bits of an argument that it takes
// as an int: compare such arguments with Int and Flags.
type Argument struct {
	index       int
	mask, value uint64
}

// Equal holds if the argument, counted from 0, is this value in all its 64 bits.
func Equal(index int, value uint64) Argument {
	return Argument{index, math.MaxUint64, value}
}

// Int holds if the argument's lower 32 bits are this value.
func Int(index int, value int32) Argument {
	return Argument{index, math.MaxUint32, uint64(uint32(value))}
}

// Flags holds if the argument's bits in the mask are those of the value.
func Flags(index int, mask, value uint64) Argument {
	return Argument{index, mask, value}
}

// Rule decides about some calls, if their arguments meet all conditions.
type Rule struct {
	Calls  []uint32
	When   []Argument
	Action Action
}

// Filter is a list of rules of which the first that fits decides. A call of another architecture's table (i386's, and
// x32's on amd64), where the same numbers mean other calls, ends the process.
type Filter struct {
	Rules     []Rule
	Otherwise Action
}

// Install applies the filter to every thread of this process and to their children. It also sets "no new privileges".
// If it returns an error, no thread is filtered.
func (f Filter) Install() error {
	program, err := f.assemble(thisArchitecture)
	if err != nil {
		return err
	}
	filter := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	// "No new privileges" applies to this thread; installing the filter extends it to the others.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("giving up new privileges: %w", err)
	}
	unsynchronized, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER,
		unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&filter)))
	if errno != 0 {
		return fmt.Errorf("installing the filter: %w", errno)
	}
	if unsynchronized != 0 {
		return fmt.Errorf("installing the filter: thread %d has another one", unsynchronized)
	}
	return nil
}
