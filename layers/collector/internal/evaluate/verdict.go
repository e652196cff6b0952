package evaluate

import (
	"fmt"

	"github.com/headgate/headgate/layers/collector/internal/rules"
)

// Verdict is the outcome of one rule. Message says what was counted and, if the rule failed, what was expected; Note is
// something about its condition that its writer may not expect, or empty.
type Verdict struct {
	Matched int    `json:"matched"`
	Total   int    `json:"total"`
	Passed  bool   `json:"passed"`
	Message string `json:"message"`
	Note    string `json:"note"`
}

var things = map[string][2]string{
	"resource":  {"resource", "resources"},
	"scope":     {"scope", "scopes"},
	"log":       {"log record", "log records"},
	"span":      {"span", "spans"},
	"spanevent": {"span event", "span events"},
	"metric":    {"metric", "metrics"},
	"datapoint": {"data point", "data points"},
	"profile":   {"profile", "profiles"},

	"profilesample": {"sample of a profile", "samples of profiles"},

	rules.ComponentError: {"component error", "component errors"},
}

// NewVerdict compares what was counted with what the rule expects.
func NewVerdict(rule rules.Rule, tally rules.Tally) Verdict {
	verdict := Verdict{Matched: tally.Matched, Total: tally.Total, Message: seen(rule.Context, tally)}
	var expected string
	switch rule.Expect {
	case rules.ExpectAll:
		verdict.Passed = tally.Total > 0 && tally.Matched == tally.Total
		expected = "all, and at least 1"
	case rules.ExpectNone:
		// Where the condition could not be evaluated, it may hold.
		verdict.Passed = tally.Matched == 0 && tally.Failed == 0
		expected = "none"
	case rules.ExpectCount:
		verdict.Passed = (rule.Min == nil || tally.Matched >= *rule.Min) && (rule.Max == nil || tally.Matched <= *rule.Max)
		expected = between(rule.Min, rule.Max)
	default:
		verdict.Passed = tally.Matched > 0
		expected = "at least 1"
	}
	if !verdict.Passed {
		verdict.Message += "; expected " + expected
	}
	if tally.Failed > 0 {
		verdict.Message += fmt.Sprintf("; it could not be evaluated on %d, the first time because: %s",
			tally.Failed, shortened(tally.FirstFailure))
	}
	return verdict
}

func seen(context string, tally rules.Tally) string {
	names := things[context]
	switch tally.Total {
	case 0:
		return "the output has no " + names[1]
	case 1:
		return fmt.Sprintf("%d of 1 %s matched", tally.Matched, names[0])
	default:
		return fmt.Sprintf("%d of %d %s matched", tally.Matched, tally.Total, names[1])
	}
}

func items(count int, context string) string {
	if count == 1 {
		return "1 " + things[context][0]
	}
	return fmt.Sprintf("%d %s", count, things[context][1])
}

func between(least, most *int) string {
	switch {
	case least != nil && most != nil && *least == *most:
		return fmt.Sprintf("exactly %d", *least)
	case least != nil && most != nil:
		return fmt.Sprintf("%d to %d", *least, *most)
	case least != nil:
		return fmt.Sprintf("at least %d", *least)
	case most != nil:
		return fmt.Sprintf("at most %d", *most)
	default:
		return "any number"
	}
}

// shortened cuts a long message: the engine may quote a whole log record.
func shortened(message string) string {
	const longest = 300
	text := []rune(message)
	if len(text) <= longest {
		return message
	}
	return string(text[:longest]) + " ..."
}
