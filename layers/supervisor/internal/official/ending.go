package official

import (
	"errors"
	"log"
	"os"
	"sync"
	"time"
)

// lookEvery is how often the end of a process is looked for.
const lookEvery = 5 * time.Millisecond

// ending ends the collector before the supervisor begins to count the time that a configuration has to be applied. The
// supervisor itself stops the old collector within that time, so one that hangs makes the next configuration fail.
type ending struct {
	within time.Duration

	mutex sync.Mutex
	// process is the collector that was started last, nil if it is known to have ended.
	process *os.Process
}

// started notes the collector's process. The handle cannot come to mean another process of the same number.
func (e *ending) started(pid int) {
	process, err := os.FindProcess(pid)
	if err != nil {
		process = nil
	}
	e.mutex.Lock()
	defer e.mutex.Unlock()
	e.process = process
}

// take returns the process, and forgets it.
func (e *ending) take() *os.Process {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	process := e.process
	e.process = nil
	return process
}

// end stops the collector as the supervisor does, kills it if it cannot be asked or has not ended in time, and returns
// when it has ended. The supervisor would go on with a collector that it cannot ask, and report the new configuration as
// applied.
func (e *ending) end() {
	process := e.take()
	if process == nil {
		return
	}
	defer func() { _ = process.Release() }()
	if ended(process) {
		return
	}
	err := interrupt(process)
	switch {
	case errors.Is(err, os.ErrProcessDone):
		return
	case err != nil:
		log.Printf("the collector cannot be asked to stop and is killed: what it holds in memory is lost: %v", err)
	case gone(process, e.within):
		return
	default:
		log.Printf("the collector did not stop within %v and is killed: what it holds in memory is lost", e.within)
	}
	if process.Kill() == nil && !gone(process, e.within) {
		log.Printf("the collector cannot be killed")
	}
}

// gone waits for a process to end, and for the supervisor to notice it, and reports whether both have come about.
func gone(process *os.Process, within time.Duration) bool {
	for deadline := time.Now().Add(within); time.Now().Before(deadline); time.Sleep(lookEvery) {
		if ended(process) {
			// What the supervisor does next has no line of its own.
			time.Sleep(applyPause)
			return true
		}
	}
	return false
}
