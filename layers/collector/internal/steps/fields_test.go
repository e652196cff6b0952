package steps

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/headgate/headgate/layers/collector/internal/lint"
	"github.com/headgate/headgate/layers/collector/internal/pricing"
)

func TestTheFieldsOfARecordHaveTheNamesOfOTTL(t *testing.T) {
	for written, want := range map[string][]string{
		`{"traceId":"ab","droppedAttributesCount":2}`: {`dropped_attributes_count=2`, `trace_id="ab"`},
		`{"asInt":"7"}`:    {`value_int=7`},
		`{"asDouble":1.5}`: {`value_double=1.5`},
		`{"attributes":[{"key":"a.b","value":{"intValue":"1"}},{"key":"c","value":{"boolValue":true}}]}`: {
			`attributes["a.b"]=1`, `attributes["c"]=true`,
		},
		`{"body":{"kvlistValue":{"values":[{"key":"a","value":{"arrayValue":{"values":[{"intValue":1},{"stringValue":"x"},{}]}}}]}}}`: {
			`body={"a":[1,"x",null]}`,
		},
		`{"body":{"arrayValue":{}}}`: {`body=[]`},
		`{"events":[{"name":"e","attributes":[{"key":"k","value":{"doubleValue":2}}]},{"name":"f"}]}`: {
			`events[0].attributes["k"]=2`, `events[0].name="e"`, `events[1].name="f"`,
		},
		`{"status":{"code":1}}`:                     {`status.code=1`},
		`{"bucketCounts":["1","2"],"exemplars":[]}`: {`bucket_counts=["1","2"]`, `exemplars=[]`},
	} {
		var record map[string]any
		if err := json.Unmarshal([]byte(written), &record); err != nil {
			t.Fatal(err)
		}
		into := fieldsOf{}
		flatten(into, "", record, 0)
		var seen []string
		for path, value := range into {
			seen = append(seen, fmt.Sprintf("%s=%s", path, value))
		}
		slices.Sort(seen)
		if !slices.Equal(seen, want) {
			t.Errorf("%s:\n%q, not\n%q", written, seen, want)
		}
	}
}

func TestAValueIsFollowedAsDeepAsTheLimitAndNoFurther(t *testing.T) {
	nested := func(levels int) any {
		var value any
		text := strings.Repeat(`{"arrayValue":{"values":[`, levels) + `{"intValue":"1"}` + strings.Repeat(`]}}`, levels)
		if err := json.Unmarshal([]byte(text), &value); err != nil {
			t.Fatal(err)
		}
		return value
	}
	for levels, whole := range map[int]bool{1: true, deepest: true, deepest + 1: false} {
		text, err := json.Marshal(plain(nested(levels), 0))
		if want := strings.Repeat("[", levels) + "1" + strings.Repeat("]", levels); err != nil || (string(text) == want) != whole {
			t.Errorf("%d levels: %s, %v", levels, text, err)
		}
	}
}

func TestOfEqualStatementsItIsTheOneOfItsContextAndNumber(t *testing.T) {
	placed := []lint.Placed{
		{Kind: kindStatement, Text: `set(attributes["a"], 1)`, Context: "resource"},
		{Kind: kindStatement, Text: `set(attributes["a"], 1)`, Context: "log"},
		{Kind: kindStatement, Text: `set(attributes["a"], 1)`, Context: "log"},
		{Kind: "condition", Text: `attributes["a"] == 1`, Context: "log"},
		{Kind: "condition", Text: `attributes["b"] == 1`, Prefix: "route() where "},
	}
	var tokens [][]pricing.Token
	for _, expression := range placed {
		tokens = append(tokens, pricing.Tokenize(expression.Text))
	}
	for name, row := range map[string]struct {
		tally tally
		at    int
	}{
		"the context of the first":    {tally{kind: kindStatement, text: `set(resource.attributes["a"], 1)`, context: "resource"}, 0},
		"the first of its context":    {tally{kind: kindStatement, text: `set(log.attributes["a"], 1)`, context: "log"}, 1},
		"the second of its context":   {tally{kind: kindStatement, text: `set(log.attributes["a"], 1)`, context: "log", nth: 1}, 2},
		"a number beyond the last":    {tally{kind: kindStatement, text: `set(log.attributes["a"], 1)`, context: "log", nth: 7}, 2},
		"a number below the first":    {tally{kind: kindStatement, text: `set(log.attributes["a"], 1)`, context: "log", nth: -1}, 1},
		"a context that none has":     {tally{kind: kindStatement, text: `set(span.attributes["a"], 1)`, context: "span", nth: 1}, 1},
		"a condition":                 {tally{kind: "condition", text: `log.attributes["a"] == 1`, context: "log"}, 3},
		"a condition with its prefix": {tally{kind: kindStatement, text: `attributes["b"] == 1`, context: "resource"}, 4},
		"another kind":                {tally{kind: "condition", text: `set(attributes["a"], 1)`, context: "log"}, -1},
		"another text":                {tally{kind: kindStatement, text: `set(attributes["a"], 2)`, context: "log"}, -1},
	} {
		if at := find(placed, tokens, &row.tally); at != row.at {
			t.Errorf("%s: %d, not %d", name, at, row.at)
		}
	}
}
