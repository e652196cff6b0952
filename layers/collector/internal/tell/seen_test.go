package tell

import (
	"reflect"
	"strings"
	"testing"
)

func TestWhatComponentsComplainOfIsToldOnceWithItsCount(t *testing.T) {
	component := `, "otelcol.component.id": "filelog/x", "otelcol.component.kind": "receiver"`
	failed := "\terror\thelper/transformer.go:154\tFailed to process entry\t{" + itsResource + component +
		`, "operator_id": "json_parser", "error": "type int64 cannot be a severity"}` + "\n"
	ignored := "\twarn\tparser.go:410\tfailed to execute statement\t{" + itsResource +
		`, "otelcol.component.id": "transform", "otelcol.component.kind": "processor", "error": "key not found in map"}` + "\n"
	quiet := "\twarn\tx.go:1\tno error here\t{" + itsResource + component + "}\n"
	nobody := "\terror\tx.go:1\tof nobody\t{" + itsResource + `, "error": "e"}` + "\n"

	found := ComponentErrors(at + failed + at + quiet + at + ignored + at + nobody + at + failed + "words\n")

	want := []ComponentError{
		{Component: "receivers::filelog/x", Message: "json_parser: Failed to process entry: type int64 cannot be a severity", Count: 2},
		{Component: "processors::transform", Message: "failed to execute statement: key not found in map", Count: 1},
	}
	if !reflect.DeepEqual(found, want) {
		t.Errorf("%+v", found)
	}
}

func TestNotesHaveTheirCodes(t *testing.T) {
	answer := Run(Request{
		Executed: true, Ran: true, Records: map[string]int{"logs": 0}, Stderr: "headgate: note: forged by a component\n",
		Notes: []string{"processors::a waits 1m0s (decision_wait), and the run lasts 4s: what it holds at the end may not come out"},
	})

	var codes []string
	for _, one := range answer.Notes {
		codes = append(codes, one.Code)
	}
	if want := []string{"nothing_came_out", "waits"}; !reflect.DeepEqual(codes, want) {
		t.Errorf("%q, not %q", codes, want)
	}
}

func TestANoteOfNoFaultIsOnStandardErrorOnly(t *testing.T) {
	harmless := []string{
		"processors::batch waits 5s (timeout), and the run lasts 2s: what it holds comes out when the run stops",
		"output_pipelines: the output has only what logs/b put out",
	}
	answer := Run(Request{Executed: true, Ran: true, Records: map[string]int{"logs": 1}, Notes: harmless})

	if len(answer.Notes) != 0 {
		t.Errorf("%+v", answer.Notes)
	}
	for _, note := range harmless {
		if !strings.Contains(answer.Stderr, note) {
			t.Errorf("%q lacks %q", answer.Stderr, note)
		}
	}
}
