package programs

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// open opens a program; it follows no link.
func open(path string) (*os.File, Identity, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, Identity{}, err
	}
	found, err := identify(file)
	if err != nil {
		_ = file.Close()
		return nil, Identity{}, err
	}
	return file, found, nil
}

func identify(file *os.File) (Identity, error) {
	var stat syscall.Stat_t
	if err := syscall.Fstat(int(file.Fd()), &stat); err != nil {
		return Identity{}, err
	}
	if stat.Mode&syscall.S_IFMT != syscall.S_IFREG || stat.Mode&0o222 != 0 {
		return Identity{}, fmt.Errorf("%s is not a program that was put there", filepath.Base(filepath.Dir(file.Name())))
	}
	return Identity{uint64(stat.Dev), stat.Ino, stat.Size, stat.Ctim.Nano()}, nil
}
