package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// task is one run: what to run, and links that serve for its own files and nothing else. It is what the run's link
// (HEADGATE_RUN_TASK_URL) leads to, in JSON.
type task struct {
	CollectorVersion string `json:"collector_version"`
	DurationSeconds  int    `json:"duration_seconds"`
	// Get are links to what the run needs, Post forms that store what came of it; both by the file's name.
	Get  map[string]string `json:"get"`
	Post map[string]form   `json:"post"`
}

// Files of a run, and how large they may be: what is fetched is bounded here, what is stored by the form too.
const (
	inputFile   = "input"
	stderrFile  = "stderr"
	outcomeFile = "outcome.json"

	largestTask = 64 << 10
	largestText = 16 << 20
)

// longest is more than any run takes.
const longest = 10 * time.Minute

// fetchTask reads the task behind a link.
func fetchTask(ctx context.Context, files *files, link string) (*task, error) {
	text, err := files.get(ctx, "the task", link, largestTask)
	if err != nil {
		return nil, err
	}
	var asked task
	if err := json.Unmarshal(text, &asked); err != nil {
		return nil, errors.New("the task is not one")
	}
	if asked.DurationSeconds < 1 || time.Duration(asked.DurationSeconds)*time.Second > longest {
		return nil, errors.New("the task's duration_seconds has to be a whole number of at least 1")
	}
	if asked.CollectorVersion == "" || filepath.Base(asked.CollectorVersion) != asked.CollectorVersion {
		return nil, errors.New("the task's collector_version is not a version")
	}
	return &asked, nil
}

// do fetches the run's files, runs the collector, and stores what came of it; outcome.json last, as the sign that the
// rest is there.
func (t *task) do(ctx context.Context, files *files, collectors string) error {
	outcome, err := t.outcome(ctx, files, collectors)
	if err != nil {
		return err
	}
	if err := files.post(ctx, OutputFile, t.Post[OutputFile], outcome.Output); err != nil {
		return err
	}
	if err := files.post(ctx, stderrFile, t.Post[stderrFile], outcome.Stderr); err != nil {
		return err
	}
	outcome.Reason = inOneLine(outcome.Reason)
	var encoded bytes.Buffer
	plain := json.NewEncoder(&encoded)
	plain.SetEscapeHTML(false)
	if err := plain.Encode(outcome); err != nil {
		return err
	}
	return files.post(ctx, outcomeFile, t.Post[outcomeFile], encoded.Bytes())
}

func (t *task) outcome(ctx context.Context, files *files, collectors string) (*Outcome, error) {
	collector := filepath.Join(collectors, t.CollectorVersion, "otelcol-contrib")
	if _, err := os.Stat(collector); err != nil {
		return &Outcome{Reason: fmt.Sprintf("collector %s is not installed on the test runner", t.CollectorVersion)}, nil
	}
	config, err := files.get(ctx, ConfigFile, t.Get[ConfigFile], largestText)
	if err != nil {
		return nil, err
	}
	input, err := files.get(ctx, inputFile, t.Get[inputFile], largestText)
	if err != nil {
		return nil, err
	}
	return Do(ctx, Run{
		Collector: collector, Config: config, Input: input,
		Duration: time.Duration(t.DurationSeconds) * time.Second, Limits: DefaultLimits(),
	})
}
