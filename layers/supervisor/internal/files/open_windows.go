package files

import (
	"fmt"
	"os"
)

// openCarefully follows no link. Windows has no flag for it, so the file that was opened is compared with the name.
func openCarefully(path string) (*os.File, error) {
	named, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	opened, err := file.Stat()
	if err != nil || !os.SameFile(named, opened) {
		_ = file.Close()
		return nil, fmt.Errorf("%s is a link, or was replaced while it was opened", path)
	}
	return file, nil
}
