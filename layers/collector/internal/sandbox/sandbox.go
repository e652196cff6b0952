// Package sandbox runs a collector, with a configuration that a stranger wrote, for a given time and confined: no
// network, no environment, no second program, nothing to read but its own folder, bounded memory, threads and disk.
//
// The command that confines is this binary again (`sandbox-init`); it becomes the collector. See confine_linux.go for
// what confines it where.
package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Files in the collector's folder. What is recorded of further signals stands in `output.1`, `output.2` and so on.
const (
	ConfigFile = "collector.yaml"
	InputFile  = "sample"
	OutputFile = "output"
)

// What a mounted folder has room for beyond the bounds, so that it shows when they are passed.
const (
	overDisk  = 1 << 20
	overNames = 16
)

// Limits bound one run.
type Limits struct {
	// Data is what the collector may hold of writable memory, in bytes.
	Data uint64
	// Processes counts threads as well.
	Processes uint64
	// Disk bounds everything in the folder; Output what the recorder writes.
	Disk   int64
	Output int64
	// Names bounds the files and folders in it.
	Names int64
	// Ready is how long the collector may take until it says that it is ready, Grace until it has stopped. One that has
	// told of an error before it is ready, and then nothing more for as long as Quiet, waits for what will not come.
	Ready time.Duration
	Quiet time.Duration
	Grace time.Duration
}

// DefaultLimits hold locally and on Fargate, where the task has 2 GB.
func DefaultLimits() Limits {
	return Limits{
		Data:      1 << 30,
		Processes: 512,
		Disk:      64 << 20,
		Output:    32 << 20,
		Names:     1000,
		Ready:     30 * time.Second,
		Quiet:     5 * time.Second,
		Grace:     10 * time.Second,
	}
}

// Run is what to run.
type Run struct {
	Collector string
	Config    []byte
	Input     []byte
	Duration  time.Duration
	Limits    Limits
}

// Outcome is how a run ended.
type Outcome struct {
	// Ran is true only when the collector was ready, ran for the whole duration and stopped in order.
	Ran bool `json:"ran"`
	// Executed is false when the collector was never started.
	Executed bool `json:"executed"`
	// Reason says what went wrong, when something did, and Cause what the collector itself said of it, in one line.
	Reason     string    `json:"reason"`
	Cause      string    `json:"cause"`
	StartedAt  time.Time `json:"started_at"`
	FinishedAt time.Time `json:"finished_at"`
	// Confinement names what held the collector.
	Confinement string `json:"confinement"`
	Stderr      []byte `json:"-"`
	Output      []byte `json:"-"`
}

// Do runs the collector. Cancelling ctx kills it. An error is a fault of the machine, not of what was run.
func Do(ctx context.Context, run Run) (*Outcome, error) {
	var failures []error
	for _, tier := range tiers() {
		outcome, err := try(ctx, run, tier)
		var unable *unableError
		if errors.As(err, &unable) {
			failures = append(failures, fmt.Errorf("%s: %w", tier.name, err))
			continue
		}
		return outcome, err
	}
	return &Outcome{
		Reason: fmt.Sprintf("this machine has no means to confine a collector: %v", errors.Join(failures...)),
	}, nil
}

// unableError says that a tier's means are not to be had here.
type unableError struct{ err error }

func (e *unableError) Error() string { return e.err.Error() }
func (e *unableError) Unwrap() error { return e.err }

// try runs the collector in one tier.
func try(ctx context.Context, run Run, tier tier) (*Outcome, error) {
	root, err := newRoot(run, tier)
	if err != nil {
		return nil, err
	}
	defer root.remove()
	collector, err := launch(run, tier, root)
	if err != nil {
		return nil, err
	}
	outcome := &Outcome{Executed: true, Confinement: tier.name, StartedAt: time.Now().UTC()}
	outcome.Reason = collector.live(ctx, run, root)
	outcome.FinishedAt = time.Now().UTC()
	outcome.Ran = outcome.Reason == ""
	outcome.Stderr = asText(root.hideIn(collector.stderr.bytes()))
	if !outcome.Ran {
		outcome.Cause = cause(outcome.Stderr)
	}
	if outcome.Output, err = root.output(run.Limits.Output); err != nil {
		return nil, err
	}
	outcome.Output = asText(outcome.Output)
	return outcome, nil
}

// asText is UTF-8 without making it longer: a processor may cut a text within a character.
func asText(text []byte) []byte {
	return bytes.ToValidUTF8(text, []byte("?"))
}

// collector is a running process.
type collector struct {
	command *exec.Cmd
	stderr  *tail
	ended   chan struct{}
	state   error
	kill    sync.Once
}

// live sees the collector through: ready, the duration, an orderly stop. It returns what went wrong, or nothing.
func (c *collector) live(ctx context.Context, run Run, root *root) string {
	defer c.end()
	poll := time.NewTicker(root.interval())
	defer poll.Stop()
	born := time.Now()
	deadline := time.NewTimer(run.Limits.Ready)
	defer deadline.Stop()
	ready, stopping := c.stderr.ready, false
	for {
		select {
		case <-ctx.Done():
			return "the run was called off"
		case <-c.ended:
			if stopping && c.state == nil {
				return root.overLimit(run.Limits)
			}
			if reason := root.overLimit(run.Limits); reason != "" {
				return reason
			}
			return fmt.Sprintf("the collector %s after %.1f s%s",
				c.howItEnded(), time.Since(born).Seconds(), c.forWantOfMemory(run.Limits))
		case <-ready:
			ready = nil
			deadline.Reset(run.Duration)
		case <-deadline.C:
			if ready != nil {
				return fmt.Sprintf("the collector was not ready within %.0f s", run.Limits.Ready.Seconds())
			}
			if stopping {
				return fmt.Sprintf("the collector did not stop within %.0f s of being asked to", run.Limits.Grace.Seconds())
			}
			stopping = true
			deadline.Reset(run.Limits.Grace)
			if err := c.command.Process.Signal(syscall.SIGINT); err != nil && !errors.Is(err, os.ErrProcessDone) {
				return "the collector could not be asked to stop: " + err.Error()
			}
		case <-poll.C:
			if reason := root.overLimit(run.Limits); reason != "" {
				return reason
			}
			if ready != nil && c.stderr.quiet() > run.Limits.Quiet && cause(c.stderr.bytes()) != "" {
				return fmt.Sprintf("the collector did not become ready in %.0f s", time.Since(born).Seconds())
			}
		}
	}
}

// end kills whatever is left of the collector, and waits until it is gone.
func (c *collector) end() {
	c.kill.Do(func() {
		// The group, for what it may have started; in a process namespace the first process takes all with it.
		_ = syscall.Kill(-c.command.Process.Pid, syscall.SIGKILL)
		<-c.ended
	})
}

func (c *collector) howItEnded() string {
	var exit *exec.ExitError
	if !errors.As(c.state, &exit) {
		if c.state == nil {
			return "exited with status 0"
		}
		return c.state.Error()
	}
	if status, isUnix := exit.Sys().(syscall.WaitStatus); isUnix && status.Signaled() {
		return "was killed by " + status.Signal().String()
	}
	return fmt.Sprintf("exited with status %d", exit.ExitCode())
}

// shortOfMemory are the words in which a Go program, or its C library, says that it was given no more memory.
var shortOfMemory = []string{"out of memory", "cannot allocate memory", "pthread_create failed"}

func (c *collector) forWantOfMemory(limits Limits) string {
	text := string(c.stderr.bytes())
	for _, words := range shortOfMemory {
		if strings.Contains(text, words) {
			return fmt.Sprintf(", out of its %d MB of memory", limits.Data>>20)
		}
	}
	return ""
}
