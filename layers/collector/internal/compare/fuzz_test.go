package compare

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
)

// FuzzCompare looks for outputs that make comparing panic, that differ from themselves, or whose counts do not add up.
func FuzzCompare(f *testing.F) {
	f.Add(logs("a", log("x", "k", "1"), log("y")), logs("b", log("x", "k", "2")), `attributes["k"]`)
	f.Add(spans(span(1, `,"events":[{"name":"e"}],"links":[{}]`)), spans(span(1, `,"events":[{"name":"f"}],"status":{"code":2}`)), "spanevent.name")
	f.Add(metrics(`{"name":"m","gauge":{"dataPoints":[{"asInt":"1"},{"asDouble":"NaN"}]}}`, `{"name":"h","histogram":{"dataPoints":[{"count":"3"}]}}`),
		metrics(`{"name":"m","sum":{"dataPoints":[{"asInt":"1"}]}}`, `{"name":"e","exponentialHistogram":{"dataPoints":[{}]}}`), "metric.type")
	f.Add(`{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":{"arrayValue":{"values":[{"kvlistValue":{"values":[{"key":"a","value":{}}]}}]}}}]}]}]}`, "{}", "body[*][0]")
	f.Fuzz(func(t *testing.T, left, right, path string) {
		for _, text := range []*string{&left, &right, &path} {
			*text = strings.ToValidUTF8(*text, "\ufffd") // as in any request, which is JSON
		}
		ctx := context.Background()
		if own, err := Outputs(ctx, Request{Left: left, Right: left, Ignore: []string{}}); err == nil && !own.Equal {
			t.Fatalf("it differs from itself: %+v", own)
		}
		result, err := Outputs(ctx, Request{Left: left, Right: right, Ignore: []string{path}})
		if err != nil {
			return
		}
		listed := 0
		for signal, one := range result.Signals {
			if one.Same+one.Changed+one.Missing != one.Left || one.Same+one.Changed+one.Added != one.Right {
				t.Fatalf("%s: %+v", signal, one)
			}
			listed += one.Changed + one.Missing + one.Added
		}
		if listed != len(result.Differences)+result.LeftOut || (listed == 0) != result.Equal {
			t.Fatalf("%+v", result)
		}
		for _, one := range result.Differences {
			if one.Change == changed && len(one.Fields) == 0 && one.FieldsLeftOut == 0 {
				t.Fatalf("a change of nothing: %+v", one)
			}
		}
		// The answer goes out as JSON.
		if _, err := json.Marshal(result); err != nil {
			t.Fatal(err)
		}
	})
}
