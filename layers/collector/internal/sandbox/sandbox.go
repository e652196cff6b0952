// Package sandbox runs a collector with an untrusted configuration, for a given time and confined: no network, no
// environment but the run's own, no other program, no files but its own folder, and limited memory, threads and disk.
//
// The command that confines is this binary (`sandbox-init`); it then executes the collector in its own process. See
// internal/confine for the means.
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

	"github.com/headgate/headgate/layers/collector/internal/confine"
	"github.com/headgate/headgate/layers/collector/internal/hiding"
	"github.com/headgate/headgate/layers/collector/internal/tracefile"
)

// Files in the collector's folder. Further signals are recorded in `output.1`, `output.2` and so on.
const (
	ConfigFile = "collector.yaml"
	InputFile  = "sample"
	OutputFile = "output"
)

// Limits bound one run.
type Limits struct {
	// Data is the collector's limit of writable memory, in bytes.
	Data uint64
	// Processes is the limit of processes and threads together.
	Processes uint64
	// Disk bounds everything in the folder; Output what the recorder writes.
	Disk   int64
	Output int64
	// Names bounds the files and folders in it.
	Names int64
	// Ready is how long the collector may take to become ready, Grace to stop. If it logs an error before it is ready and
	// then nothing for as long as Quiet, it will not become ready.
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
	// InputName is the absolute path of the input in the collector's root directory; by default the input is the file
	// `sample` of its folder.
	InputName string
	// FeatureGates are set for the collector: `+one`, `-other`.
	FeatureGates []string
	// Env is the collector's whole environment. Its values are hidden in what the run tells.
	Env map[string]string
	// Trace makes a collector of ours record what goes through its components. No other collector knows how.
	Trace    bool
	Duration time.Duration
	// Idle is for how long a collector that has read its input does nothing if it is done: then it is stopped before its
	// duration is over. 0 lets it run for its duration.
	Idle   time.Duration
	Limits Limits

	// user is who the collector runs as, in tiers with another user.
	user int
}

// Outcome is how a run ended.
type Outcome struct {
	// Ran is true only if the collector became ready, ran for the whole duration or until it was done, and stopped cleanly.
	Ran bool `json:"ran"`
	// Executed is false if the collector was never started.
	Executed bool `json:"executed"`
	// Idle is set if it was stopped before its duration was over, because it was done.
	Idle bool `json:"idle"`
	// Reason is what went wrong, or empty, and Cause the collector's own error about it, in one line.
	Reason string `json:"reason"`
	Cause  string `json:"cause"`
	// Proposal tells how to test without a component that cannot work in a sandbox, if that is why the collector failed.
	Proposal   string    `json:"proposal"`
	StartedAt  time.Time `json:"started_at"`
	FinishedAt time.Time `json:"finished_at"`
	// Confinement names the means that confined the collector.
	Confinement string `json:"confinement"`
	Stderr      []byte `json:"-"`
	Output      []byte `json:"-"`
	// Short is set if the machine may have been short of what the collector needed: it was killed from outside, or did not
	// become ready in time.
	Short bool `json:"-"`
	// Steps is the trace, also of a run that failed.
	Steps []byte `json:"-"`
}

// Do runs the collector. Cancelling ctx kills it. An error means that the machine failed, not the run.
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
		Reason: fmt.Sprintf("this machine offers no way to confine a collector: %v", errors.Join(failures...)),
	}, nil
}

// Reasons of an outcome that is Short.
const (
	notReady  = "the collector was not ready within"
	wasKilled = "the collector was killed by killed"
)

// unableError means that this machine does not offer a tier's means.
type unableError struct{ err error }

func (e *unableError) Error() string { return e.err.Error() }
func (e *unableError) Unwrap() error { return e.err }

// try runs the collector in one tier.
func try(ctx context.Context, run Run, tier tier) (*Outcome, error) {
	run.user = newUser()
	if run.Trace {
		run.Limits.Disk += 2*tracefile.Largest + confine.OverDisk
	}
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
	outcome.Reason, outcome.Idle = collector.live(ctx, run, root)
	outcome.FinishedAt = time.Now().UTC()
	outcome.Ran, outcome.Short = outcome.Reason == "", collector.short
	outcome.Stderr = asText(root.hideIn(collector.stderr.hiding(hiding.New(run.Env))))
	if !outcome.Ran {
		outcome.Cause = cause(outcome.Stderr)
		outcome.Proposal = inOneLine(proposal(run.Config, outcome.Stderr))
	}
	if outcome.Output, err = root.output(run.Limits.Output); err != nil {
		return nil, err
	}
	outcome.Output = asText(outcome.Output)
	if run.Trace {
		if outcome.Steps, err = root.steps(); err != nil {
			return nil, err
		}
	}
	return outcome, nil
}

// asText returns valid UTF-8 that is not longer: a component may cut a text within a character.
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
	// short is set if the machine may have been short of what it needed.
	short bool
}

// live waits for the collector to become ready, to run for its duration or until it is done, and to stop. It returns what
// went wrong, or "", and whether it was done before its time.
func (c *collector) live(ctx context.Context, run Run, root *root) (reason string, idle bool) {
	defer c.end()
	poll := time.NewTicker(root.interval())
	defer poll.Stop()
	look, still := c.watch(run, root)
	if still != nil {
		defer look.Stop()
		defer still.close()
	}
	born := time.Now()
	deadline := time.NewTimer(run.Limits.Ready)
	defer deadline.Stop()
	ready, stopping := c.stderr.ready, false
	for {
		select {
		case <-ctx.Done():
			return "the run was cancelled", false
		case <-c.ended:
			// What ends the collector after its shutdown cannot change the output: a goroutine that nothing waits for may
			// still send records to an exporter that is gone.
			if stopping && (c.state == nil || c.stderr.hasStopped()) {
				return root.overLimit(run.Limits), idle
			}
			if reason := root.overLimit(run.Limits); reason != "" {
				return reason, false
			}
			c.short = c.wasKilled()
			return fmt.Sprintf("the collector %s after %.1f s%s",
				c.howItEnded(), time.Since(born).Seconds(), c.forWantOfMemory(run.Limits)), false
		case <-ready:
			ready = nil
			deadline.Reset(run.Duration)
		case <-look.C:
			if ready != nil || stopping || !still.reached(root.recordedBytes()) {
				continue
			}
			stopping, idle = true, true
			deadline.Reset(run.Limits.Grace)
			if reason := c.interrupt(); reason != "" {
				return reason, false
			}
		case <-deadline.C:
			if ready != nil {
				c.short = true
				return fmt.Sprintf("%s %.0f s", notReady, run.Limits.Ready.Seconds()), false
			}
			if stopping {
				return fmt.Sprintf("the collector did not stop within %.0f s of the interrupt signal", run.Limits.Grace.Seconds()), false
			}
			stopping = true
			deadline.Reset(run.Limits.Grace)
			if reason := c.interrupt(); reason != "" {
				return reason, false
			}
		case <-poll.C:
			if reason := root.overLimit(run.Limits); reason != "" {
				return reason, false
			}
			if ready != nil && c.stderr.quiet() > run.Limits.Quiet && cause(c.stderr.bytes()) != "" {
				return fmt.Sprintf("the collector did not become ready in %.0f s", time.Since(born).Seconds()), false
			}
		}
	}
}

// watch begins to look for a collector that is done. Without that, or if the machine does not tell, it runs for its
// duration: the ticker never ticks then.
func (c *collector) watch(run Run, root *root) (*time.Ticker, *stillness) {
	if run.Idle > 0 {
		still, err := watchSample(root.sample(run), c.command.Process.Pid, run.Idle)
		if err == nil {
			return time.NewTicker(lookEvery), still
		}
	}
	return &time.Ticker{}, nil
}

// interrupt asks the collector to stop. It returns what went wrong, or "".
func (c *collector) interrupt() string {
	c.stderr.awaitStop()
	if err := c.command.Process.Signal(syscall.SIGINT); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return "the collector could not be signalled to stop: " + err.Error()
	}
	return ""
}

// end kills the collector if it still runs, and waits for its end.
func (c *collector) end() {
	c.kill.Do(func() {
		// The whole group. In a process namespace, the end of the first process ends all others.
		_ = syscall.Kill(-c.command.Process.Pid, syscall.SIGKILL)
		<-c.ended
	})
}

// wasKilled reports whether the kernel killed it, which it does if the machine has no memory left.
func (c *collector) wasKilled() bool {
	var exit *exec.ExitError
	if !errors.As(c.state, &exit) {
		return false
	}
	status, isUnix := exit.Sys().(syscall.WaitStatus)
	return isUnix && status.Signaled() && status.Signal() == syscall.SIGKILL
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

// shortOfMemory are the messages of Go and of the C library when the system grants no more memory.
var shortOfMemory = []string{"out of memory", "cannot allocate memory", "pthread_create failed"}

func (c *collector) forWantOfMemory(limits Limits) string {
	text := string(c.stderr.bytes())
	for _, words := range shortOfMemory {
		if strings.Contains(text, words) {
			return fmt.Sprintf(", because it used up its %d MB of memory", limits.Data>>20)
		}
	}
	return ""
}
