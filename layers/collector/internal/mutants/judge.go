package mutants

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/headgate/headgate/layers/collector/internal/compare"
	"github.com/headgate/headgate/layers/collector/internal/evaluate"
	"github.com/headgate/headgate/layers/collector/internal/operation"
	"github.com/headgate/headgate/layers/collector/internal/rules"
	"github.com/headgate/headgate/layers/collector/internal/sandbox"
)

// judgeTime bounds one request, below the time after which the checker is killed for it.
const judgeTime = 8 * time.Second

// Run is what came of a run. Status is `ran`, `refused` or `error`, the latter two with a reason.
type Run struct {
	Status string        `json:"status"`
	Reason string        `json:"reason"`
	Output string        `json:"output"`
	Ran    *compare.Span `json:"ran"`
}

// MutantRun is the run of a mutant.
type MutantRun struct {
	ID string `json:"id"`
	Run
}

// Test is a test with the runs of the unchanged configuration, two of them, and of mutants.
type Test struct {
	Signals  []string     `json:"signals"`
	Rules    []rules.Rule `json:"rules"`
	Expected *string      `json:"expected"`
	// Ignore is for the expected output. What else is compared is compared with compare.DefaultIgnore.
	Ignore   []string    `json:"ignore"`
	Original Run         `json:"original"`
	Again    Run         `json:"again"`
	Mutants  []MutantRun `json:"mutants"`
}

// Judged is what a test noticed. A test that is not usable does not pass without a change, or not each time: Reason says
// why, and it has no verdicts. Where it is not steady, two runs put out different records, so that an output that differs
// tells nothing.
type Judged struct {
	Usable   bool      `json:"usable"`
	Reason   string    `json:"reason"`
	Steady   bool      `json:"steady"`
	Verdicts []Verdict `json:"verdicts"`
}

// Verdict is what a test made of a mutant. Noticed are the names of the rules that failed, or what else did.
type Verdict struct {
	ID      string   `json:"id"`
	Outcome Outcome  `json:"outcome"`
	Noticed []string `json:"noticed"`
	// Suggested is a rule that passes on the output of the unchanged configuration, and fails on the mutant's.
	Suggested *rules.Rule `json:"suggested"`
}

// Outcome is what became of a mutant.
type Outcome string

// The outcomes of a mutant.
const (
	// Killed: a rule or the expected output noticed it, or the run ended in error.
	Killed Outcome = "killed"
	// Survived: it changes the output, and nothing noticed.
	Survived Outcome = "survived"
	// Unreached: the output is the same, so no sample reaches it.
	Unreached Outcome = "unreached"
	// NotLoaded: the run did not start, so it is not a mutant.
	NotLoaded Outcome = "not_loaded"
	// NotRun: the runs of others left no time or room for it.
	NotRun Outcome = "not_run"
)

// What notices a mutant beside rules.
const (
	byExpected = "the expected output"
	byError    = "the run, which ends in error"
)

// HandleJudge answers `mutants_judge` with Judged.
func HandleJudge(ctx context.Context, raw json.RawMessage) (any, error) {
	var test Test
	if err := json.Unmarshal(raw, &test); err != nil {
		return nil, operation.BadRequest("reading the request: %v", err)
	}
	ctx, cancel := context.WithTimeout(ctx, judgeTime)
	defer cancel()
	judged, err := Judge(ctx, test)
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, &operation.Error{Code: "too_costly", Message: fmt.Sprintf("the rules took longer than %.0f s", judgeTime.Seconds())}
	}
	return judged, err
}

// Judge judges the runs of a test's mutants.
func Judge(ctx context.Context, test Test) (*Judged, error) {
	conditions, refusals, err := rules.Compile(test.Signals, test.Rules)
	if err != nil {
		return nil, err
	}
	j := &judge{ctx: ctx, test: test, conditions: conditions}
	judged := &Judged{Verdicts: []Verdict{}}
	if len(refusals) > 0 {
		judged.Reason = fmt.Sprintf("its rule %q: %s", test.Rules[refusals[0].Index].Name, refusals[0].Message)
		return judged, nil
	}
	if judged.Reason, err = j.unusable(); err != nil || judged.Reason != "" {
		return judged, err
	}
	judged.Usable = true
	if judged.Steady, err = j.findNoise(); err != nil {
		return nil, err
	}
	for _, one := range test.Mutants {
		verdict, err := j.verdict(one)
		if err != nil {
			return nil, fmt.Errorf("mutant %s: %w", one.ID, err)
		}
		judged.Verdicts = append(judged.Verdicts, *verdict)
	}
	return judged, nil
}

type judge struct {
	ctx        context.Context
	test       Test
	conditions []rules.Condition
	// ignore are the paths that differ from run to run, and those that are ignored by default.
	ignore []string
}

// unusable returns why the test cannot tell anything, empty if it can.
func (j *judge) unusable() (string, error) {
	for i, run := range []Run{j.test.Original, j.test.Again} {
		if run.Status != "ran" {
			return fmt.Sprintf("it does not run without a change: %s", shortened(run.Reason)), nil
		}
		noticed, err := j.noticed(run)
		if err != nil {
			return "", err
		}
		if len(noticed) > 0 && i == 0 {
			return fmt.Sprintf("it does not pass without a change: %s", strings.Join(noticed, "; ")), nil
		}
		if len(noticed) > 0 {
			return fmt.Sprintf("it passes one time and fails another, without a change: %s", strings.Join(noticed, "; ")), nil
		}
	}
	return "", nil
}

// noticed are the rules of the test that fail on a run, and the expected output if it differs.
func (j *judge) noticed(run Run) ([]string, error) {
	noticed := []string{}
	verdicts, err := verdictsOn(j.ctx, run.Output, j.conditions, j.test.Rules)
	if err != nil {
		return nil, err
	}
	for i, verdict := range verdicts {
		if !verdict.Passed {
			noticed = append(noticed, j.test.Rules[i].Name)
		}
	}
	if j.test.Expected != nil {
		result, err := compare.Outputs(j.ctx, compare.Request{
			Left: *j.test.Expected, Right: run.Output, Ignore: j.test.Ignore, RightRan: run.Ran,
		})
		if err != nil {
			return nil, err
		}
		if !result.Equal {
			noticed = append(noticed, byExpected)
		}
	}
	return noticed, nil
}

func verdictsOn(
	ctx context.Context, output string, conditions []rules.Condition, of []rules.Rule,
) ([]evaluate.Verdict, error) {
	tallies := make([]rules.Tally, len(conditions))
	if len(conditions) > 0 {
		if _, err := evaluate.Count(ctx, strings.NewReader(output), conditions, tallies); err != nil {
			return nil, err
		}
	}
	verdicts := make([]evaluate.Verdict, len(conditions))
	for i, tally := range tallies {
		verdicts[i] = evaluate.NewVerdict(of[i], tally)
	}
	return verdicts, nil
}

// maxNoise is how many paths that differ from run to run are left out.
const maxNoise = 50

// findNoise compares the two runs of the unchanged configuration. It returns whether they are the same but for fields
// that differ from run to run, which are ignored from then on.
func (j *judge) findNoise() (steady bool, err error) {
	j.ignore = compare.DefaultIgnore
	result, err := j.compared(j.test.Original, j.test.Again)
	if err != nil || result.Equal {
		return err == nil, err
	}
	ignore := j.ignore[:len(j.ignore):len(j.ignore)]
	for _, summary := range result.Signals {
		if summary.Added+summary.Missing > 0 || !summary.Complete || len(summary.Fields) > maxNoise {
			return false, nil
		}
		for _, field := range summary.Fields {
			ignore = append(ignore, field.Path)
		}
	}
	j.ignore = ignore
	result, err = j.compared(j.test.Original, j.test.Again)
	if refused := (*operation.Error)(nil); errors.As(err, &refused) && refused.Code == compare.BadPath {
		j.ignore = compare.DefaultIgnore
		return false, nil
	}
	return err == nil && result.Equal, err
}

func (j *judge) compared(one, other Run) (*compare.Result, error) {
	return compare.Outputs(j.ctx, compare.Request{
		Left: one.Output, Right: other.Output, Ignore: j.ignore, LeftRan: one.Ran, RightRan: other.Ran,
	})
}

func (j *judge) verdict(mutant MutantRun) (*Verdict, error) {
	verdict := &Verdict{ID: mutant.ID, Noticed: []string{}}
	switch mutant.Status {
	case "refused":
		verdict.Outcome = NotLoaded
		return verdict, nil
	case "error":
		if sandbox.CrowdedOut(mutant.Reason) {
			verdict.Outcome = NotRun
			return verdict, nil
		}
		// A suite with such a run fails.
		verdict.Outcome, verdict.Noticed = Killed, []string{byError}
		return verdict, nil
	case "ran":
	default:
		return nil, operation.BadRequest("%q is not a status", mutant.Status)
	}
	noticed, err := j.noticed(mutant.Run)
	if err != nil {
		return nil, err
	}
	if len(noticed) > 0 {
		verdict.Outcome, verdict.Noticed = Killed, noticed
		return verdict, nil
	}
	result, err := j.compared(j.test.Original, mutant.Run)
	if err != nil {
		return nil, err
	}
	if result.Equal {
		verdict.Outcome = Unreached
		return verdict, nil
	}
	verdict.Outcome = Survived
	verdict.Suggested, err = j.suggest(mutant.Run, result)
	return verdict, err
}
