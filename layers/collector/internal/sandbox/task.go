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

// task is one run: what to run, and signed links for its files only. HEADGATE_RUN_TASK_URL is the link of its JSON.
type task struct {
	CollectorVersion string `json:"collector_version"`
	DurationSeconds  int    `json:"duration_seconds"`
	// SampleName is where the collector finds the sample, an absolute path, or empty; FeatureGates are set for it.
	SampleName   string   `json:"sample_name"`
	FeatureGates []string `json:"feature_gates"`
	// Trace asks for the file `steps`.
	Trace bool `json:"trace"`
	// Get are links to the run's input files, with `env` only if there are variables: they are not in the task, which
	// stays longer than they do. Post are forms that store its results; both by the file's name.
	Get  map[string]string `json:"get"`
	Post map[string]form   `json:"post"`
	// Collector is where the collector is if it is not installed here.
	Collector *source `json:"collector"`
	// A task whose files to get are `cases` is a job: Collectors are those of its versions that are not installed here, and
	// BudgetSeconds is the time for all cases together.
	Collectors    map[string]*source `json:"collectors"`
	BudgetSeconds int                `json:"budget_seconds"`
}

// isJob reports whether the task has many cases.
func (t *task) isJob() bool { return t.Get[casesFile] != "" }

// Files of a run, and their maximum sizes. The signed forms limit stored files as well.
const (
	inputFile   = "input"
	envFile     = "env"
	stderrFile  = "stderr"
	outcomeFile = "outcome.json"
	stepsFile   = "steps"

	largestTask = 64 << 10
	largestText = 16 << 20
	// JSON takes six bytes at most for one of a text of 128 KB.
	largestEnv = 1 << 20
)

// longest is more than any run takes.
const longest = 10 * time.Minute

// fetchTask reads the task from its link.
func fetchTask(ctx context.Context, files *files, link string) (*task, error) {
	text, err := files.get(ctx, "the task", link, largestTask)
	if err != nil {
		return nil, err
	}
	var asked task
	if err := json.Unmarshal(text, &asked); err != nil {
		return nil, errors.New("the task is not valid JSON")
	}
	if asked.isJob() {
		return &asked, nil
	}
	if asked.DurationSeconds < 1 || time.Duration(asked.DurationSeconds)*time.Second > longest {
		return nil, fmt.Errorf("the task's duration_seconds is not between 1 and %.0f", longest.Seconds())
	}
	if asked.CollectorVersion == "" || filepath.Base(asked.CollectorVersion) != asked.CollectorVersion {
		return nil, errors.New("the task's collector_version is not a version")
	}
	return &asked, nil
}

// do fetches the run's files, runs the collector and stores the results; outcome.json last, as the sign that all others
// are stored.
func (t *task) do(ctx context.Context, files *files, collectors string) error {
	if t.isJob() {
		return t.doCases(ctx, files, collectors)
	}
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
	if t.Trace {
		if err := files.post(ctx, stepsFile, t.Post[stepsFile], outcome.Steps); err != nil {
			return err
		}
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
	collector, fetched, reason := findCollector(ctx, files, collectors, t.CollectorVersion, t.Collector)
	if reason != "" {
		return &Outcome{Reason: reason}, nil
	}
	if fetched {
		defer os.RemoveAll(filepath.Dir(collector))
	}
	config, err := files.get(ctx, ConfigFile, t.Get[ConfigFile], largestText)
	if err != nil {
		return nil, err
	}
	input, err := files.get(ctx, inputFile, t.Get[inputFile], largestText)
	if err != nil {
		return nil, err
	}
	env, err := t.env(ctx, files)
	if err != nil {
		return nil, err
	}
	return Do(ctx, Run{
		Collector: collector, Config: config, Input: input, InputName: t.SampleName, FeatureGates: t.FeatureGates,
		Env: env, Trace: t.Trace, Duration: time.Duration(t.DurationSeconds) * time.Second, Limits: DefaultLimits(),
	})
}

// env fetches the collector's variables. Its error has nothing of their values.
func (t *task) env(ctx context.Context, files *files) (map[string]string, error) {
	link, given := t.Get[envFile]
	if !given {
		return nil, nil
	}
	text, err := files.get(ctx, "the variables", link, largestEnv)
	if err != nil {
		return nil, err
	}
	var env map[string]string
	if err := json.Unmarshal(text, &env); err != nil {
		return nil, errors.New("the variables are not a JSON object of texts")
	}
	return env, nil
}

// findCollector returns the program of a version: the installed one, or the one of its source, fetched into a folder of
// its own. If there is neither, it returns the reason.
func findCollector(
	ctx context.Context, files *files, installed, version string, from *source,
) (path string, fetched bool, reason string) {
	// While a version is being built on this machine, its first program answers for it.
	for _, folder := range []string{version, version + ".first"} {
		path = filepath.Join(installed, folder, "otelcol-contrib")
		if _, err := os.Stat(path); err == nil {
			return path, false, ""
		}
	}
	if from == nil {
		return "", false, fmt.Sprintf("collector %s is not installed on the test runner", version)
	}
	path, err := from.fetch(ctx, files)
	if err != nil {
		return "", false, fmt.Sprintf("collector %s could not be fetched: %v", version, err)
	}
	return path, true, ""
}
