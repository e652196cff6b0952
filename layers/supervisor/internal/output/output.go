// Package output forwards the collector's output, and remembers its last lines, from which it tells why the collector
// stopped.
package output

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/headgate/headgate/layers/collector/secrets"
)

const (
	maxLines   = 400
	maxLine    = 64 * 1024
	recent     = 20 * time.Second
	maxCause   = 1800
	finalError = "collector server run finished with error: "
	// Logged once the configuration is read, before any component starts.
	started = "Starting otelcol"
)

// The beginnings of what Go's runtime prints on a crash.
var fatal = []string{"panic: ", "fatal error: ", "SIG", "runtime: out of memory"}

// Output are the lines of the collector, which go where the supervisor's own lines go. The supervisor writes them to a
// file that grows: on Linux there is a pipe in its place, elsewhere the supervisor logs each line (Logged).
type Output struct {
	to    io.Writer
	pipe  io.ReadCloser
	mutex sync.Mutex
	lines []line
}

type line struct {
	at   time.Time
	text string
}

// Close ends the forwarding.
func (o *Output) Close() {
	if o.pipe != nil {
		_ = o.pipe.Close()
	}
}

// Line takes a line that the supervisor logs.
func (o *Output) Line(text string) {
	_, _ = io.WriteString(o.to, text+"\n")
	o.remember(text)
}

// Cause returns the collector's own error on why it ended or fails, "" if it has logged none recently.
func (o *Output) Cause() string {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	var texts []string
	for _, line := range o.lines {
		if time.Since(line.at) <= recent {
			texts = append(texts, line.text)
		}
	}
	return cause(texts)
}

func cause(lines []string) string {
	for i := len(lines) - 1; i >= 0; i-- {
		if strings.Contains(lines[i], started) {
			// Earlier lines are from a collector that ran before.
			lines = lines[i+1:]
			break
		}
	}
	for i := len(lines) - 1; i >= 0; i-- {
		if _, message, found := strings.Cut(lines[i], finalError); found {
			reason := []string{message}
			for _, text := range lines[i+1:] {
				// The next collector has started to log.
				if strings.HasPrefix(text, "{") || strings.Contains(text, "\tinfo\t") {
					break
				}
				reason = append(reason, text)
			}
			return cut(strings.Join(reason, "\n"))
		}
	}
	for i, text := range lines {
		for _, beginning := range fatal {
			if strings.HasPrefix(text, beginning) {
				return cut(strings.Join(lines[i:min(i+10, len(lines))], "\n"))
			}
		}
	}
	var errs []string
	for _, text := range lines {
		if strings.Contains(text, "\terror\t") || strings.Contains(text, `"level":"error"`) {
			errs = append(errs, text)
		}
	}
	return cut(strings.Join(errs[max(0, len(errs)-3):], "\n"))
}

func cut(text string) string {
	// Before it is cut: half a secret has another form.
	text = strings.TrimSpace(secrets.RedactError(text))
	if len(text) > maxCause {
		return strings.ToValidUTF8(text[:maxCause], "") + " ..."
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

func (o *Output) forward() {
	reader := bufio.NewReaderSize(o.pipe, maxLine)
	for {
		// A line longer than the buffer arrives in parts, so that memory stays bounded.
		part, err := reader.ReadSlice('\n')
		if len(part) > 0 {
			_, _ = o.to.Write(part)
			o.remember(strings.TrimRight(string(part), "\r\n"))
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return
		}
	}
}

func (o *Output) remember(text string) {
	if len(text) > 4*maxCause {
		text = text[:4*maxCause]
	}
	o.mutex.Lock()
	defer o.mutex.Unlock()
	o.lines = append(o.lines, line{time.Now(), text})
	if len(o.lines) > 2*maxLines {
		o.lines = append([]line(nil), o.lines[len(o.lines)-maxLines:]...)
	}
}
