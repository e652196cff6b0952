package sandbox

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	// The root directory has no time zones, so they are embedded.
	_ "time/tzdata"

	"github.com/spf13/cobra"
)

// NewCommand returns the command `sandbox`: one test run, whose task it reads from a signed link. The container on
// Fargate and the local service execute it.
func NewCommand() *cobra.Command {
	var local bool
	command := &cobra.Command{
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
			if local {
				return doLocally(ctx, os.Stdin, os.Stdout)
			}
			return do(ctx)
		},
	}
	command.Flags().BoolVar(&local, "local", false, "read cases on standard input, and write results on standard output")
	return command
}

// local is a line of cases for a run on this machine, without links.
type local struct {
	Cases
	// Collectors are the programs of the cases' versions.
	Collectors    map[string]string `json:"collectors"`
	BudgetSeconds int               `json:"budget_seconds"`
}

// doLocally carries out the cases in the first line of the input, and writes a line for each result. If the input ends
// before it is done, it stops.
func doLocally(ctx context.Context, input io.Reader, output io.Writer) error {
	reader := bufio.NewReaderSize(io.LimitReader(input, largestCases), 1<<20)
	line, err := reader.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("reading the cases, a line of up to %d bytes: %w", largestCases, err)
	}
	var asked local
	if err := json.Unmarshal(line, &asked); err != nil {
		return errors.New("the cases are not valid JSON")
	}
	if err := asked.validate(); err != nil {
		return err
	}
	if asked.BudgetSeconds < 1 || time.Duration(asked.BudgetSeconds)*time.Second > longest {
		return fmt.Errorf("budget_seconds is not between 1 and %.0f", longest.Seconds())
	}
	find := func(version string) (path, reason string) {
		if path, given := asked.Collectors[version]; given {
			return path, ""
		}
		return "", fmt.Sprintf("collector %s is not installed on this machine", version)
	}
	budget := time.Duration(asked.BudgetSeconds) * time.Second
	results, err := DoCases(untilEnd(ctx, reader), &asked.Cases, find, DefaultLimits(), budget)
	if err != nil {
		return err
	}
	encoded, err := encode(results, largestResults)
	if err != nil {
		return err
	}
	_, err = output.Write(encoded)
	return err
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
