package check

import (
	"fmt"
	"runtime/metrics"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/headgate/headgate/layers/collector/internal/operation"
)

// Limits on one question. Questions known to be costly are refused before they begin; these limits are for the rest.
// Processor time is counted, so that the answer does not depend on how busy the machine is.
const (
	maxProcessorTime = 7 * time.Second
	// maxMemory is what the process may hold, below the limit at which the kernel kills it.
	maxMemory     = 600 << 20
	watchInterval = 20 * time.Millisecond
)

// exceeded is the code of the answer after which the process ends: nothing else can stop a component's work.
const exceeded = "exceeded"

// watchdog answers a question that takes too much, and ends the process.
type watchdog struct {
	answered atomic.Bool
	stop     chan struct{}
}

// watch starts to watch a question. Only the caller to whom mayAnswer returns true may answer it.
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
				reason = fmt.Sprintf("more than %.0f seconds of processor time", maxProcessorTime.Seconds())
			case heldBytes() > maxMemory:
				reason = fmt.Sprintf("more than %d MB of memory", maxMemory>>20)
			}
			if reason != "" && w.mayAnswer() {
				give(&operation.Error{Code: exceeded, Message: "checking it took the collector " + reason + "; nothing was checked"})
				return
			}
		}
	}()
	return w
}

// mayAnswer returns true once.
func (w *watchdog) mayAnswer() bool { return w.answered.CompareAndSwap(false, true) }

func (w *watchdog) end() { close(w.stop) }

func processorTime() time.Duration {
	var used syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &used) != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// heldBytes returns the memory that the runtime has obtained from the system and not returned.
func heldBytes() uint64 {
	samples := []metrics.Sample{
		{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"},
	}
	metrics.Read(samples)
	return samples[0].Value.Uint64() - samples[1].Value.Uint64()
}
