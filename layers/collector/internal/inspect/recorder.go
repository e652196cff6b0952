package inspect

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/headgate/headgate/layers/collector/internal/decoded"
	"go.opentelemetry.io/collector/component"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// Limits on what components log while they are built. A message is a sentence of its component; more than these are the
// work of a text that wants many.
const (
	maxLogs      = 20
	maxLogsInAll = 500
	maxMessage   = 1_000
)

// Some extensions try to reach a server while they are created, and some components wait while they are shut down.
const (
	extensionsPatience = 2 * time.Second
	shutdownPatience   = time.Second
)

// recorder records what components log, from warnings up, and what was created.
type recorder struct {
	mutex sync.Mutex
	// logs are those of each component, by its path.
	logs map[string][]Log
	// count is the number of messages in all, incomplete is set if there were more.
	count      int
	incomplete bool
	created    []component.Component
}

func newRecorder() *recorder { return &recorder{logs: make(map[string][]Log)} }

// observe gives a component that is about to be created a logger that records.
func (r *recorder) observe(section string, id component.ID, settings *component.TelemetrySettings) {
	settings.Logger = zap.New(&core{recorder: r, path: section + separator + id.String()})
}

// record remembers a message, once for each component: a component is created once for each pipeline.
func (r *recorder) record(path string, log Log) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	for _, earlier := range r.logs[path] {
		if earlier == log {
			return
		}
	}
	if len(r.logs[path]) >= maxLogs || r.count >= maxLogsInAll {
		r.incomplete = true
		return
	}
	r.count++
	r.logs[path] = append(r.logs[path], log)
}

// of returns what a component has logged so far.
func (r *recorder) of(path string) []Log {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return append([]Log{}, r.logs[path]...)
}

// built remembers a component that was created, to shut it down.
func (r *recorder) built(created component.Component) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.created = append(r.created, created)
}

// shutdown ends what was created and never started, so that less of it stays in memory. The collector's contract for
// components allows that, but not all are true to it: one that panics is skipped, and one that waits is left.
func (r *recorder) shutdown(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, shutdownPatience)
	defer cancel()
	r.mutex.Lock()
	created := r.created
	r.created = nil
	r.mutex.Unlock()
	within(ctx, func() {
		for i := len(created) - 1; i >= 0 && ctx.Err() == nil; i-- {
			shutdown(ctx, created[i])
		}
	})
}

// within does something and waits for it until the context ends. What takes longer goes on, and nobody waits for it.
func within(ctx context.Context, do func()) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		do()
	}()
	select {
	case <-ended:
	case <-ctx.Done():
	}
}

func (r *recorder) isIncomplete() bool {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.incomplete
}

// cut says that not everything is told.
func (r *recorder) cut() {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.incomplete = true
}

func shutdown(ctx context.Context, created component.Component) {
	defer func() {
		if reason := recover(); reason != nil {
			fmt.Fprintf(os.Stderr, "panic while shutting down %T: %v\n", created, reason)
		}
	}()
	_ = created.Shutdown(ctx) // nothing was started, so there is nothing to lose
}

// core is the end of a component's logger. It takes the level and the message, not the fields: a message is what the
// component's author wrote, and fields carry values of the configuration and of the machine, secrets among them.
type core struct {
	recorder *recorder
	path     string
}

func (c *core) Enabled(level zapcore.Level) bool { return level >= zapcore.WarnLevel }

func (c *core) With([]zapcore.Field) zapcore.Core { return c }

func (c *core) Check(entry zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if c.Enabled(entry.Level) {
		return checked.AddCore(entry, c)
	}
	return checked
}

func (c *core) Write(entry zapcore.Entry, _ []zapcore.Field) error {
	c.recorder.record(c.path, Log{Level: entry.Level.String(), Message: decoded.Shortened(entry.Message, maxMessage)})
	return nil
}

func (c *core) Sync() error { return nil }
