package lint

import (
	"strings"
	"testing"
)

var inLogs = "log"

// nested is an expression of so many levels: each opens with one text and closes with another.
func nested(levels int, opening, core, closing string) string {
	return strings.Repeat(opening, levels) + core + strings.Repeat(closing, levels)
}

func TestExpressionsThatWouldTakeTheParserTooLongAreRefused(t *testing.T) {
	for name, condition := range map[string]string{
		"nested calls with operators": nested(25, "Len(", "body", ") + 1") + " == 1",
		"nested calls, broken inside": nested(40, "Len(", "body body", ")"),
		"nested parentheses":          nested(5000, "(", "true", ")"),
		"nested lists":                nested(5000, "[", "1", "]") + " == 1",
		"nested maps":                 nested(101, `{"a": `, "1", "}") + " == 1",
		"open brackets":               strings.Repeat("(", 16000),
		"a long pattern":              `IsMatch(body, "` + strings.Repeat("(a|b)*c", 15000) + `")`,
		"thousands of terms":          strings.Repeat("body == 1 or ", 3000) + "true",
		"a pattern that repeats":      `IsMatch(body, "` + strings.Repeat(".{1000}", 2000) + `")`,
		"patterns that multiply": `IsMatch(ExtractGrokPatterns(body, "%{A}", true, [` +
			`"A=%{B}%{B}%{B}%{B}", "B=%{C}%{C}%{C}%{C}", "C=%{D}%{D}%{D}%{D}", "D=%{E}%{E}%{E}%{E}", "E=%{DATA}"]), "a")`,
		"many negations": strings.Repeat("not ", 30000) + "true",
	} {
		result := ask(t, Request{Context: &inLogs, Conditions: []string{condition}})
		if result.Valid || result.Items[0].Error == nil {
			t.Errorf("%s: accepted", name)
			continue
		}
		t.Logf("%s: %.200s", name, *result.Items[0].Error)
	}
}

func TestWhatARequestMayTakeIsBoundedToo(t *testing.T) {
	condition := nested(95, "(", "body == 1", ")")
	conditions := make([]string, maxExpressions)
	for i := range conditions {
		conditions[i] = condition
	}
	result := ask(t, Request{Context: &inLogs, Conditions: conditions})

	if result.Items[0].Error != nil {
		t.Errorf("the first is refused: %s", *result.Items[0].Error)
	}
	last := result.Items[len(result.Items)-1]
	if last.Error == nil || *last.Error != errRequestEffort.Error() {
		t.Errorf("the last is not refused")
	}
}
