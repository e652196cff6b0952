package evaluate

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/headgate/headgate/layers/collector/internal/rules"
)

const output = `{"resourceLogs":[{"resource":{"attributes":[{"key":"host","value":{"stringValue":"a"}}]},"scopeLogs":[{"scope":{"name":"s"},"logRecords":[{"body":{"stringValue":"one"},"severityNumber":9},{"body":{"stringValue":"two"},"severityNumber":17}]}]}]}
{}
{"resourceSpans":[{"scopeSpans":[{"spans":[{"name":"root","events":[{"name":"e"},{"name":"f"}]},{"name":"child","parentSpanId":"0102030405060708"}]}]}]}
{"resourceMetrics":[{"resource":{},"scopeMetrics":[{"metrics":[{"name":"g","gauge":{"dataPoints":[{"asInt":"5"},{"asDouble":1.5}]}},{"name":"h","histogram":{"dataPoints":[{"count":"3"}]}},{"name":"x","exponentialHistogram":{"dataPoints":[{"count":"4"}]}},{"name":"s","summary":{"dataPoints":[{"count":"6"}]}},{"name":"c","sum":{"dataPoints":[{"asInt":"7"}]}}]}]}]}
`

var every = []string{"logs", "traces", "metrics"}

func number(n int) *int { return &n }

func verdictOn(t *testing.T, rule rules.Rule, text string) Verdict {
	t.Helper()
	conditions, refusals, err := rules.Compile(every, []rules.Rule{rule})
	if err != nil || len(refusals) > 0 {
		t.Fatal(err, refusals)
	}
	tallies := make([]rules.Tally, 1)
	if _, err := Count(context.Background(), strings.NewReader(text), conditions, tallies); err != nil {
		t.Fatal(err)
	}
	return NewVerdict(rule, tallies[0])
}

func TestRulesAreEvaluatedInTheirContext(t *testing.T) {
	for _, one := range []struct {
		context, condition, expect string
		min, max                   *int
		passed                     bool
		message                    string
	}{
		{"log", `body == "one"`, "any", nil, nil, true, "1 of 2 log records matched"},
		{"log", `log.body == "one"`, "all", nil, nil, false, "1 of 2 log records matched; expected all, and at least 1"},
		{"log", `resource.attributes["host"] == "a" and instrumentation_scope.name == "s"`, "all", nil, nil, true, "2 of 2 log records matched"},
		{"log", `severity_number >= SEVERITY_NUMBER_ERROR`, "none", nil, nil, false, "1 of 2 log records matched; expected none"},
		{"log", `IsMatch(body, "^t")`, "count", number(1), number(1), true, "1 of 2 log records matched"},
		{"log", `body == "none"`, "any", nil, nil, false, "0 of 2 log records matched; expected at least 1"},
		{"span", `IsRootSpan()`, "count", number(2), nil, false, "1 of 2 spans matched; expected at least 2"},
		{"span", `name == "child"`, "count", nil, number(0), false, "1 of 2 spans matched; expected at most 0"},
		{"spanevent", `name == "e" and span.name == "root"`, "count", number(2), number(3), false, "1 of 2 span events matched; expected 2 to 3"},
		{"metric", `HasAttrOnDatapoint("a", "b")`, "none", nil, nil, true, "0 of 5 metrics matched"},
		{"metric", `type == METRIC_DATA_TYPE_SUMMARY`, "any", nil, nil, true, "1 of 5 metrics matched"},
		{"datapoint", `value_int == 5 or value_double == 1.5`, "count", number(2), number(2), true, "2 of 6 data points matched"},
		{"datapoint", `count > 3`, "count", number(2), number(2), true, "2 of 6 data points matched"},
		{"resource", `attributes["host"] == "a"`, "count", number(1), number(1), true, "1 of 3 resources matched"},
		{"scope", `name == "s"`, "any", nil, nil, true, "1 of 3 scopes matched"},
		{"log", `Int(ParseJSON(body)) == 1`, "none", nil, nil, false, "0 of 2 log records matched; expected none; it could not be evaluated on 2"},
	} {
		rule := rules.Rule{Name: "r", Context: one.context, Condition: one.condition, Expect: one.expect, Min: one.min, Max: one.max}
		verdict := verdictOn(t, rule, output)
		if verdict.Passed != one.passed || !strings.HasPrefix(verdict.Message, one.message) {
			t.Errorf("%s %s %q: passed %v, %q", one.expect, one.context, one.condition, verdict.Passed, verdict.Message)
		}
	}
}

func TestAComparisonOfDifferentTypesIsNoted(t *testing.T) {
	const mixed = `{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":{"stringValue":"5"},"severityNumber":9,` +
		`"attributes":[{"key":"n","value":{"intValue":"5"}},{"key":"t","value":{"stringValue":"7"}}]}]}]}]}` + "\n"
	for condition, note := range map[string]string{
		`attributes["n"] == "5"`:               `it compares attributes["n"] with the text "5", but the value is a number on 1 log record; `,
		`"5" != log.attributes["n"]`:           `it compares log.attributes["n"] with the text "5"`,
		`attributes["t"] >= 7`:                 `it compares attributes["t"] with the number 7, but the value is a text on 1 log record; `,
		`true and (body == 5)`:                 `it compares body with the number 5`,
		`severity_number == "9"`:               `it compares severity_number with the text "9"`,
		`attributes["n"] == 5`:                 "",
		`attributes["t"] == "7"`:               "",
		`attributes["none"] == "7"`:            "",
		`body == "attributes[\"n\"] == \"5\""`: "",
		`Int(attributes["t"]) == 7`:            "",
		`severity_number == SEVERITY_NUMBER_INFO and attributes["t"] != nil`: "",
	} {
		asked, err := json.Marshal(request{Signals: every, Rules: []rules.Rule{{Name: "r", Context: "log", Condition: condition}}, Documents: mixed})
		if err != nil {
			t.Fatal(err)
		}
		answer, err := Handle(context.Background(), asked)
		if err != nil {
			t.Errorf("%s: %v", condition, err)
			continue
		}
		found := answer.(result).Verdicts[0].Note
		if (found == "") != (note == "") || !strings.HasPrefix(found, note) {
			t.Errorf("%s: %q", condition, found)
		}
	}
}

func TestOverNothingAllFailsAndNonePasses(t *testing.T) {
	for expect, passed := range map[string]bool{"all": false, "any": false, "none": true} {
		verdict := verdictOn(t, rules.Rule{Context: "log", Condition: "true", Expect: expect}, "")
		if verdict.Passed != passed || !strings.HasPrefix(verdict.Message, "the output has no log records") {
			t.Errorf("%s: %+v", expect, verdict)
		}
	}
}

func TestAnOutputInPartsIsCountedTogether(t *testing.T) {
	conditions, _, err := rules.Compile(every, []rules.Rule{{Context: "log", Condition: "true"}})
	if err != nil {
		t.Fatal(err)
	}
	tallies := make([]rules.Tally, 1)
	for range 3 {
		if _, err := Count(context.Background(), strings.NewReader(output), conditions, tallies); err != nil {
			t.Fatal(err)
		}
	}
	if tallies[0].Total != 6 {
		t.Errorf("%+v", tallies[0])
	}
}

func TestWhatIsNotOutputIsTold(t *testing.T) {
	_, err := Count(context.Background(), strings.NewReader("{}\nnonsense\n"), nil, nil)
	if err == nil || err.Error() != "line 2 of the output: it is not OTLP/JSON" {
		t.Error(err)
	}
}

func TestEvaluationStopsWhenItsTimeIsOver(t *testing.T) {
	conditions, _, err := rules.Compile(every, []rules.Rule{{Context: "log", Condition: "true"}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithDeadline(context.Background(), time.Now().Add(-time.Second))
	defer cancel()
	if _, err := Count(ctx, strings.NewReader(output), conditions, make([]rules.Tally, 1)); err == nil {
		t.Error("it went on")
	}
}

func TestRulesThatTheEngineRefusesAreNamed(t *testing.T) {
	list := []rules.Rule{
		{Name: "fine", Context: "log", Condition: "true"},
		{Name: "typo", Context: "log", Condition: `sett(body) == 1`},
		{Name: "path", Context: "log", Condition: `nope == 1`},
		{Name: "context", Context: "span", Condition: "true"},
		{Name: "deep", Context: "log", Condition: strings.Repeat("(", 101)},
		{Name: "quoted", Context: "log", Condition: `body == "` + strings.Repeat("(", 500) + `"`},
		{Name: "editor", Context: "log", Condition: `set(body, "x")`},
	}
	conditions, refusals, err := rules.Compile([]string{"logs"}, list)
	if err != nil {
		t.Fatal(err)
	}
	refused := map[int]string{}
	for _, refusal := range refusals {
		refused[refusal.Index] = refusal.Field
	}
	expected := map[int]string{1: "condition", 2: "condition", 3: "context", 4: "condition", 6: "condition"}
	for i := range list {
		if refused[i] != expected[i] || (conditions[i] == nil) != (expected[i] != "") {
			t.Errorf("rule %q: %q", list[i].Name, refused[i])
		}
	}
}

func TestRecordsAreCountedBySignalWithoutAnyRule(t *testing.T) {
	output := `{"resourceLogs":[{"scopeLogs":[{"logRecords":[{},{}]}]}]}` + "\n{}\n" +
		`{"resourceSpans":[{"scopeSpans":[{"spans":[{}]}]}]}` + "\n" +
		`{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"sum":{"dataPoints":[{},{},{}]}}]}]}]}` + "\n"
	records, err := Count(context.Background(), strings.NewReader(output), nil, nil)
	if err != nil || records["logs"] != 2 || records["traces"] != 1 || records["metrics"] != 3 {
		t.Errorf("%v, %v", records, err)
	}
}
