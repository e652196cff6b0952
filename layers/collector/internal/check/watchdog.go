package check

import (
	"fmt"
	"runtime/metrics"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/headgate/headgate/layers/collector/internal/operation"
)

// What one question may take. What takes long is refused before it is begun where that can be told; this is for what
// nobody has thought of. It counts the processor's time, so that a busy machine does not make a text a costly one.
const (
	maxProcessorTime = 7 * time.Second
	// maxMemory is what the process may hold of its own, under the bound at which the kernel ends it.
	maxMemory     = 600 << 20
	watchInterval = 20 * time.Millisecond
)

// exceeded is the code of the answer after which the process ends, for nothing else stops what it is at.
const exceeded = "exceeded"

// watchdog gives the answer to a question that takes too much, and ends the process.
type watchdog struct {
	answered atomic.Bool
	stop     chan struct{}
}

// watch begins with a question. Whoever answers it asks `mayAnswer` first.
func watch(give func(*operation.Error)) *watchdog {
	w := &watchdog{stop: make(chan struct{})}
	begun := processorTime()
	go func() {
		ticks := time.NewTicker(watchInterval)
		defer ticks.Stop()
		for {
			select {
			case <-w.stop:
				return
			case <-ticks.C:
			}
			reason := ""
			switch {
			case processorTime()-begun > maxProcessorTime:
				reason = fmt.Sprintf("more than %.0f seconds of a processor", maxProcessorTime.Seconds())
			case heldBytes() > maxMemory:
				reason = "more memory than one configuration may"
			}
			if reason != "" && w.mayAnswer() {
				give(&operation.Error{Code: exceeded, Message: "it takes the collector " + reason + "; nothing was checked"})
				return
			}
		}
	}()
	return w
}

// mayAnswer is true once.
func (w *watchdog) mayAnswer() bool { return w.answered.CompareAndSwap(false, true) }

func (w *watchdog) end() { close(w.stop) }

func processorTime() time.Duration {
	var used syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &used) != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// heldBytes is the memory that the runtime has from the system and has not given back.
func heldBytes() uint64 {
	samples := []metrics.Sample{
		{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"},
	}
	metrics.Read(samples)
	return samples[0].Value.Uint64() - samples[1].Value.Uint64()
}
