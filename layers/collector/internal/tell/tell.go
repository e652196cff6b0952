// Package tell composes what a test run says on standard error: notes, and the collector's own words for a reader.
package tell

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/headgate/headgate/layers/collector/internal/operation"
)

// largest is more than a sandbox leaves of a collector's standard error, and notes with it.
const largest = 1 << 20

const (
	nothingCameOut = "headgate: nothing came out of the pipeline"
	// mostOften is for a run of which no note names a component that loses records.
	mostOften = "; most often a filter or a sampling processor dropped all of the sample, a processor held it for longer than " +
		"duration_seconds, or the receiver's operators took no line of it"
)

const neverExecuted = "The test was never executed: "

// Request is how a run ended, and what there is to say about it.
type Request struct {
	Executed bool   `json:"executed"`
	Ran      bool   `json:"ran"`
	Reason   string `json:"reason"`
	Cause    string `json:"cause"`
	Proposal string `json:"proposal"`
	// Stderr is what the collector wrote, Notes what the preparation noted, NothingOut its reason for an empty output; Noted
	// are lines of notes as this operation writes them.
	Stderr     string   `json:"stderr"`
	Notes      []string `json:"notes"`
	Noted      string   `json:"noted"`
	NothingOut string   `json:"nothing_out"`
	// Records are those of the output, by signal; nil if they were not counted.
	Records map[string]int `json:"records"`
	// Rules are notes on rules.
	Rules []Note `json:"rules"`
}

// Note is a note on a rule, empty for none.
type Note struct {
	Name string `json:"name"`
	Note string `json:"note"`
}

// Answer is what a run says. Why is the reason with its cause, in one line, empty if it ran.
type Answer struct {
	Stderr string `json:"stderr"`
	Why    string `json:"why"`
	// ComponentErrors are what the components complained of, Notes those of this service, which Stderr has as well.
	ComponentErrors []ComponentError `json:"component_errors"`
	Notes           []RunNote        `json:"notes"`
}

// Handle answers `tell {executed, ran, reason, …}` with `{stderr, why}`.
func Handle(_ context.Context, raw json.RawMessage) (any, error) {
	if len(raw) > largest {
		return nil, operation.BadRequest("the request is over %d bytes", largest)
	}
	var request Request
	if err := json.Unmarshal(raw, &request); err != nil {
		return nil, operation.BadRequest("reading the request: %v", err)
	}
	return Run(request), nil
}

// Run composes what a run says.
func Run(request Request) Answer {
	why := request.Reason
	if request.Cause != "" {
		why += ": " + request.Cause
	}
	var said strings.Builder
	switch {
	case !request.Executed:
		return Answer{Stderr: neverExecuted + why, Why: why, ComponentErrors: []ComponentError{}, Notes: []RunNote{}}
	case !request.Ran:
		said.WriteString("headgate: " + why + "\n")
		if request.Proposal != "" {
			said.WriteString(note(request.Proposal))
		}
	default:
		why = ""
		onOutput(&said, request)
	}
	for _, text := range request.Notes {
		said.WriteString(note(text))
	}
	said.WriteString(request.Noted)
	notes := notesOf(strings.TrimPrefix(said.String(), "headgate: "+why+"\n"))
	said.WriteString(Log(request.Stderr))
	return Answer{Stderr: said.String(), Why: why, ComponentErrors: ComponentErrors(request.Stderr), Notes: notes}
}

// onOutput writes notes on the output, on how the collector ended, and on the rules.
func onOutput(said *strings.Builder, request Request) {
	if request.Records != nil && isEmpty(request.Records) {
		said.WriteString(nothingCameOut)
		if !namesWhatDrops(request.Noted + strings.Join(request.Notes, "\n")) {
			said.WriteString(mostOften)
		}
		said.WriteString("\n")
		if request.NothingOut != "" {
			said.WriteString(note(request.NothingOut))
		}
	}
	if Crashed(request.Stderr) {
		said.WriteString(note("the collector crashed after its shutdown, when the output was complete: a component sent records to an " +
			"exporter that was gone"))
	}
	for _, rule := range request.Rules {
		if rule.Note != "" {
			said.WriteString(note("rule '" + rule.Name + "': " + rule.Note))
		}
	}
}

func isEmpty(records map[string]int) bool {
	for _, count := range records {
		if count > 0 {
			return false
		}
	}
	return true
}

// note returns a line.
func note(text string) string {
	return "headgate: note: " + strings.Join(strings.Fields(text), " ") + "\n"
}
