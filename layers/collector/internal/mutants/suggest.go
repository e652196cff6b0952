package mutants

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/headgate/headgate/layers/collector/internal/compare"
	"github.com/headgate/headgate/layers/collector/internal/rules"
)

const (
	// maxSuggestions is how many rules are tried for a mutant, maxSuggesting the bytes of both outputs up to which any are.
	maxSuggestions = 12
	maxSuggesting  = 1 << 20
)

// contextOf is the context of a signal's records.
var contextOf = map[string]string{"logs": "log", "traces": "span", "metrics": "datapoint"}

// suggest looks for a rule that passes on the original's output and fails on the mutant's: on a field that differs, or
// on the number of records. It returns nil if it finds none.
func (j *judge) suggest(mutant Run, differing *compare.Result) (*rules.Rule, error) {
	if len(j.test.Original.Output)+len(mutant.Output) > maxSuggesting {
		return nil, nil
	}
	tried := candidatesFor(differing)
	conditions, refusals, err := rules.Compile(j.test.Signals, tried)
	if err != nil {
		return nil, err
	}
	for _, refusal := range slices.Backward(refusals) {
		// Some paths of a comparison are not paths of a rule.
		conditions = slices.Delete(conditions, refusal.Index, refusal.Index+1)
		tried = slices.Delete(tried, refusal.Index, refusal.Index+1)
	}
	before, err := verdictsOn(j.ctx, j.test.Original.Output, conditions, tried)
	if err != nil {
		return nil, err
	}
	for i := range tried {
		if before[i].Matched == 0 {
			tried[i].Expect = rules.ExpectNone
		} else {
			tried[i].Expect, tried[i].Min, tried[i].Max = rules.ExpectCount, &before[i].Matched, &before[i].Matched
		}
	}
	for _, output := range []string{j.test.Original.Output, j.test.Again.Output} {
		// It must pass each time.
		verdicts, err := verdictsOn(j.ctx, output, conditions, tried)
		if err != nil {
			return nil, err
		}
		for at := range slices.Backward(tried) {
			if !verdicts[at].Passed {
				conditions, tried = slices.Delete(conditions, at, at+1), slices.Delete(tried, at, at+1)
			}
		}
	}
	after, err := verdictsOn(j.ctx, mutant.Output, conditions, tried)
	if err != nil {
		return nil, err
	}
	for i, verdict := range after {
		if !verdict.Passed {
			return &tried[i], nil
		}
	}
	return nil, nil
}

// candidatesFor makes rules of what differs: of the values that the original had, of those that the mutant has, and of
// the number of records.
func candidatesFor(differing *compare.Result) []rules.Rule {
	var had, has, counted []rules.Rule
	known := map[string]bool{}
	add := func(list []rules.Rule, signal, path string, value json.RawMessage) []rules.Rule {
		condition, ok := conditionOf(pathOf(path), value)
		if !ok || known[signal+condition] || len(list) >= maxSuggestions/2 {
			return list
		}
		known[signal+condition] = true
		return append(list, rules.Rule{Name: nameOf(path), Context: contextOf[signal], Condition: condition})
	}
	for _, difference := range differing.Differences {
		if difference.Change != "changed" && !known[difference.Signal] {
			known[difference.Signal] = true
			counted = append(counted, rules.Rule{
				Name: "as many " + difference.Signal + " come out", Context: contextOf[difference.Signal], Condition: "true",
			})
		}
		for _, field := range difference.Fields {
			if !field.Cut {
				had = add(had, difference.Signal, field.Path, field.Left)
				has = add(has, difference.Signal, field.Path, field.Right)
			}
		}
	}
	return slices.Concat(had, counted, has)
}

// pathOf is a path of a comparison as a rule writes it.
func pathOf(path string) string {
	switch path {
	case "trace_id", "span_id", "parent_span_id":
		return path + ".string"
	}
	return path
}

func nameOf(path string) string {
	const longest = 100
	if characters := []rune(path); len(characters) > longest {
		path = string(characters[:longest]) + "…"
	}
	return path + " stays as it is"
}

// conditionOf is a condition that holds for a value of OTLP/JSON; of a list, for its length.
func conditionOf(path string, value json.RawMessage) (string, bool) {
	if literal, ok := literalOf(value); ok {
		return path + " == " + literal, true
	}
	var list []json.RawMessage
	var any struct {
		Array *struct {
			Values []json.RawMessage `json:"values"`
		} `json:"arrayValue"`
	}
	switch {
	case json.Unmarshal(value, &list) == nil:
	case json.Unmarshal(value, &any) == nil && any.Array != nil:
		list = any.Array.Values
	default:
		return "", false
	}
	return fmt.Sprintf("Len(%s) == %d", path, len(list)), true
}

// literalOf is a value of OTLP/JSON as OTTL writes it. It is not ok for a list or a mapping.
func literalOf(value json.RawMessage) (string, bool) {
	decoder := json.NewDecoder(bytes.NewReader(value))
	decoder.UseNumber()
	var plain any
	if len(value) == 0 || decoder.Decode(&plain) != nil {
		return "", false
	}
	inner, isMapping := plain.(map[string]any)
	if !isMapping {
		return scalarOf(plain)
	}
	for kind, content := range inner {
		text, isText := content.(string)
		switch {
		case len(inner) != 1:
			return "", false
		case kind == "intValue" && isText:
			if _, err := strconv.ParseInt(text, 10, 64); err != nil {
				return "", false
			}
			return text, true
		case kind == "doubleValue":
			literal, ok := scalarOf(content)
			if ok && !strings.ContainsAny(literal, ".eE\"") {
				literal += ".0"
			}
			return literal, ok && !isText
		case kind == "stringValue", kind == "boolValue", kind == "intValue":
			return scalarOf(content)
		}
	}
	return "", false
}

func scalarOf(plain any) (string, bool) {
	switch one := plain.(type) {
	case string:
		return strconv.Quote(one), len(one) <= 500
	case json.Number:
		return one.String(), true
	case bool:
		return fmt.Sprint(one), true
	}
	return "", false
}
