// Package steps tells what happened to each record in a traced run: what went into and came out of every component.
package steps

import "encoding/json"

// Document is all that is told of a traced run.
type Document struct {
	// Complete is set if every record of the run was recorded at every step.
	Complete bool    `json:"complete"`
	LeftOut  LeftOut `json:"left_out"`
	Steps    []Step  `json:"steps"`
}

// LeftOut counts what a trace does not have: records at their receiver, the oldest ones, and bytes.
type LeftOut struct {
	Records int   `json:"records"`
	Bytes   int64 `json:"bytes"`
}

// Step is a component in a pipeline: what the records in the trace went through there. Records are log records, spans
// and data points; a metric without data points is a record too.
type Step struct {
	// N counts the steps from 1, in the order of the pipelines.
	N int `json:"n"`
	// Pipeline is where the component stands; of a connector, the first one that feeds it, and Feeds those that it feeds.
	Pipeline  string   `json:"pipeline"`
	Feeds     []string `json:"feeds"`
	Kind      string   `json:"kind"`
	Component string   `json:"component"`
	// Replaces are the components of the configuration that the sample or the recorder stands for.
	Replaces []string `json:"replaces"`
	// Signal is what went in, OutSignal what came out: they differ for a connector only.
	Signal    string `json:"signal"`
	OutSignal string `json:"out_signal"`
	// Exact is set if each record's way through the component is known. Otherwise the component holds records for a time, or
	// puts new ones in their place, and they were matched by what they contain.
	Exact bool `json:"exact"`

	RecordsIn  int `json:"records_in"`
	RecordsOut int `json:"records_out"`
	Unchanged  int `json:"unchanged"`
	Changed    int `json:"changed"`
	Dropped    int `json:"dropped"`
	Created    int `json:"created"`
	Split      int `json:"split"`
	Merged     int `json:"merged"`

	// Errors are what the component returned to the one before it.
	Errors     []Failure   `json:"errors"`
	Statements []Statement `json:"statements"`
	// Records are what went in, in that order, then what was created. LeftOut are further ones, and details of records that
	// are too large.
	Records []Record `json:"records"`
	LeftOut int      `json:"left_out"`
}

// Statement is an OTTL statement or condition of a component. Its place is in the configuration as it was given; a
// statement that is not found there has no place.
type Statement struct {
	Kind string `json:"kind"` // statement or condition
	Text string `json:"text"`
	Place
	Context string `json:"context"`
	// Evaluated counts how often it was tried, Matched how often its condition held: for log records, spans, data points,
	// or whatever its context has. Changed and Dropped count records.
	Evaluated int       `json:"evaluated"`
	Matched   int       `json:"matched"`
	Changed   int       `json:"changed"`
	Dropped   int       `json:"dropped"`
	Errors    []Failure `json:"errors"`
}

// Place is where a statement stands in the configuration. Line and column count from 1; they are null, and the path is
// empty, if it is not there: it may have come out of a variable.
type Place struct {
	Path   string `json:"path"`
	Line   *int   `json:"line"`
	Column *int   `json:"column"`
}

// Failure is an error, and how often it came.
type Failure struct {
	Message string `json:"message"`
	Count   int    `json:"count"`
}

// Outcomes of a record at a step.
const (
	Unchanged = "unchanged"
	Changed   = "changed"
	Dropped   = "dropped"
	Created   = "created"
	// Split is for a record that came out as several, in one pipeline.
	Split = "split"
	// Merged is for a record that went into another one: of several, the first one is the one that was changed.
	Merged = "merged"
)

// Record is one record at one step.
type Record struct {
	// Record is its number in the sample from 1, null for one that was created. Records are those of all its ancestors if
	// there are several.
	Record  *int   `json:"record"`
	Records []int  `json:"records"`
	Outcome string `json:"outcome"`
	// Outputs is how many records came out for it.
	Outputs int    `json:"outputs"`
	Name    string `json:"name"`
	// By tells what changed or dropped it; it is empty if nothing did.
	By     []Reason `json:"by"`
	Fields []Field  `json:"fields"`
	// FieldsLeftOut counts changed fields that are not told.
	FieldsLeftOut int `json:"fields_left_out"`
}

// Reason is what changed or dropped a record: exactly one of Statement, Condition and Component is set.
type Reason struct {
	Statement string `json:"statement,omitempty"`
	Condition string `json:"condition,omitempty"`
	Component string `json:"component,omitempty"`
	Place
}

// Changes of a field.
const (
	FieldAdded   = "added"
	FieldRemoved = "removed"
	FieldChanged = "changed"
)

// Field is a field that differs after a step: `body`, `attributes["x"]`, `resource.attributes["y"]`. Before and After
// are JSON values, null where the field is not there; a long one is cut to a text that ends with "…".
type Field struct {
	Path   string          `json:"path"`
	Change string          `json:"change"`
	Before json.RawMessage `json:"before"`
	After  json.RawMessage `json:"after"`
	// By is the statement that changed it last, or null.
	By *Reason `json:"by"`
}
