package compare

import (
	"fmt"
	"strings"
	"testing"
)

// TestCostlyOutputsAreComparedOrCounted has outputs that would take minutes if every record were compared with every
// other one, or taken apart as often as it is shown.
func TestCostlyOutputsAreComparedOrCounted(t *testing.T) {
	const many = 3_000
	list := func(format string, from int) string {
		var text strings.Builder
		for i := range many {
			fmt.Fprintf(&text, format, from+i)
		}
		return text.String() + "{}"
	}
	deep := func(value string) string {
		return `{"body":` + strings.Repeat(`{"kvlistValue":{"values":[{"key":"k","value":`, 2_400) + value + strings.Repeat(`}]}}`, 2_400) + `}`
	}
	words := strings.Repeat("a b c d e f g h i j ", 3)
	for name, one := range map[string]struct {
		left, right string
		complete    bool
	}{
		"records without anything": {logs("a", strings.Repeat("{},", many)+"{}"), logs("b", strings.Repeat("{},", many)+"{}"), true},
		"bodies that all differ":   {logs("a", list(`{"body":{"intValue":%d}},`, 0)), logs("a", list(`{"body":{"intValue":%d}},`, many)), true},
		"the same words":           {logs("a", list(`{"body":{"stringValue":"`+words+`%d"}},`, 0)), logs("a", list(`{"body":{"stringValue":"`+words+`%d"}},`, many)), true},
		"metrics that all differ":  {metrics(list(`{"name":"m%d"},`, 0)), metrics(list(`{"name":"n%d"},`, 0)), true},
		"attributes":               {logs("a", `{"attributes":[`+list(`{"key":"a%d","value":{}},`, 0)+`]}`), logs("a", `{"attributes":[`+list(`{"key":"b%d","value":{}},`, 0)+`]}`), false},
		"events":                   {spans(span(1, `,"events":[`+list(`{"name":"a%d"},`, 0)+`]`)), spans(span(1, `,"events":[`+list(`{"name":"b%d"},`, 0)+`]`)), false},
		"bodies in bodies":         {logs("a", deep(`{"intValue":1}`)), logs("a", deep(`{"intValue":2}`)), true},
		"a resource of many records, each with another partner": {
			`{"resourceLogs":[{"resource":{"attributes":[` + list(`{"key":"k%d","value":{}},`, 0) + `]},"scopeLogs":[{"logRecords":[` + list(`{"body":{"intValue":%d}},`, 0) + `]}]}]}`,
			`{"resourceLogs":[` + list(`{"resource":{"droppedAttributesCount":1},"scopeLogs":[{"logRecords":[{"body":{"intValue":%d}}]}]},`, 0) + `]}`, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			result := outcome(t, Request{Left: one.left, Right: one.right})
			for signal, summary := range result.Signals {
				if summary.Same+summary.Changed+summary.Missing != summary.Left || summary.Same+summary.Changed+summary.Added != summary.Right {
					t.Errorf("%s: %+v", signal, summary)
				}
				if result.Equal || summary.Complete != one.complete {
					t.Errorf("%s: equal %t, complete %t", signal, result.Equal, summary.Complete)
				}
			}
		})
	}
}
