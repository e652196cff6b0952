package tell

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// ComponentError is what a component of a run complained of: an error of its log, or a warning with an error in it.
type ComponentError struct {
	// Component is its path, `receivers::filelog`; Message the first of its messages of this kind.
	Component string `json:"component"`
	Message   string `json:"message"`
	Count     int    `json:"count"`
	// Record is the number of the first record that it is about, from 1; nil where the component does not tell.
	Record *int `json:"record"`
}

// RunNote is a note on a run, with a stable code.
type RunNote struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Limits on what is told.
const (
	maxErrors  = 20
	maxNotes   = 50
	maxMessage = 1_000
)

// logged are the fields of a record of the collector's log that say what is wrong, and where.
type logged struct {
	ID       string `json:"otelcol.component.id"`
	Kind     string `json:"otelcol.component.kind"`
	Error    string `json:"error"`
	Operator string `json:"operator_id"`
	Record   *int   `json:"log.file.record_number"`
}

// ComponentErrors returns what the components complained of, in the order of their first messages. The same message about
// different records counts once.
func ComponentErrors(stderr string) []ComponentError {
	found, known := []ComponentError{}, map[string]int{}
	for _, text := range withoutTraces(stderr) {
		parts := record.FindStringSubmatch(text)
		if parts == nil || parts[1] == "debug" || parts[1] == "info" {
			continue
		}
		end := strings.LastIndex(parts[2], "\t{")
		var fields logged
		if end < 0 || json.Unmarshal([]byte(parts[2][end+1:]), &fields) != nil || fields.ID == "" || fields.Kind == "" {
			continue
		}
		if parts[1] == "warn" && fields.Error == "" {
			continue
		}
		message := parts[2][:end]
		if _, after, placed := strings.Cut(message, "\t"); placed {
			message = after
		}
		if fields.Operator != "" {
			message = fields.Operator + ": " + message
		}
		if fields.Error != "" {
			message += ": " + fields.Error
		}
		message = shortened(strings.Join(strings.Fields(message), " "))
		component := fields.Kind + "s::" + fields.ID
		if at, again := known[component+"\n"+message]; again {
			found[at].Count++
			continue
		}
		if len(found) == maxErrors {
			continue
		}
		known[component+"\n"+message] = len(found)
		found = append(found, ComponentError{Component: component, Message: message, Count: 1, Record: fields.Record})
	}
	return found
}

func shortened(text string) string {
	if len(text) <= maxMessage {
		return text
	}
	return strings.ToValidUTF8(text[:maxMessage], "") + "…"
}

const dropsRecords = "drops_records"

type noteCode struct{ code, words string }

// noteCodes are the codes of notes, by what only they say.
var noteCodes = []noteCode{
	{"waits", ", and the run lasts "},
	{"finds_nothing", " finds nothing in a run"},
	{"changed_value", " is read as a number"},
	{dropsRecords, "drops "},
	{dropsRecords, "puts out no "},
	{"replaced_component", " is replaced in the run"},
	{"no_steps", "this run has no steps"},
	{"nothing_came_out", "nothing came out of the pipeline"},
	{"crashed_at_shutdown", "the collector crashed after its shutdown"},
	{"rule", "rule '"},
}

// namesWhatDrops tells whether notes name a component that loses records.
func namesWhatDrops(notes string) bool {
	return slices.ContainsFunc(noteCodes, func(one noteCode) bool {
		return one.code == dropsRecords && strings.Contains(notes, one.words)
	})
}

// harmless are words of the notes that tell of no fault: nothing is lost, or it is what the request asked for. They are
// on standard error only.
var harmless = []string{"what it holds comes out when the run stops", ": the output has only what "}

var noteLine = regexp.MustCompile(`(?m)^headgate: (?:note: )?(.+)$`)

// notesOf returns the notes among what a run says, which begin with the name of this service.
func notesOf(said string) []RunNote {
	notes := []RunNote{}
	for _, match := range noteLine.FindAllStringSubmatch(said, maxNotes) {
		if slices.ContainsFunc(harmless, func(words string) bool { return strings.Contains(match[1], words) }) {
			continue
		}
		code := "other"
		for _, one := range noteCodes {
			if strings.Contains(match[1], one.words) {
				code = one.code
				break
			}
		}
		notes = append(notes, RunNote{Code: code, Message: shortened(match[1])})
	}
	return notes
}
