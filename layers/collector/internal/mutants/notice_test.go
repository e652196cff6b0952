package mutants

import (
	"slices"
	"testing"
)

func TestARuleIsNamedThatWouldNoticeAStatement(t *testing.T) {
	for statement, rule := range map[string]string{
		`set(log.body, "x") where log.body == "a"`:               `a rule such as log.body == "x"`,
		`set(log.body, Concat([log.body, "y"], ","))`:            "a rule on the value of log.body",
		`delete_key(attributes, "k") where attributes["n"] == 1`: `a rule such as attributes["k"] != nil with expect: none`,
		`delete_key(attributes)`:                                 "a rule on what delete_key changes in attributes",
		`delete_matching_keys(attributes, "^k")`:                 "a rule on what delete_matching_keys changes in attributes",
		`replace_pattern(body, "a(b,c)", "d")`:                   `a rule such as IsMatch(body, "a(b,c)") with expect: none`,
		`replace_pattern(body)`:                                  "a rule on what replace_pattern changes in body",
		`flatten()`:                                              "a rule on what flatten changes",
		`body == "x"`:                                            "a rule on what the statement changes",
	} {
		if seen := noticingStatement(statement); seen != rule {
			t.Errorf("%s: %s", statement, seen)
		}
	}
}

// told are the descriptions of a text's mutants of these kinds, each with what would notice it.
func told(t *testing.T, text string, kinds ...Kind) []string {
	t.Helper()
	var all []string
	for _, mutant := range ask(t, Request{YAML: text, Pipelines: []string{"logs"}, Max: 100}).Mutants {
		if slices.Contains(kinds, mutant.Kind) {
			all = append(all, mutant.Description+": "+mutant.WouldNotice)
		}
	}
	return all
}

func TestEachPartOfAnExpressionIsNamedAsItStands(t *testing.T) {
	text := logs("  transform:\n    log_statements:\n      - set(log.body, ToLowerCase(log.body)) where IsString(log.body) or log.body == 1 or log.body == nil\n", "transform")
	expected := []string{
		"the statement set(log.body, ToLowerCase(log.body)) applies to all, without its where: " +
			"a record for which IsString(log.body) or log.body == 1 or log.body == nil does not hold, and a rule that it stays as it is",
		"IsString(log.body) is left out of the condition: a record for which only IsString(log.body) holds",
		"log.body == 1 is left out of the condition: a record for which only log.body == 1 holds",
		"log.body == nil is left out of the condition: a record for which only log.body == nil holds",
	}
	if seen := told(t, text, Where, Operand); !slices.Equal(seen, expected) {
		t.Errorf("%q", seen)
	}
}

func TestEachMetricOfAConnectorThatCountsIsNamed(t *testing.T) {
	text := outer + `connectors: {count: {logs: {mine: {conditions: ['body == "a"', 'body == "b"']}, yours: {}}}}
service:
  pipelines:
    logs: {receivers: [otlp], exporters: [count]}
    metrics: {receivers: [count], exporters: [debug]}
`
	expected := []string{
		`the metric mine is left out: a rule such as metric.name == "mine"`,
		`the metric yours is left out: a rule such as metric.name == "yours"`,
	}
	if seen := told(t, text, Entry); !slices.Equal(seen, expected) {
		t.Errorf("%q", seen)
	}
}
