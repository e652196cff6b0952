package output

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// Logged reports whether the supervisor has to log the lines of the collector.
const Logged = false

const pipeSize = 1 << 20

// Open makes the pipe at path, replacing any file there, and forwards its lines to w until it is closed.
func Open(path string, w io.Writer) (*Output, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("remove the old output: %w", err)
	}
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		return nil, fmt.Errorf("make the pipe %s: %w", path, err)
	}
	// Open for writing as well, so that the pipe does not end when a collector ends.
	pipe, err := os.OpenFile(path, os.O_RDWR|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("open the pipe: %w", err)
	}
	enlarge(pipe)
	o := &Output{to: w, pipe: pipe}
	go o.forward()
	return o, nil
}

// enlarge sets the pipe's buffer to the largest size for unprivileged users, so that a collector that writes a lot does
// not wait. It is optional, so errors are ignored.
func enlarge(pipe *os.File) {
	if raw, err := pipe.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) {
			_, _, _ = syscall.Syscall(syscall.SYS_FCNTL, fd, syscall.F_SETPIPE_SZ, pipeSize)
		})
	}
}
