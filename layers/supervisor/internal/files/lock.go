package files

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Lock prevents a second supervisor with the same storage, which would use the first one's identity.
func Lock(folder string) (func(), error) {
	file, err := os.OpenFile(filepath.Join(folder, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock the storage folder: %w", err)
	}
	locked, err := lock(file)
	if err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("lock the storage folder: %w", err)
	}
	if !locked {
		holder, _ := io.ReadAll(io.LimitReader(file, 32))
		_ = file.Close()
		return nil, fmt.Errorf("%s is in use by another supervisor, process %s", folder, holder)
	}
	_ = file.Truncate(0)
	_, _ = fmt.Fprintf(file, "%d", os.Getpid())
	return func() { _ = file.Close() }, nil
}
