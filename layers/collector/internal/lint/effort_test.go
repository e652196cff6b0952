package lint

import (
	"errors"
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

func TestExpressionsAsPeopleWriteThemAreFarBelowTheLimit(t *testing.T) {
	for _, condition := range []string{
		`ExtractGrokPatterns(body, "%{COMBINEDAPACHELOG} %{X}", true, ["X=%{NUMBER}-%{WORD:a}"])["a"] == "b"`,
		`IsMatch(body, "` + strings.Repeat(`^/v[0-9]{1,3}/.*$|`, 100) + `")`,
		`attributes["http.route"] == "/health" and (severity_number >= SEVERITY_NUMBER_WARN or not IsMatch(body, "a.*"))`,
		`Len(Split(ToLowerCase(Trim(Concat([attributes["a"], attributes["b"]["c"]], "-"))), "-")) + 1 > 2 * (3 - 1)`,
		nested(10, "(", "body == 1", ")"),
		nested(6, "ToUpperCase(", "body", ")") + ` == "A"`,
		strings.Repeat("body == 1 or ", 300) + "true",
	} {
		if effort, reason := tooMuch(condition, Condition); effort > maxEffort/2 || reason != nil {
			t.Errorf("%.0f for %s", effort, condition)
		}
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

// The pricing is right only as long as its grammar is that of the parser.
func TestTheGrammarMatchesWhatTheParserReads(t *testing.T) {
	for _, condition := range []string{
		`true`, `not true`, `body`, `body == 1`, `body = 1`, `body == `, `(body == 1`, `((body) == 1)`, `(1 + 2) * 3 == 9`,
		`a.b["c"].d[0] == nil`, `IsMatch(body, "a")`, `isMatch(body, "a") == 1`, `IsMatch(body "a")`, `Foo() and`,
		`Foo(a="b", c=1.5)[0]["x"] != 0xaf`, `[1, 2] == [1 2]`, `{"a": 1, "b": {"c": []}} == {"a" 1}`, `FOO == 1`,
		`Foo(Bar) == 1`, `a[b.c + 1] == 1`, `a[] == 1`, `1 +1 == 2`, `1 + 1 == 2`, `not (a == 1 or b == 2) and c == 3 or d == 4`,
		`a == "unclosed`, `a == -1`, `a == +.5e3`, `a ==== b`, `or`, ``, `a.b.c == x.y.z`, `Xor(a)`, `not not true`, `@`,
	} {
		tokens := tokenize(condition)
		read := conditionRule(&pricing{tokens, map[place]outcome{}}, 0).end == len(tokens)

		var syntax syntaxError
		err := parse("log", Condition, condition)
		if accepted := !errors.As(err, &syntax); accepted != read {
			t.Errorf("%s: read to the end: %t, the parser: %v", condition, read, err)
		}
	}
}
