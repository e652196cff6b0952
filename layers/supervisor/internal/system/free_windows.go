package system

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// Free is how many bytes a user may still write to the disk of a file.
func Free(file *os.File) (int64, error) {
	folder, err := windows.UTF16PtrFromString(filepath.Dir(file.Name()))
	if err != nil {
		return 0, err
	}
	var free uint64
	if err := windows.GetDiskFreeSpaceEx(folder, &free, nil, nil); err != nil {
		return 0, err
	}
	return int64(free), nil
}
