//go:build !linux

package programs

import (
	"errors"
	"fmt"
	"os"
)

// open opens nothing: only hosts on Linux bring programs of their own accord.
func open(path string) (*os.File, Identity, error) {
	return nil, Identity{}, fmt.Errorf("open %s: %w", path, errors.ErrUnsupported)
}
