package sandbox

import (
	"bytes"
	"fmt"
	"sync"
	"time"

	"github.com/headgate/headgate/layers/collector/internal/hiding"
)

// How much of a collector's standard error is stored: its start, which has configuration errors, and its end, which has
// crashes.
const (
	StderrHead = 48 << 10
	StderrTail = 16 << 10
)

// readyLine is what every collector logs, at the level info, when its pipelines run.
var readyLine = []byte("Everything is ready. Begin running and processing data.")

// stoppedLine is what it logs, also at the level info, when all components have been shut down.
var stoppedLine = []byte("Shutdown complete.")

// tail stores the start and the end of what is written to it, and notices when the collector is ready, and when it has
// stopped.
type tail struct {
	mutex  sync.Mutex
	head   []byte
	end    []byte
	cut    int
	recent []byte
	ready  chan struct{}
	// awaited is the line that is looked for next, nil for none.
	awaited []byte
	stopped bool
	last    time.Time
}

func newTail() *tail {
	return &tail{ready: make(chan struct{}), awaited: readyLine, last: time.Now()}
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

// watch looks for the awaited line, which may be split over two writes.
func (t *tail) watch(text []byte) {
	if t.awaited == nil {
		return
	}
	t.recent = append(t.recent, text...)
	if bytes.Contains(t.recent, t.awaited) {
		if bytes.Equal(t.awaited, readyLine) {
			close(t.ready)
		} else {
			t.stopped = true
		}
		t.awaited, t.recent = nil, nil
		return
	}
	if over := len(t.recent) - len(t.awaited); over > 0 {
		t.recent = append([]byte(nil), t.recent[over:]...)
	}
}

// awaitStop makes it look for the end of the shutdown: before the interrupt signal, the line means nothing.
func (t *tail) awaitStop() {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.awaited, t.recent = stoppedLine, nil
}

// hasStopped reports whether all components have been shut down, and thus whether the output is complete.
func (t *tail) hasStopped() bool {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return t.stopped
}

// quiet returns for how long nothing has been written.
func (t *tail) quiet() time.Duration {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return time.Since(t.last)
}

func (t *tail) bytes() []byte { return t.hiding(&hiding.Hider{}) }

// hiding returns what was written, without the values of variables.
func (t *tail) hiding(hider *hiding.Hider) []byte {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if t.cut == 0 {
		return hider.Bytes(append(bytes.Clone(t.head), t.end...))
	}
	head, end, cut := hider.Bytes(bytes.Clone(t.head)), hider.Bytes(t.end), t.cut
	if hider.Hides() {
		// A value that is cut here may be too short to be recognized.
		head, end, cut = head[:max(0, len(head)-hiding.Part)], end[min(len(end), hiding.Part):], cut+2*hiding.Part
	}
	return fmt.Appendf(head, "\n... %d bytes left out ...\n%s", cut, end)
}
