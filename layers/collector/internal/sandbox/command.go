package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	// The collector's own zones: in its root directory there are none.
	_ "time/tzdata"

	"github.com/spf13/cobra"
)

// NewCommand returns the command `sandbox`: one test run, described by the environment, its files in the bucket. It is
// what the container on Fargate executes, and the same locally.
func NewCommand() *cobra.Command {
	return &cobra.Command{
		Use:          "sandbox",
		Short:        "Runs a collector confined, for one pipeline test",
		Args:         cobra.NoArgs,
		Hidden:       true,
		SilenceUsage: true,
		RunE: func(*cobra.Command, []string) error {
			ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
			defer stop()
			task, err := taskFromEnvironment()
			if err != nil {
				return err
			}
			if task.stopWithStdin {
				ctx = untilEnd(ctx, os.Stdin)
			}
			return task.do(ctx)
		},
	}
}

// untilEnd is a context that ends with a stream: whoever holds its other end has gone.
func untilEnd(ctx context.Context, stream io.Reader) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		_, _ = io.Copy(io.Discard, stream)
		cancel()
	}()
	return ctx
}

// task is one run as the environment describes it.
type task struct {
	bucket, prefix string
	version        string
	directory      string
	duration       time.Duration
	stopWithStdin  bool
}

// taskFromEnvironment reads HEADGATE_BUCKET, HEADGATE_RUN_PREFIX (`runs/<run>`), HEADGATE_RUN_COLLECTOR_VERSION,
// HEADGATE_RUN_DURATION_SECONDS, HEADGATE_COLLECTORS_DIR and HEADGATE_STOP_WITH_STDIN.
func taskFromEnvironment() (*task, error) {
	seconds, err := strconv.Atoi(os.Getenv("HEADGATE_RUN_DURATION_SECONDS"))
	if err != nil || seconds < 1 {
		return nil, errors.New("HEADGATE_RUN_DURATION_SECONDS has to be a whole number of at least 1")
	}
	asked := &task{
		bucket:        os.Getenv("HEADGATE_BUCKET"),
		prefix:        os.Getenv("HEADGATE_RUN_PREFIX"),
		version:       os.Getenv("HEADGATE_RUN_COLLECTOR_VERSION"),
		directory:     os.Getenv("HEADGATE_COLLECTORS_DIR"),
		duration:      time.Duration(seconds) * time.Second,
		stopWithStdin: os.Getenv("HEADGATE_STOP_WITH_STDIN") == "1",
	}
	for name, value := range map[string]string{
		"HEADGATE_BUCKET": asked.bucket, "HEADGATE_RUN_PREFIX": asked.prefix,
		"HEADGATE_RUN_COLLECTOR_VERSION": asked.version, "HEADGATE_COLLECTORS_DIR": asked.directory,
	} {
		if value == "" {
			return nil, errors.New(name + " is not set")
		}
	}
	if filepath.Base(asked.version) != asked.version {
		return nil, errors.New("HEADGATE_RUN_COLLECTOR_VERSION is not a version")
	}
	return asked, nil
}

// do fetches the run's files, runs the collector, and stores what came of it; outcome.json last, as the sign that the
// rest is there.
func (t *task) do(ctx context.Context) error {
	files, err := newBucket(ctx, t.bucket, t.prefix)
	if err != nil {
		return err
	}
	outcome, err := t.outcome(ctx, files)
	if err != nil {
		return err
	}
	if err := files.put(ctx, "output", outcome.Output); err != nil {
		return err
	}
	if err := files.put(ctx, "stderr", outcome.Stderr); err != nil {
		return err
	}
	encoded, err := json.Marshal(outcome)
	if err != nil {
		return err
	}
	return files.put(ctx, "outcome.json", encoded)
}

func (t *task) outcome(ctx context.Context, files *bucket) (*Outcome, error) {
	collector := collectorPath(t.directory, t.version)
	if !exists(collector) {
		return &Outcome{Reason: fmt.Sprintf("collector %s is not installed on the test runner", t.version)}, nil
	}
	config, err := files.get(ctx, ConfigFile)
	if err != nil {
		return nil, err
	}
	input, err := files.get(ctx, "input")
	if err != nil {
		return nil, err
	}
	return Do(ctx, Run{
		Collector: collector, Config: config, Input: input, Duration: t.duration, Limits: DefaultLimits(),
	})
}
