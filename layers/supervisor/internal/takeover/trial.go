package takeover

import (
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/open-telemetry/opamp-go/protobufs"
)

const (
	// folder is made in the storage by the installer, and removed here once this supervisor has proved itself. An installer
	// that goes back makes another folder in it first, so that it cannot be removed any more.
	folder = "takeover"
	// longest is when a trial ends whose installer is gone.
	longest = 10 * time.Minute
)

// steady is how long a collector has to run.
var steady = 5 * time.Second

// Trial is the time in which the official supervisor may have to come back. A host with a key is refused without it, so
// that no message may be signed before the trial is over.
type Trial struct {
	path string

	mutex sync.Mutex
	// started is the start of the collector that runs, heard when Headgate has answered a message with its health.
	started, heard time.Time
}

// Of is the trial of a storage folder, if one is under way there.
func Of(storage string) *Trial { return &Trial{path: filepath.Join(storage, folder)} }

// UnderWay reports whether the official supervisor may come back. A trial that took too long has ended, also for an
// installer that was only halted.
func (t *Trial) UnderWay() bool {
	info, err := os.Lstat(t.path)
	if err != nil || !info.IsDir() {
		return false
	}
	if time.Since(info.ModTime()) < longest {
		return true
	}
	_ = os.Remove(t.path)
	return false
}

// Started notes that the collector was started.
func (t *Trial) Started() { t.set(time.Now()) }

// Exited notes that it has ended by itself.
func (t *Trial) Exited() { t.set(time.Time{}) }

func (t *Trial) set(started time.Time) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.started, t.heard = started, time.Time{}
}

// Answered notes that Headgate has answered a message. Health that has parts, or is good, is the collector's own.
func (t *Trial) Answered(message *protobufs.AgentToServer) {
	health := message.GetHealth()
	if !health.GetHealthy() && len(health.GetComponentHealthMap()) == 0 {
		return
	}
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if t.started.IsZero() || !t.heard.IsZero() || !t.UnderWay() {
		return
	}
	t.heard = time.Now()
	started := t.started
	time.AfterFunc(steady-time.Since(started), func() { t.prove(started) })
}

// prove ends the trial, if the collector that was started then still runs.
func (t *Trial) prove(started time.Time) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if t.started.Equal(started) {
		_ = os.Remove(t.path)
	}
}
