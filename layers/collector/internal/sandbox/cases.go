package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// Files of a job, and their maximum sizes.
const (
	casesFile   = "cases"
	resultsFile = "results"

	largestCases   = 64 << 20
	largestResults = 60 << 20
	largestID      = 200
	mostCases      = 200
)

// Case is one run of many: a configuration, the name of its input, and variables.
type Case struct {
	ID               string   `json:"id"`
	CollectorVersion string   `json:"collector_version"`
	CollectorYAML    string   `json:"collector_yaml"`
	Input            string   `json:"input"`
	SampleName       string   `json:"sample_name"`
	FeatureGates     []string `json:"feature_gates"`
	DurationSeconds  int      `json:"duration_seconds"`
	// IdleMilliseconds is for how long a collector that has read its input does nothing if it is done; 0 for a case that has
	// to run for its duration.
	IdleMilliseconds int `json:"idle_milliseconds"`
	// Env is the collector's whole environment.
	Env map[string]string `json:"env"`
	// Trace asks for the steps.
	Trace bool `json:"trace"`
}

// Cases are those of a job, and the inputs that they name.
type Cases struct {
	Cases  []Case            `json:"cases"`
	Inputs map[string]string `json:"inputs"`
}

// CaseResult is what came of a case: a line of the job's results.
type CaseResult struct {
	ID      string   `json:"id"`
	Outcome *Outcome `json:"outcome"`
	Output  string   `json:"output"`
	Stderr  string   `json:"stderr"`
	// Steps is the trace, if it was asked for.
	Steps string `json:"steps,omitempty"`
}

// errAgain is why a case is run once more, when no other runs beside it: what ended it may have been its neighbours.
var errAgain = errors.New("the machine was short of memory or time")

// sideBySide is how many collectors run at once. Most of the time of a case is waiting, so there are more of them than
// processors; together they stay within the memory of the task on Fargate.
func sideBySide() int { return max(2, min(4, 2*runtime.NumCPU())) }

// validate returns what is wrong with the cases.
func (c *Cases) validate() error {
	if len(c.Cases) > mostCases {
		return fmt.Errorf("there are %d cases, at most %d may be", len(c.Cases), mostCases)
	}
	known := map[string]bool{}
	for _, one := range c.Cases {
		_, given := c.Inputs[one.Input]
		switch {
		case one.ID == "" || len(one.ID) > largestID || known[one.ID]:
			return fmt.Errorf("the id %.40q is empty, too long or used twice", one.ID)
		case one.DurationSeconds < 1 || time.Duration(one.DurationSeconds)*time.Second > longest:
			return fmt.Errorf("case %q: duration_seconds is not between 1 and %.0f", one.ID, longest.Seconds())
		case one.IdleMilliseconds < 0 || time.Duration(one.IdleMilliseconds)*time.Millisecond > longest:
			return fmt.Errorf("case %q: idle_milliseconds is not between 0 and %d", one.ID, longest.Milliseconds())
		case one.CollectorVersion == "" || filepath.Base(one.CollectorVersion) != one.CollectorVersion:
			return fmt.Errorf("case %q: collector_version is not a version", one.ID)
		case !given:
			return fmt.Errorf("case %q: its input is not given", one.ID)
		}
		known[one.ID] = true
	}
	return nil
}

// Finder finds the program of a version. It returns a reason if there is none.
type Finder func(version string) (path, reason string)

// DoCases runs the cases, several at once, each in a sandbox and a process of its own, so that none can change what comes
// of another. Within the budget it gives each a result, in their order: also those that had no time left.
//
// Cancelling ctx kills what runs. An error means that the machine failed.
func DoCases(ctx context.Context, cases *Cases, find Finder, limits Limits, budget time.Duration) ([]CaseResult, error) {
	ctx, cancel := context.WithTimeout(ctx, budget)
	defer cancel()
	results := make([]CaseResult, len(cases.Cases))
	next := make(chan int)
	var running sync.WaitGroup
	var mutex sync.Mutex
	var failures []error
	var again []int
	for range min(sideBySide(), len(cases.Cases)) {
		running.Add(1)
		go func() {
			defer running.Done()
			for place := range next {
				result, err := cases.do(ctx, place, find, limits)
				mutex.Lock()
				switch {
				case errors.Is(err, errAgain):
					// One that was alone had no neighbours.
					if len(cases.Cases) > 1 {
						again = append(again, place)
					}
				case err != nil:
					failures = append(failures, err)
					cancel()
				}
				results[place] = result
				mutex.Unlock()
			}
		}()
	}
	for place := range cases.Cases {
		next <- place
	}
	close(next)
	running.Wait()
	if len(failures) > 0 {
		return nil, errors.Join(failures...)
	}
	for _, place := range again {
		result, err := cases.do(ctx, place, find, limits)
		if err != nil && !errors.Is(err, errAgain) {
			return nil, err
		}
		// Without time left, the first result stands.
		if result.Outcome.Executed {
			results[place] = result
		}
	}
	return results, nil
}

// do runs one case. With errAgain comes a result too.
func (c *Cases) do(ctx context.Context, place int, find Finder, limits Limits) (CaseResult, error) {
	one := c.Cases[place]
	result := CaseResult{ID: one.ID, Outcome: &Outcome{}}
	program, reason := find(one.CollectorVersion)
	if reason != "" {
		result.Outcome.Reason = reason
		return result, nil
	}
	if ctx.Err() != nil {
		result.Outcome.Reason = noTime
		return result, nil
	}
	outcome, err := Do(ctx, Run{
		Collector: program, Config: []byte(one.CollectorYAML), Input: []byte(c.Inputs[one.Input]), InputName: one.SampleName,
		FeatureGates: one.FeatureGates, Duration: time.Duration(one.DurationSeconds) * time.Second,
		Idle: time.Duration(one.IdleMilliseconds) * time.Millisecond, Env: one.Env, Trace: one.Trace, Limits: limits,
	})
	if err != nil {
		return result, err
	}
	if ctx.Err() != nil && !outcome.Ran {
		outcome.Reason, outcome.Cause = noTime, ""
	}
	outcome.Reason = inOneLine(outcome.Reason)
	result.Outcome, result.Output, result.Stderr = outcome, string(outcome.Output), string(outcome.Stderr)
	result.Steps = string(outcome.Steps)
	outcome.Output, outcome.Stderr, outcome.Steps = nil, nil, nil
	if outcome.Short && ctx.Err() == nil {
		return result, errAgain
	}
	return result, nil
}

const (
	noTime = "the time for all cases together was used up; run fewer cases at once, or shorter ones"
	noRoom = "the outputs of all cases together exceeded"
)

// CrowdedOut tells whether a case has no result because of the other cases or the machine, by the reason of its outcome:
// also one whose collector was killed from outside or not ready in time, though it was run again alone.
func CrowdedOut(reason string) bool {
	return slices.ContainsFunc([]string{noTime, noRoom, notReady, wasKilled}, func(words string) bool {
		return strings.HasPrefix(reason, words)
	})
}

// encode returns the results as JSON lines. A result for which there is no room is replaced by one that says so.
func encode(results []CaseResult, limit int) ([]byte, error) {
	var all, line bytes.Buffer
	// Each of the others needs room for as much as says that there was none.
	const least = 2_500
	plain := json.NewEncoder(&line)
	plain.SetEscapeHTML(false)
	for place, result := range results {
		line.Reset()
		if err := plain.Encode(result); err != nil {
			return nil, err
		}
		if all.Len()+line.Len()+least*(len(results)-place-1) > limit {
			line.Reset()
			outcome := *result.Outcome
			outcome.Ran, outcome.Cause = false, ""
			outcome.Reason = fmt.Sprintf("%s %d MB; run fewer cases at once", noRoom, limit>>20)
			if err := plain.Encode(CaseResult{ID: result.ID, Outcome: &outcome}); err != nil {
				return nil, err
			}
		}
		all.Write(line.Bytes())
	}
	return all.Bytes(), nil
}

// do fetches the task's cases, runs them and stores the results.
func (t *task) do(ctx context.Context, files *files, installed string) error {
	text, err := files.get(ctx, casesFile, t.Get[casesFile], largestCases)
	if err != nil {
		return err
	}
	var cases Cases
	if err := json.Unmarshal(text, &cases); err != nil {
		return errors.New("the cases are not valid JSON")
	}
	if err := cases.validate(); err != nil {
		return err
	}
	if t.BudgetSeconds < 1 || time.Duration(t.BudgetSeconds)*time.Second > longest {
		return fmt.Errorf("the task's budget_seconds is not between 1 and %.0f", longest.Seconds())
	}
	programs := &programs{sources: t.Collectors, installed: installed, found: map[string]found{}}
	defer programs.remove()
	budget := time.Duration(t.BudgetSeconds) * time.Second
	find := func(version string) (string, string) { return programs.find(ctx, files, version) }
	results, err := DoCases(ctx, &cases, find, DefaultLimits(), budget)
	if err != nil {
		return err
	}
	encoded, err := encode(results, largestResults)
	if err != nil {
		return err
	}
	return files.post(ctx, resultsFile, t.Post[resultsFile], encoded)
}

// programs are the collectors of a job, by version, fetched when one is first asked for.
type programs struct {
	sources   map[string]*source
	installed string
	mutex     sync.Mutex
	found     map[string]found
}

type found struct {
	path, reason string
	fetched      bool
}

func (p *programs) find(ctx context.Context, files *files, version string) (path, reason string) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	known, is := p.found[version]
	if !is {
		known.path, known.fetched, known.reason = findCollector(ctx, files, p.installed, version, p.sources[version])
		p.found[version] = known
	}
	return known.path, known.reason
}

func (p *programs) remove() {
	for _, known := range p.found {
		if known.fetched {
			_ = os.RemoveAll(filepath.Dir(known.path))
		}
	}
}
