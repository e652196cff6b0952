package mutants

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/headgate/headgate/layers/collector/internal/operation"
	"github.com/headgate/headgate/layers/collector/internal/rules"
)

// ScoreRequest holds the mutants, without their texts, and what each test made of them; and the counts of Result.
type ScoreRequest struct {
	Mutants  []Mutant     `json:"mutants"`
	Tests    []TestJudged `json:"tests"`
	Places   int          `json:"places"`
	Refused  int          `json:"refused"`
	LeftOut  int          `json:"left_out"`
	Untested []string     `json:"untested"`
}

// TestJudged is a test with its name.
type TestJudged struct {
	Name string `json:"name"`
	Judged
}

// Score is the coverage of a configuration by its tests.
type Score struct {
	// Score is the percentage of the mutants that change an output which a test noticed, rounded down to a tenth. It is
	// null if there are none, or no test is usable; Reason says so.
	Score  *float64 `json:"score"`
	Reason string   `json:"reason"`

	Killed    int `json:"killed"`
	Survived  int `json:"survived"`
	Unreached int `json:"unreached"`
	// Places counts the places at which something can be changed; NotLoaded, those where the collector would not load the
	// result; LeftOut, those that were not tried, or not by all tests that reach them for want of time.
	Places    int `json:"places"`
	NotLoaded int `json:"not_loaded"`
	LeftOut   int `json:"left_out"`
	// UntestedPipelines are those that no test runs. Nothing in them was changed.
	UntestedPipelines []string     `json:"untested_pipelines"`
	Tests             []TestScore  `json:"tests"`
	Mutants           []MutantJury `json:"mutants"`
}

// TestScore is what a test contributes. One that is not usable has a reason.
type TestScore struct {
	Name   string `json:"name"`
	Usable bool   `json:"usable"`
	Reason string `json:"reason"`
	Steady bool   `json:"steady"`
	Killed int    `json:"killed"`
}

// MutantJury is a mutant and what became of it.
type MutantJury struct {
	ID          string    `json:"id"`
	Kind        Kind      `json:"kind"`
	Component   string    `json:"component"`
	Line        int       `json:"line"`
	Column      int       `json:"column"`
	Description string    `json:"description"`
	Outcome     Outcome   `json:"outcome"`
	NoticedBy   []Noticed `json:"noticed_by"`
	// WouldNotice tells what a test lacks to notice it, empty if one does.
	WouldNotice string `json:"would_notice"`
	// Suggested is a rule that notices it.
	Suggested *Suggestion `json:"suggested_rule"`
}

// Noticed is what noticed a mutant: a rule of a test, or what else stands in place of its name.
type Noticed struct {
	Test string `json:"test"`
	Rule string `json:"rule"`
}

// Suggestion is a rule for a test, which passes without the change and fails with it.
type Suggestion struct {
	Test string `json:"test"`
	rules.Rule
}

// HandleScore answers `mutants_score` with a Score.
func HandleScore(_ context.Context, raw json.RawMessage) (any, error) {
	var request ScoreRequest
	if err := json.Unmarshal(raw, &request); err != nil {
		return nil, operation.BadRequest("reading the request: %v", err)
	}
	return NewScore(request), nil
}

// NewScore makes one document of what all tests made of the mutants.
func NewScore(request ScoreRequest) *Score {
	score := &Score{
		Places: request.Places, NotLoaded: request.Refused, LeftOut: request.LeftOut, UntestedPipelines: request.Untested,
		Tests: []TestScore{}, Mutants: []MutantJury{},
	}
	if score.UntestedPipelines == nil {
		score.UntestedPipelines = []string{}
	}
	verdicts := map[string][]Verdict{}
	byTest := map[string][]string{}
	usable := false
	for _, test := range request.Tests {
		told := TestScore{Name: test.Name, Usable: test.Usable, Reason: test.Reason, Steady: test.Steady}
		usable = usable || test.Usable
		for _, verdict := range test.Verdicts {
			verdicts[verdict.ID] = append(verdicts[verdict.ID], verdict)
			byTest[verdict.ID] = append(byTest[verdict.ID], test.Name)
			if verdict.Outcome == Killed {
				told.Killed++
			}
		}
		score.Tests = append(score.Tests, told)
	}
	for _, mutant := range request.Mutants {
		score.add(mutant, verdicts[mutant.ID], byTest[mutant.ID])
	}
	switch counted := score.Killed + score.Survived; {
	case !usable:
		score.Reason = "no test passes without a change"
	case counted == 0 && score.Unreached > 0:
		score.Reason = "no change of the configuration changes an output: no sample reaches what it does"
	case counted == 0:
		score.Reason = "there is nothing in the pipelines that the tests run which can be left out"
	default:
		percent := math.Floor(1000*float64(score.Killed)/float64(counted)) / 10
		score.Score = &percent
	}
	return score
}

// add adds a mutant. It is killed if any test noticed it, and not loaded if any test could not start it.
func (s *Score) add(mutant Mutant, verdicts []Verdict, tests []string) {
	jury := MutantJury{
		ID: mutant.ID, Kind: mutant.Kind, Component: mutant.Component, Line: mutant.Line, Column: mutant.Column,
		Description: mutant.Description, Outcome: Unreached, NoticedBy: []Noticed{}, WouldNotice: mutant.WouldNotice,
	}
	if len(verdicts) == 0 {
		return // no test that reaches it is usable
	}
	notRun := false
	for i, verdict := range verdicts {
		notRun = notRun || verdict.Outcome == NotRun
		switch {
		case verdict.Outcome == NotLoaded:
			s.NotLoaded++
			return
		case verdict.Outcome == Killed:
			jury.Outcome = Killed
			for _, rule := range verdict.Noticed {
				jury.NoticedBy = append(jury.NoticedBy, Noticed{tests[i], rule})
			}
		case verdict.Outcome == Survived && jury.Outcome != Killed:
			jury.Outcome = Survived
			if verdict.Suggested != nil && jury.Suggested == nil {
				jury.Suggested = &Suggestion{tests[i], *verdict.Suggested}
			}
		}
	}
	if notRun && jury.Outcome != Killed {
		s.LeftOut++
		return
	}
	switch jury.Outcome {
	case Killed:
		s.Killed++
		jury.WouldNotice, jury.Suggested = "", nil
	case Survived:
		s.Survived++
		if jury.Suggested != nil {
			jury.WouldNotice = jury.Suggested.text()
		}
	default:
		s.Unreached++
		jury.WouldNotice = "no sample reaches it: " + strings.TrimPrefix(jury.WouldNotice, "no sample reaches it: ")
	}
	s.Mutants = append(s.Mutants, jury)
}

func (s *Suggestion) text() string {
	expect := "expect: none"
	if s.Expect == rules.ExpectCount {
		expect = fmt.Sprintf("expect: count, min: %d, max: %d", *s.Min, *s.Max)
	}
	return fmt.Sprintf("a rule such as %s (%s) in the test %s", shortened(s.Condition), expect, shortened(s.Test))
}
