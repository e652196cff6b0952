package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// task is a run or a job: signed links for its files only. HEADGATE_RUN_TASK_URL is the link of its JSON.
type task struct {
	// Get are links to its input files, and Post forms that store its results; both by the file's name.
	Get  map[string]string `json:"get"`
	Post map[string]form   `json:"post"`
	// Collectors are those of its versions that are not installed here, and BudgetSeconds is the time for all cases together.
	Collectors    map[string]*source `json:"collectors"`
	BudgetSeconds int                `json:"budget_seconds"`
}

const largestTask = 64 << 10

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
	return &asked, nil
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
