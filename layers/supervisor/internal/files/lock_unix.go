//go:build unix

package files

import (
	"errors"
	"os"
	"syscall"
)

// lock locks a file for this process; false if another one has.
func lock(file *os.File) (bool, error) {
	err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}
