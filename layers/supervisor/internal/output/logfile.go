package output

import (
	"io"
	"log"
	"os"
	"runtime/debug"
)

// mostLogged is how large a log becomes; the one before is as large.
const mostLogged = 10 << 20

// LogTo makes a file the standard error of this process, and returns what writes the rest of it down. A full file is
// renamed to `.1`, and a new one begun. Service managers without a log of their own need that.
func LogTo(path string) (func(), error) {
	file := &logFile{path: path}
	if err := file.open(); err != nil {
		return nil, err
	}
	lines, written, err := os.Pipe()
	if err != nil {
		_ = file.file.Close()
		return nil, err
	}
	os.Stderr = written
	log.SetOutput(written)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(file, lines)
	}()
	return func() {
		_ = written.Close()
		<-done
		_ = file.file.Close()
	}, nil
}

type logFile struct {
	path string
	file *os.File
	size int64
}

func (l *logFile) open() error {
	file, err := os.OpenFile(l.path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	l.file, l.size = file, 0
	if stat, err := file.Stat(); err == nil {
		l.size = stat.Size()
	}
	// What Go prints when this program crashes does not come by the pipe.
	_ = debug.SetCrashOutput(file, debug.CrashOptions{})
	return nil
}

// Write never fails, so that a full disk does not block who logs.
func (l *logFile) Write(text []byte) (int, error) {
	if l.size+int64(len(text)) > mostLogged {
		_ = debug.SetCrashOutput(nil, debug.CrashOptions{})
		_ = l.file.Close()
		_ = os.Rename(l.path, l.path+".1")
		if l.open() != nil {
			return len(text), nil
		}
	}
	n, _ := l.file.Write(text)
	l.size += int64(n)
	return len(text), nil
}
