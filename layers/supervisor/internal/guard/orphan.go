package guard

import (
	"encoding/json"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/headgate/headgate/layers/supervisor/internal/files"
)

const (
	runningName    = "collector-process.json"
	largestRunning = 4 << 10
	looksEvery     = 10 * time.Millisecond
)

// stopsWithin is how long an orphan may take to stop before it is killed.
var stopsWithin = 10 * time.Second

// running is a collector's process. By its start it is told from another process of the same number.
type running struct {
	PID     int   `json:"pid"`
	Started int64 `json:"started"`
}

// record notes a collector's process in the storage. The function that it returns drops the note.
func record(storage string, pid int) func() {
	path := filepath.Join(storage, runningName)
	started, known := startOf(pid)
	if !known {
		return func() {}
	}
	content, err := json.Marshal(running{pid, started})
	if err == nil {
		err = files.Replace(path, content)
	}
	if err != nil {
		log.Printf("the collector's process is not noted, so that it would not be ended if this process is killed: %v", err)
	}
	return func() { _ = os.Remove(path) }
}

// endOrphan ends a collector whose guard was killed. It holds its ports and files, which the next one needs.
func endOrphan(storage string) {
	path := filepath.Join(storage, runningName)
	content, err := files.Read(path, largestRunning)
	if err != nil {
		return
	}
	defer func() { _ = os.Remove(path) }()
	var orphan running
	if json.Unmarshal(content, &orphan) != nil || orphan.PID <= 1 || !orphan.runs() {
		return
	}
	process, err := os.FindProcess(orphan.PID)
	if err != nil {
		return
	}
	log.Printf("a former collector, process %d, still runs without its guard and is ended", orphan.PID)
	end(process)
	for deadline := time.Now().Add(stopsWithin); orphan.runs(); time.Sleep(looksEvery) {
		if time.Now().After(deadline) {
			log.Printf("it did not stop within %v and is killed: what it holds in memory is lost", stopsWithin)
			_ = process.Kill()
			deadline = deadline.Add(stopsWithin)
		}
	}
}

func (r running) runs() bool {
	started, known := startOf(r.PID)
	return known && started == r.Started
}
