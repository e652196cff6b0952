package files

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// lock locks a file for this process; false if another one has. What is locked lies behind the holder's number, which
// others have to read: Windows keeps them from reading what is locked.
func lock(file *os.File) (bool, error) {
	behind := &windows.Overlapped{Offset: 1 << 20}
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err := windows.LockFileEx(windows.Handle(file.Fd()), flags, 0, 1, 0, behind)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, err
}
