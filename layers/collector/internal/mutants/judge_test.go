package mutants

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/headgate/headgate/layers/collector/internal/rules"
)

// record is a log record as a recorder writes it.
func record(body string, attributes ...string) string {
	var pairs []string
	for i := 0; i+1 < len(attributes); i += 2 {
		pairs = append(pairs, fmt.Sprintf(`{"key":%q,"value":{"stringValue":%q}}`, attributes[i], attributes[i+1]))
	}
	return fmt.Sprintf(`{"resourceLogs":[{"resource":{},"scopeLogs":[{"scope":{},"logRecords":[{"timeUnixNano":"7","body":{"stringValue":%q},"attributes":[%s]}]}]}]}`+"\n",
		body, strings.Join(pairs, ","))
}

func ran(output string) Run { return Run{Status: "ran", Output: output} }

var keepsA = rules.Rule{Name: "a stays", Context: "log", Condition: `body == "a"`, Expect: "any"}

func judged(t *testing.T, test Test) *Judged {
	t.Helper()
	test.Signals = []string{"logs"}
	raw, err := json.Marshal(test)
	if err != nil {
		t.Fatal(err)
	}
	result, err := HandleJudge(context.Background(), raw)
	if err != nil {
		t.Fatal(err)
	}
	return result.(*Judged)
}

func TestWhatATestMakesOfAMutant(t *testing.T) {
	original := record("a", "x", "1") + record("b")
	expected := original
	for name, row := range map[string]struct {
		run       Run
		expected  *string
		outcome   Outcome
		noticed   []string
		suggested string
	}{
		"a rule fails":                {ran(record("b")), nil, Killed, []string{"a stays"}, ""},
		"the expected output differs": {ran(record("a", "x", "2") + record("b")), &expected, Killed, []string{byExpected}, ""},
		"the run ends in error":       {Run{Status: "error", Reason: "it crashed"}, nil, Killed, []string{byError}, ""},
		"there was no time for it":    {Run{Status: "error", Reason: "the time for all cases together was used up; run fewer cases at once, or shorter ones"}, nil, NotRun, nil, ""},
		"the machine was too slow":    {Run{Status: "error", Reason: "the collector was not ready within 30 s"}, nil, NotRun, nil, ""},
		"the machine had no memory":   {Run{Status: "error", Reason: "the collector was killed by killed after 2.0 s"}, nil, NotRun, nil, ""},
		"it is refused":               {Run{Status: "refused", Reason: "no"}, nil, NotLoaded, nil, ""},
		"the output is the same":      {ran(record("b") + record("a", "x", "1")), nil, Unreached, nil, ""},
		"another value":               {ran(record("a", "x", "2") + record("b")), nil, Survived, nil, `attributes["x"] == "1" count 1`},
		"a value more":                {ran(record("a", "x", "1") + record("b", "y", "2")), nil, Survived, nil, `attributes["y"] == "2" none`},
		"a record less":               {ran(record("a", "x", "1")), nil, Survived, nil, "true count 2"},
	} {
		t.Run(name, func(t *testing.T) {
			result := judged(t, Test{
				Rules: []rules.Rule{keepsA}, Expected: row.expected, Original: ran(original), Again: ran(original),
				Mutants: []MutantRun{{ID: "m1", Run: row.run}},
			})
			if !result.Usable || !result.Steady {
				t.Fatalf("%+v", result)
			}
			verdict := result.Verdicts[0]
			suggested := ""
			if rule := verdict.Suggested; rule != nil {
				if suggested = rule.Condition + " " + rule.Expect; rule.Min != nil {
					suggested += fmt.Sprint(" ", *rule.Min)
				}
			}
			if verdict.Outcome != row.outcome || !slices.Equal(verdict.Noticed, row.noticed) || suggested != row.suggested {
				t.Errorf("%+v %s", verdict, suggested)
			}
		})
	}
}

func TestATestThatDoesNotPassWithoutAChangeTellsNothing(t *testing.T) {
	good, other := ran(record("a")), ran(record("b"))
	for reason, test := range map[string]Test{
		"it does not pass without a change: a stays":                          {Original: other, Again: other},
		"it passes one time and fails another, without a change: a stays":     {Original: good, Again: other},
		"it does not run without a change: no":                                {Original: Run{Status: "error", Reason: "no"}, Again: good},
		`its rule "bad": condition has invalid syntax`:                        {Original: good, Again: good, Rules: []rules.Rule{{Name: "bad", Context: "log", Condition: "("}}},
		`its rule "span": the context "span" does not apply to the run's sig`: {Original: good, Again: good, Rules: []rules.Rule{{Name: "span", Context: "span", Condition: "true"}}},
		"it does not pass without a change: a stays; " + byExpected:           {Original: other, Again: other, Expected: &good.Output},
	} {
		if test.Rules == nil {
			test.Rules = []rules.Rule{keepsA}
		}
		test.Mutants = []MutantRun{{ID: "m1", Run: good}}
		if result := judged(t, test); result.Usable || len(result.Verdicts) != 0 || !strings.HasPrefix(result.Reason, reason) {
			t.Errorf("%q: %+v", reason, result)
		}
	}
}

func TestWhatDiffersFromRunToRunIsNoDifference(t *testing.T) {
	result := judged(t, Test{
		Original: ran(record("a", "id", "1")), Again: ran(record("a", "id", "2")),
		Mutants: []MutantRun{{ID: "same", Run: ran(record("a", "id", "3"))}, {ID: "other", Run: ran(record("b", "id", "3"))}},
	})
	if !result.Steady || result.Verdicts[0].Outcome != Unreached || result.Verdicts[1].Outcome != Survived {
		t.Errorf("%+v", result)
	}
	result = judged(t, Test{Original: ran(record("a")), Again: ran(record("a") + record("b")), Mutants: []MutantRun{{ID: "m", Run: ran(record("a"))}}})
	if result.Steady {
		t.Errorf("%+v", result)
	}
}

func TestAListIsSuggestedByItsLength(t *testing.T) {
	point := func(bounds, counts string) Run {
		return ran(`{"resourceMetrics":[{"resource":{},"scopeMetrics":[{"scope":{},"metrics":[{"name":"m","histogram":{"aggregationTemporality":2,` +
			`"dataPoints":[{"count":"1","explicitBounds":[` + bounds + `],"bucketCounts":[` + counts + `]}]}}]}]}]}` + "\n")
	}
	original := point("1,2", `"1","0","0"`)
	result, err := Judge(context.Background(), Test{
		Signals: []string{"metrics"}, Original: original, Again: original,
		Mutants: []MutantRun{{ID: "m", Run: point("1", `"1","0"`)}},
	})
	if err != nil || len(result.Verdicts) != 1 || result.Verdicts[0].Suggested == nil ||
		!strings.HasPrefix(result.Verdicts[0].Suggested.Condition, "Len(") {
		t.Errorf("%v %+v", err, result)
	}
}

func TestTheScoreCountsWhatChangesAnOutput(t *testing.T) {
	rule := &rules.Rule{Name: "r", Condition: "true", Expect: "count", Min: new(int), Max: new(int)}
	mutants := []Mutant{{ID: "1", WouldNotice: "w"}, {ID: "2", WouldNotice: "w"}, {ID: "3", WouldNotice: "w"}, {ID: "4"}, {ID: "5"}, {ID: "6"}, {ID: "7"}, {ID: "8"}}
	score := NewScore(ScoreRequest{Mutants: mutants, Places: 9, Refused: 1, LeftOut: 2, Tests: []TestJudged{
		{"one", Judged{Usable: true, Verdicts: []Verdict{
			{ID: "1", Outcome: Survived, Suggested: rule}, {ID: "2", Outcome: Survived, Suggested: rule}, {ID: "3", Outcome: Unreached},
			{ID: "4", Outcome: NotLoaded}, {ID: "7", Outcome: NotRun}, {ID: "8", Outcome: NotRun}, {ID: "6", Outcome: Killed, Noticed: []string{"a"}},
		}}},
		{"two", Judged{Usable: true, Verdicts: []Verdict{
			{ID: "1", Outcome: Killed, Noticed: []string{"a", "b"}}, {ID: "2", Outcome: Unreached}, {ID: "4", Outcome: Killed}, {ID: "7", Outcome: Survived}, {ID: "8", Outcome: Killed},
		}}},
		{"three", Judged{Reason: "no"}},
	}})
	if *score.Score != 75 || score.Killed != 3 || score.Survived != 1 || score.Unreached != 1 || score.NotLoaded != 2 || score.LeftOut != 3 {
		t.Errorf("%v %+v", *score.Score, score)
	}
	told, _ := json.Marshal(score.Mutants)
	for _, part := range []string{
		`"id":"1","kind":"","component":"","line":0,"column":0,"description":"","outcome":"killed","noticed_by":[{"test":"two","rule":"a"},{"test":"two","rule":"b"}],"would_notice":"","suggested_rule":null`,
		`"outcome":"survived","noticed_by":[],"would_notice":"a rule such as true (expect: count, min: 0, max: 0) in the test one","suggested_rule":{"test":"one","name":"r"`,
		`"outcome":"unreached","noticed_by":[],"would_notice":"no sample reaches it: w"`,
	} {
		if !strings.Contains(string(told), part) {
			t.Errorf("%s is not in %s", part, told)
		}
	}
	for reason, request := range map[string]ScoreRequest{
		"no test passes without a change": {Mutants: mutants},
		"no change of the configuration changes an output: no sample reaches what it does": {Mutants: mutants, Tests: []TestJudged{
			{"one", Judged{Usable: true, Verdicts: []Verdict{{ID: "1", Outcome: Unreached}}}},
		}},
		"there is nothing in the pipelines that the tests run which can be left out": {Tests: []TestJudged{{"one", Judged{Usable: true}}}},
	} {
		if score := NewScore(request); score.Score != nil || score.Reason != reason {
			t.Errorf("%+v", score)
		}
	}
}
