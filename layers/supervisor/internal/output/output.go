// Package output passes on what the collector writes, and remembers the end of it for whoever asks why it stopped.
package output

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	kept       = 400
	longest    = 64 * 1024
	recent     = 20 * time.Second
	longestSay = 1800
	pipeSize   = 1 << 20
	// How the collector, and Go's runtime, begin what they say last.
	lastWords = "collector server run finished with error: "
	// What it says once its configuration is read, before it starts anything.
	started = "Starting otelcol"
)

var fatal = []string{"panic: ", "fatal error: ", "SIG", "runtime: out of memory"}

// Output is a pipe in the place of the file that the supervisor gives the collector to write to. So nothing grows on
// the disk, and every line goes where the supervisor's own lines go.
type Output struct {
	pipe  *os.File
	mutex sync.Mutex
	lines []line
}

type line struct {
	at   time.Time
	text string
}

// Open makes the pipe at path, in the place of whatever is there, and passes its lines on to w until it is closed.
func Open(path string, w io.Writer) (*Output, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("remove the old output: %w", err)
	}
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		return nil, fmt.Errorf("make the pipe %s: %w", path, err)
	}
	// Open for writing as well, so that it does not end when a collector does.
	pipe, err := os.OpenFile(path, os.O_RDWR|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("open the pipe: %w", err)
	}
	enlarge(pipe)
	o := &Output{pipe: pipe}
	go o.pass(w)
	return o, nil
}

// enlarge makes room for as much as the kernel lets anyone have, if it does: so a collector that writes a lot need not
// wait for us.
func enlarge(pipe *os.File) {
	if raw, err := pipe.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) {
			_, _, _ = syscall.Syscall(syscall.SYS_FCNTL, fd, syscall.F_SETPIPE_SZ, pipeSize)
		})
	}
}

// Close ends the passing on.
func (o *Output) Close() {
	_ = o.pipe.Close()
}

// Cause is the collector's own word on why it ended or does not work, "" if it said nothing of late.
func (o *Output) Cause() string {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	var said []string
	for _, one := range o.lines {
		if time.Since(one.at) <= recent {
			said = append(said, one.text)
		}
	}
	return cause(said)
}

func cause(said []string) string {
	for i := len(said) - 1; i >= 0; i-- {
		if strings.Contains(said[i], started) {
			// What one before it said is not why this one does not work.
			said = said[i+1:]
			break
		}
	}
	for i := len(said) - 1; i >= 0; i-- {
		if _, words, found := strings.Cut(said[i], lastWords); found {
			reason := []string{words}
			for _, text := range said[i+1:] {
				// The next one has begun to speak.
				if strings.HasPrefix(text, "{") || strings.Contains(text, "\tinfo\t") {
					break
				}
				reason = append(reason, text)
			}
			return cut(strings.Join(reason, "\n"))
		}
	}
	for i, text := range said {
		for _, beginning := range fatal {
			if strings.HasPrefix(text, beginning) {
				return cut(strings.Join(said[i:min(i+10, len(said))], "\n"))
			}
		}
	}
	var errs []string
	for _, text := range said {
		if strings.Contains(text, "\terror\t") || strings.Contains(text, `"level":"error"`) {
			errs = append(errs, text)
		}
	}
	return cut(strings.Join(errs[max(0, len(errs)-3):], "\n"))
}

func cut(text string) string {
	text = strings.TrimSpace(text)
	if len(text) > longestSay {
		return strings.ToValidUTF8(text[:longestSay], "") + " ..."
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

func (o *Output) pass(w io.Writer) {
	reader := bufio.NewReaderSize(o.pipe, longest)
	for {
		// A line that is longer than the buffer arrives in parts, so that no line takes memory without end.
		part, err := reader.ReadSlice('\n')
		if len(part) > 0 {
			_, _ = w.Write(part)
			o.remember(strings.TrimRight(string(part), "\r\n"))
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return
		}
	}
}

func (o *Output) remember(text string) {
	if len(text) > 4*longestSay {
		text = text[:4*longestSay]
	}
	o.mutex.Lock()
	defer o.mutex.Unlock()
	o.lines = append(o.lines, line{time.Now(), text})
	if len(o.lines) > 2*kept {
		o.lines = append([]line(nil), o.lines[len(o.lines)-kept:]...)
	}
}
