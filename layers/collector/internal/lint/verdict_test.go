package lint

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/headgate/headgate/layers/collector/internal/contexts"
)

func asJSON(t *testing.T, value any) string {
	t.Helper()
	encoded, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(encoded)
}

// onLogs are conditions on logs in a configuration, as lines of a YAML list.
func onLogs(lines ...string) string {
	return "processors:\n  filter/a:\n    logs:\n      log_record:\n        - " + strings.Join(lines, "\n        - ") + "\n"
}

func TestAGoodExpressionHasNoError(t *testing.T) {
	result := lintYAML(t, onLogs(`body == "x"`))

	want := `{"valid":true,"ottl_version":"` + OTTLVersion(version) + `","checked":1,"items":[{"location":{` +
		`"path":"processors::filter/a::logs::log_record[0]","line":5,"column":11},"context":"log","kind":"condition",` +
		`"expression":"body == \"x\"","error":null,"note":null}],"skipped":[]}`
	if got := asJSON(t, result); got != want {
		t.Errorf("got %s\nnot %s", got, want)
	}
}

func TestTheErrorIsTheParsersWords(t *testing.T) {
	for condition, want := range map[string]string{
		`nothing == 1`:      `segment "nothing" from path "nothing" is not a valid path`,
		`body = 1`:          `condition has invalid syntax: 5:16: unexpected token "=" (expected <opcomparison> Value)`,
		`Foo(body)`:         `undefined function "Foo"`,
		`IsMatch(body)`:     `error while parsing arguments for call to "IsMatch": incorrect number of arguments.`,
		`body == BODY`:      `enum symbol, BODY, not found`,
		`body == "x`:        `condition has invalid syntax: 5:19: lexer: invalid input text "\"x"`,
		`IsMatch(1, Foo())`: `error while parsing arguments for call to "IsMatch": invalid argument at position 1: undefined`,
	} {
		item := lintYAML(t, onLogs(condition)).Items[0]
		if item.Error == nil || !strings.HasPrefix(*item.Error, want) {
			t.Errorf("%s: %s", condition, asJSON(t, item))
		}
	}
}

func TestNotes(t *testing.T) {
	for condition, want := range map[string]string{
		`true`:                                     `the condition is always true`,
		`1 == 1 or body == 2`:                      `the condition is always true`,
		`not (1 == 1) and body == 2`:               `the condition is never true`,
		`body == body`:                             `the condition is always true`,
		`body == 1 and true`:                       ``,
		`UUID() == UUID()`:                         ``,
		`Base64Decode(body) == "a"`:                `Base64Decode is deprecated, use Decode`,
		`instrumentation_scope.name == "a"`:        `instrumentation_scope is the older name of scope`,
		`attribute["a"] == 1`:                      "did you mean `attributes`?",
		`severity_numbr == 1`:                      "did you mean `severity_number`?",
		`severity_number == SEVERITY_NUMBER_WARNN`: "did you mean `SEVERITY_NUMBER_WARN`?",
		`isMatch(body, "a")`:                       "did you mean `IsMatch`?",
		`IsMach(body, "a")`:                        "did you mean `IsMatch`?",
		`body = 1`:                                 "did you mean `==`?",
		`body == 1 && body == 2`:                   "did you mean `and`?",
		`body == nothing_like_that`:                ``,
	} {
		item := ask(t, Request{Context: &inLogs, Conditions: []string{condition}}).Items[0]
		got := ""
		if item.Note != nil {
			got = *item.Note
		}
		if got != want {
			t.Errorf("%s: %q, not %q", condition, got, want)
		}
	}
}

func TestAFunctionOfAnotherContextIsToldWithIt(t *testing.T) {
	result := lintYAML(t, `
processors:
  transform:
    metric_statements:
      - context: datapoint
        statements: ['convert_gauge_to_sum("cumulative", true)']
      - context: metric
        statements: ['merge_histogram_buckets(0.5)', 'set(name, "a") where IsRootSpan()', 'set(name, NoFunction())']
  filter:
    metrics:
      datapoint: ['HasAttrKeyOnDatapoint("a")']
`)

	var notes []string
	for _, item := range result.Items {
		notes = append(notes, strings.Trim(asJSON(t, item.Note), `"`))
	}
	want := []string{
		"convert_gauge_to_sum is a function of the context metric", "merge_histogram_buckets is a function of the context datapoint",
		"IsRootSpan is a function of the context span", "null", "HasAttrKeyOnDatapoint is a function of the context metric",
	}
	if !slices.Equal(notes, want) {
		t.Errorf("%q, not %q", notes, want)
	}
}

func TestTheInferredContextIsToldAndNoted(t *testing.T) {
	result := lintYAML(t, `
processors:
  transform:
    trace_statements:
      - set(span.name, "x")
      - set(spam.name, "x")
      - set(spanevent.name, resource.attributes["a"])
    metric_statements:
      - conditions: [metric.name == "a"]
        statements: [convert_sum_to_gauge()]
      - context: DATAPOINT
        statements: ['set(attributes["a"], 1)']
`)

	var contexts []string
	for _, item := range result.Items {
		contexts = append(contexts, *item.Context)
	}
	want := []string{"spanevent", "spanevent", "spanevent", "metric", "metric", "datapoint"}
	if !slices.Equal(contexts, want) {
		t.Errorf("%q, not %q", contexts, want)
	}
	if note := result.Items[0].Note; note == nil || *note != `context "spanevent" is inferred from the paths` {
		t.Errorf("the note is %s", asJSON(t, note))
	}
	if note := result.Items[5].Note; note != nil {
		t.Errorf("the note on a given context is %q", *note)
	}
}

func TestWhatCannotBeJudgedIsSkipped(t *testing.T) {
	for name, test := range map[string]struct{ text, path, reason string }{
		"a variable": {
			onLogs(`'body == "${env:A}"'`), "processors::filter/a::logs::log_record[0]",
			"it contains ${env:A}, whose value is not known here",
		},
		"a variable without a scheme": {
			onLogs(`"${A}"`), "processors::filter/a::logs::log_record[0]", "it contains ${A}, whose value is not known here",
		},
		"an organization's variable": {
			onLogs(`body == $orgvar:NAME and true`), "processors::filter/a::logs::log_record[0]",
			"it contains $orgvar:NAME, whose value is not known here",
		},
		"a number":  {onLogs(`42`), "processors::filter/a::logs::log_record[0]", "a string is expected here, not a number"},
		"a boolean": {onLogs(`true`), "processors::filter/a::logs::log_record[0]", "a string is expected here, not a boolean"},
		"nothing":   {onLogs(``), "processors::filter/a::logs::log_record[0]", "a string is expected here, not a null"},
		"a mapping": {onLogs(`{a: b}`), "processors::filter/a::logs::log_record[0]", "a string is expected here, not a mapping"},
		"no list": {
			"processors: {filter: {logs: {log_record: body == 1}}}", "processors::filter::logs::log_record",
			"a list of strings is expected here",
		},
		"a list from a variable": {
			"processors: {filter: {logs: {log_record: '${env:A}'}}}", "processors::filter::logs::log_record",
			"it contains ${env:A}, whose value is not known here",
		},
		"a component from a variable": {
			"processors: {filter: '${env:A}'}", "processors::filter", "it contains ${env:A}, whose value is not known here",
		},
		"a context from a variable": {
			"processors: {transform: {log_statements: [{context: '${env:A}', statements: ['set(body, 1)']}]}}",
			"processors::transform::log_statements[0]::statements[0]",
			"its context is not known here: it contains ${env:A}, whose value is not known here",
		},
		"another build's component": {
			"processors: {newcomer/x: {deep: [{log_conditions: [body == 1]}]}}",
			"processors::newcomer/x::deep[0]::log_conditions[0]",
			`processor "newcomer" is not in this build of otelcol-contrib ` + version,
		},
	} {
		result := lintYAML(t, test.text)
		// An entry that is not a string makes the text invalid.
		if len(result.Skipped) != 1 || result.Checked != 0 || result.Valid == strings.HasPrefix(test.reason, "a string is expected") {
			t.Errorf("%s: %s", name, asJSON(t, result))
			continue
		}
		if got := result.Skipped[0]; got.Location.Path != test.path || got.Reason != test.reason || got.Location.Line == 0 {
			t.Errorf("%s: %s", name, asJSON(t, got))
		}
	}
}

func TestAnEscapedReferenceIsJudged(t *testing.T) {
	result := lintYAML(t, onLogs(`'body == "$${env:A} $1 $$1"'`))

	if result.Checked != 1 || !result.Valid {
		t.Error(asJSON(t, result))
	}
}

func TestOneExpressionNeverSpoilsAnother(t *testing.T) {
	result := lintYAML(t, `
processors:
  transform:
    log_statements:
      - context: nonsense
        statements: ['set(body, 1)']
      - context: log
        statements: ['set(body, 1)', 'set(body', 'set(body, 2)']
      - set(log.body, 3)
connectors:
  signaltometrics:
    logs:
      - {name: a, sum: {value: '1'}, gauge: {value: 'Foo()'}, conditions: ['body == 1', 'body =']}
`)

	var valid []bool
	for _, item := range result.Items {
		valid = append(valid, item.Error == nil)
	}
	if want := []bool{false, true, false, true, true, true, false, true, false}; !slices.Equal(valid, want) {
		t.Errorf("%v, not %v: %s", valid, want, asJSON(t, result))
	}
}

func TestAnchorsAliasesAndMergeKeysAreFollowed(t *testing.T) {
	requires(t, "processors", "logdedup")
	result := lintYAML(t, `
shared: &shared {conditions: &list ['body == 1', 'body = 1']}
processors:
  logdedup/a: {<<: *shared}
  logdedup/b: {conditions: *list}
`)

	if result.Checked != 4 || result.Items[2].Location.Line != 2 || result.Items[2].Error == nil {
		t.Error(asJSON(t, result))
	}
}

func TestEveryContextTakesItsExpressions(t *testing.T) {
	for _, context := range contexts.Names {
		result := ask(t, Request{
			Context: &context, Conditions: []string{"true", "true and"}, ValueExpressions: []string{"1 + 1", "1 +"},
			Statements: []string{`set(cache["a"], 1)`, `set(cache["a"]`},
		})
		for i, item := range result.Items {
			if (item.Error == nil) != (i%2 == 0) || *item.Context != context {
				t.Errorf("%s: %s", context, asJSON(t, item))
			}
		}
		if result.Items[2].Location.Path != "statements[0]" || result.Checked != 6 {
			t.Error(asJSON(t, result))
		}
	}
}

func TestAnExpressionOfARequestIsLocatedInItself(t *testing.T) {
	item := ask(t, Request{Context: &inLogs, Conditions: []string{"body == 1 and\n  é = 1"}}).Items[0]

	if item.Location != (Location{"conditions[0]", 2, 3}) {
		t.Error(asJSON(t, item))
	}
}

func TestRequestsThatAreRefused(t *testing.T) {
	many := asJSON(t, slices.Repeat([]string{"true"}, 201))
	bomb := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	for name, next := 'b', 'a'; name <= 'i'; name, next = name+1, name {
		bomb += string(name) + ": &" + string(name) + " [" + strings.Repeat("*"+string(next)+",", 9) + "]\n"
	}
	for request, code := range map[string]string{
		`{"yaml": ": : :"}`:                 "yaml_syntax",
		`{"yaml": "a: 1\na: 2"}`:            "yaml_syntax",
		`{"yaml": "[]"}`:                    "yaml_syntax",
		`{"yaml": ` + asJSON(t, bomb) + `}`: "yaml_syntax",
		`{"yaml": ` + asJSON(t, onLogs(slices.Repeat([]string{"true == true"}, 201)...)) + `}`: "too_many_expressions",
		`{"yaml": ` + asJSON(t, onLogs(slices.Repeat([]string{"true"}, 201)...)) + `}`:         "too_many_expressions",
		`{"context": "log", "conditions": ` + many + `}`:                                       "too_many_expressions",
		`{"context": "logs", "conditions": ["true"]}`:                                          "unknown_context",
		`{"conditions": ["true"]}`:                                                             "unknown_context",
		`{"context": "log"}`:                                                                   "bad_request",
		`{"yaml": "a: 1", "context": "log", "conditions": ["true"]}`:                           "bad_request",
		`{}`: "bad_request",
		`[]`: "bad_request",
	} {
		if refused := refusal(t, request); refused.Code != code {
			t.Errorf("%.80s: %s, not %s", request, refused, code)
		}
	}
}

func TestAConfigurationWithoutOTTLIsValid(t *testing.T) {
	for _, text := range []string{"", "# nothing\n", "a: 1", "processors:", "processors: []", "processors: {filter: }"} {
		if result := lintYAML(t, text); !result.Valid || result.Checked != 0 || len(result.Skipped) != 0 {
			t.Errorf("%q: %s", text, asJSON(t, result))
		}
	}
}
