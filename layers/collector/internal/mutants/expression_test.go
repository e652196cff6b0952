package mutants

import (
	"strings"
	"testing"
)

// A limit ends where its operand does, though more of the condition follows.
func TestTheLimitOfAComparisonIsItsOtherSide(t *testing.T) {
	for condition, limit := range map[string]string{
		`severity_number < SEVERITY_NUMBER_WARN and IsMatch(body, "a(b|c)")`:       "SEVERITY_NUMBER_WARN",
		`(severity_number < 9) or attributes["x"] == nil`:                          "9",
		`Len(body) > Int(attributes["most"]) and attributes["x"] != nil`:           `Int(attributes["most"])`,
		`time_unix_nano >= observed_time_unix_nano - 5`:                            "observed_time_unix_nano - 5",
		`not (severity_number <= attributes["x"] or IsMatch(body, "(a) and (b)"))`: `attributes["x"]`,
	} {
		t.Run(condition, func(t *testing.T) {
			text := logs("  filter:\n    logs:\n      log_record:\n        - '"+condition+"'\n", "filter")
			result := ask(t, Request{YAML: text, Pipelines: []string{"logs"}, Max: 100})
			for _, one := range result.Mutants {
				if one.Kind != Comparison {
					continue
				}
				if one.WouldNotice != "a record at the limit, "+limit && !strings.HasSuffix(one.WouldNotice, ": a record at the limit, "+limit) {
					t.Errorf("%s", one.WouldNotice)
				}
				return
			}
			t.Errorf("no comparison: %+v", result.Mutants)
		})
	}
}
