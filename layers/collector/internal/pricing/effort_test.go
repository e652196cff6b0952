package pricing

import (
	"strings"
	"testing"

	"github.com/headgate/headgate/layers/collector/generation"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/ottl/contexts/ottllog"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/ottl/ottlfuncs"
	"go.opentelemetry.io/collector/component"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	tracenoop "go.opentelemetry.io/otel/trace/noop"
	"go.uber.org/zap"
)

// nested is an expression of so many levels: each opens with one text and closes with another.
func nested(levels int, opening, core, closing string) string {
	return strings.Repeat(opening, levels) + core + strings.Repeat(closing, levels)
}

func componenttest() component.TelemetrySettings {
	return component.TelemetrySettings{
		Logger: zap.NewNop(), TracerProvider: tracenoop.NewTracerProvider(), MeterProvider: metricnoop.NewMeterProvider(),
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
		if effort, reason := Expression(condition, Condition); effort > MaxEffort/2 || reason != nil {
			t.Errorf("%.0f for %s", effort, condition)
		}
	}
}

func TestNestedLambdasArePricedThoughTheyHaveNoBrackets(t *testing.T) {
	text := func(levels int) string {
		return `set(cache["a"], ` + nested(levels, "(a) => ", "x", " == 1") + `)`
	}
	if _, reason := Expression(text(18), Statement); reason == nil {
		t.Error("not refused")
	}
	if effort, reason := Expression(text(1), Statement); reason != nil || effort > FreeEffort {
		t.Errorf("%.0f %v", effort, reason)
	}
	if _, reason := Expression(text(maxNesting+1), Statement); reason == nil {
		t.Error("not refused")
	}
}

// The pricing is right only as long as its grammar is that of the parser.
func TestTheGrammarMatchesWhatTheParserReads(t *testing.T) {
	parser, err := ottllog.NewParser(ottlfuncs.StandardFuncs[generation.Log](), componenttest())
	if err != nil {
		t.Fatal(err)
	}
	for _, condition := range []string{
		`true`, `not true`, `body`, `body == 1`, `body = 1`, `body == `, `(body == 1`, `((body) == 1)`, `(1 + 2) * 3 == 9`,
		`a.b["c"].d[0] == nil`, `IsMatch(body, "a")`, `isMatch(body, "a") == 1`, `IsMatch(body "a")`, `Foo() and`,
		`Foo(a="b", c=1.5)[0]["x"] != 0xaf`, `[1, 2] == [1 2]`, `{"a": 1, "b": {"c": []}} == {"a" 1}`, `FOO == 1`,
		`Foo(Bar) == 1`, `a[b.c + 1] == 1`, `a[] == 1`, `1 +1 == 2`, `1 + 1 == 2`, `not (a == 1 or b == 2) and c == 3 or d == 4`,
		`a == "unclosed`, `a == -1`, `a == +.5e3`, `a ==== b`, `or`, ``, `a.b.c == x.y.z`, `Xor(a)`, `not not true`, `@`,
		`Foo((x) => x == 1)`, `Foo(a, (_, v) => v > 1 or _ == 2)`, `Foo(() => 1)`, `Foo((x) => (y) => y)`, `Foo((x, ) => 1)`,
		`Foo((x) = > 1)`, `Foo((x) => )`, `Foo(x => 1)`, `Foo(_)`, `1. == 1`, `.5 == 1`, `-(1) == 2`, `1 - -1 == 2`, `nil`,
		`nila == nil`, `Foo((x) => nil)`, `Foo((x) => x and true)`,
	} {
		tokens := Tokenize(condition)
		read := conditionRule(&pricing{tokens, map[place]outcome{}}, 0).end == len(tokens)

		_, err := parser.ParseCondition(condition)
		if accepted := err == nil || !strings.Contains(err.Error(), "has invalid syntax"); accepted != read {
			t.Errorf("%s: read to the end: %t, the parser: %v", condition, read, err)
		}
	}
}
