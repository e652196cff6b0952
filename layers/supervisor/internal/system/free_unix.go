//go:build unix

package system

import (
	"os"
	"syscall"
)

// Free is how many bytes a user may still write to the disk of a file.
func Free(file *os.File) (int64, error) {
	var disk syscall.Statfs_t
	if err := syscall.Fstatfs(int(file.Fd()), &disk); err != nil {
		return 0, err
	}
	return int64(disk.Bavail) * int64(disk.Bsize), nil
}
