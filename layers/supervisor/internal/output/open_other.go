//go:build !linux

package output

import "io"

// Logged reports whether the supervisor has to log the lines of the collector: Windows has no pipes with names of files,
// and on macOS the end of such a pipe is not noticed.
const Logged = true

// Open takes the lines by Line alone.
func Open(_ string, w io.Writer) (*Output, error) { return &Output{to: w}, nil }
