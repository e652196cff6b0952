package lint

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/headgate/headgate/layers/collector/internal/operation"
	"github.com/headgate/headgate/layers/collector/version/distribution"
	"go.opentelemetry.io/collector/component"
)

// collector is that of the version that the tests are run for.
func collector() *operation.Environment {
	return &operation.Environment{
		BuildInfo: distribution.Settings().BuildInfo, Factories: distribution.Factories, Lacking: distribution.Lacking,
	}
}

// version is that of this collector.
var version = distribution.Settings().BuildInfo.Version

// requires skips a test on a build that lacks a component.
func requires(t *testing.T, section, kind string) {
	t.Helper()
	if _, lacks := collector().Lacks(section, component.MustNewType(kind)); lacks {
		t.Skipf("this build of %s lacks the %s %s", version, strings.TrimSuffix(section, "s"), kind)
	}
}

func ask(t testing.TB, request Request) *Result {
	t.Helper()
	raw, err := json.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	result, err := Handle(context.Background(), collector(), raw)
	if err != nil {
		t.Fatal(err)
	}
	return result.(*Result)
}

func lintYAML(t testing.TB, text string) *Result {
	t.Helper()
	return ask(t, Request{YAML: &text})
}

func refusal(t *testing.T, request string) *operation.Error {
	t.Helper()
	_, err := Handle(context.Background(), collector(), json.RawMessage(request))
	var refused *operation.Error
	if !errors.As(err, &refused) {
		t.Fatalf("not refused but %v", err)
	}
	return refused
}

func BenchmarkLintOf200Expressions(b *testing.B) {
	var text strings.Builder
	text.WriteString("processors:\n")
	for i := range 10 {
		fmt.Fprintf(&text, "  transform/%d:\n    log_statements:\n      - context: log\n        statements:\n", i)
		for k := range 10 {
			fmt.Fprintf(&text, "          - 'set(attributes[\"a%d\"], Concat([body, \"x\"], \",\")) where IsMatch(body, \"^a.*%d$\") and severity_number > 9'\n", k, k)
		}
		fmt.Fprintf(&text, "  filter/%d:\n    traces:\n      span:\n", i)
		for k := range 10 {
			fmt.Fprintf(&text, "          - 'attributes[\"http.route\"] == \"/health%d\" and end_time_unix_nano < 5'\n", k)
		}
	}
	b.Run("good", func(b *testing.B) {
		for b.Loop() {
			if result := lintYAML(b, text.String()); !result.Valid || result.Checked != 200 {
				b.Fatal("not as written")
			}
		}
	})
	broken := strings.ReplaceAll(text.String(), "body", "bodi")
	broken = strings.ReplaceAll(broken, "end_time_unix_nano <", "end_time_unix_nano =")
	b.Run("all broken", func(b *testing.B) {
		for b.Loop() {
			if result := lintYAML(b, broken); result.Valid || result.Checked != 200 {
				b.Fatal("not as written")
			}
		}
	})
}
