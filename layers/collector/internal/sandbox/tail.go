package sandbox

import (
	"bytes"
	"fmt"
	"sync"
	"time"
)

// How much of a collector's standard error is stored: its start, which has configuration errors, and its end, which has
// crashes.
const (
	StderrHead = 48 << 10
	StderrTail = 16 << 10
)

// readyLine is what every collector logs, at the level info, when its pipelines run.
var readyLine = []byte("Everything is ready. Begin running and processing data.")

// tail stores the start and the end of what is written to it, and notices when the collector is ready.
type tail struct {
	mutex  sync.Mutex
	head   []byte
	end    []byte
	cut    int
	recent []byte
	ready  chan struct{}
	told   bool
	last   time.Time
}

func newTail() *tail {
	return &tail{ready: make(chan struct{}), last: time.Now()}
}

// Write never fails: it drops what exceeds the limits.
func (t *tail) Write(text []byte) (int, error) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.watch(text)
	t.last = time.Now()
	rest := text
	if room := StderrHead - len(t.head); room > 0 {
		taken := min(room, len(rest))
		t.head = append(t.head, rest[:taken]...)
		rest = rest[taken:]
	}
	t.end = append(t.end, rest...)
	if over := len(t.end) - StderrTail; over > 0 {
		t.cut += over
		t.end = append([]byte(nil), t.end[over:]...)
	}
	return len(text), nil
}

// watch looks for the ready line, which may be split over two writes.
func (t *tail) watch(text []byte) {
	if t.told {
		return
	}
	t.recent = append(t.recent, text...)
	if bytes.Contains(t.recent, readyLine) {
		t.told, t.recent = true, nil
		close(t.ready)
		return
	}
	if over := len(t.recent) - len(readyLine); over > 0 {
		t.recent = append([]byte(nil), t.recent[over:]...)
	}
}

// quiet returns for how long nothing has been written.
func (t *tail) quiet() time.Duration {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return time.Since(t.last)
}

func (t *tail) bytes() []byte {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if t.cut == 0 {
		return append(bytes.Clone(t.head), t.end...)
	}
	return fmt.Appendf(bytes.Clone(t.head), "\n... %d bytes left out ...\n%s", t.cut, t.end)
}
