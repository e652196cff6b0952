package sandbox

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"

	// The root directory has no time zones, so they are embedded.
	_ "time/tzdata"

	"github.com/spf13/cobra"
)

// NewCommand returns the command `sandbox`: one test run, whose task it reads from a signed link. The container on
// Fargate and the local service execute it.
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
			if os.Getenv("HEADGATE_STOP_WITH_STDIN") == "1" {
				ctx = untilEnd(ctx, os.Stdin)
			}
			return do(ctx)
		},
	}
}

// untilEnd returns a context that ends with a stream: then the process at its other end has ended.
func untilEnd(ctx context.Context, stream io.Reader) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		_, _ = io.Copy(io.Discard, stream)
		cancel()
	}()
	return ctx
}

// do carries out the run of the task at HEADGATE_RUN_TASK_URL, with the collectors under HEADGATE_COLLECTORS_DIR.
func do(ctx context.Context) error {
	link, collectors := os.Getenv("HEADGATE_RUN_TASK_URL"), os.Getenv("HEADGATE_COLLECTORS_DIR")
	for name, value := range map[string]string{"HEADGATE_RUN_TASK_URL": link, "HEADGATE_COLLECTORS_DIR": collectors} {
		if value == "" {
			return errors.New(name + " is not set")
		}
	}
	files := newFiles()
	task, err := fetchTask(ctx, files, link)
	if err != nil {
		return err
	}
	return task.do(ctx, files, collectors)
}
