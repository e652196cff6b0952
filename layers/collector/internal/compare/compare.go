// Package compare finds what differs between the outputs of two pipeline tests, record by record.
//
// Neither the order of records nor their batches matter. A record whose resource differs is a record that changed.
package compare

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/headgate/headgate/layers/collector/internal/operation"
)

// The codes of errors.
const (
	// NotOTLP is a text that is not OTLP/JSON; the message begins with `left: line 3: `.
	NotOTLP = "not_otlp"
	// BadPath is a path that nothing can have; the message begins with `ignore[0]: `.
	BadPath = "bad_path"
	// TooLarge is more output than can be compared.
	TooLarge = "too_large"
)

const (
	// maxBytes bounds both texts together.
	maxBytes = 16 << 20
	// maxDifferences, maxFields and maxAnswer bound what is told: records, fields of one, and bytes of all fields.
	maxDifferences = 500
	maxFields      = 100
	maxAnswer      = 1 << 20
	// maxSummary is how many paths a summary counts.
	maxSummary = 100
	maxName    = 120
	// names is about what the names of a field, or of a path that is counted, add to the answer.
	names = 80
	// work bounds taking records apart, in bytes looked at: some seconds.
	work = 250_000_000
)

// Span is when a run took place. Times that lie in it are taken for times that the run made: each equals any other.
type Span struct {
	From  time.Time `json:"from"`
	Until time.Time `json:"until"`
}

// Request holds two outputs: OTLP/JSON documents, one after the other.
type Request struct {
	Left  string `json:"left"`
	Right string `json:"right"`
	// Ignore are paths that are left out; nil stands for DefaultIgnore.
	Ignore []string `json:"ignore"`
	// LeftRan and RightRan are nil for an output of which nobody knows when it was made. Any time of it then equals a
	// time that the other side's run made.
	LeftRan  *Span `json:"left_ran"`
	RightRan *Span `json:"right_ran"`
	// MaxBytes bounds the fields that are told; 0 stands for maxAnswer, which is the most.
	MaxBytes int `json:"max_bytes"`
}

// Result is what differs.
type Result struct {
	Equal   bool                `json:"equal"`
	Signals map[string]*Summary `json:"signals"`
	// Differences are in the order of the left side, what was added last, by signal.
	Differences []Difference `json:"differences"`
	// LeftOut is how many more records differ.
	LeftOut int `json:"left_out"`
	// Profiles is how many documents with profiles there were: they are not compared.
	Profiles int `json:"profiles,omitempty"`
}

// Summary counts the records of a signal: log records, spans, data points.
type Summary struct {
	Left    int `json:"left"`
	Right   int `json:"right"`
	Same    int `json:"same"`
	Changed int `json:"changed"`
	Added   int `json:"added"`
	Missing int `json:"missing"`
	// Fields counts the records in which a path changed, the most frequent first.
	Fields []FieldCount `json:"fields"`
	// Complete is not set if some changed records or paths are not in Fields.
	Complete bool `json:"complete"`
}

// FieldCount is in how many changed records a path was added, is missing, or has another value.
type FieldCount struct {
	Path    string `json:"path"`
	Added   int    `json:"added"`
	Missing int    `json:"missing"`
	Changed int    `json:"changed"`
}

// Difference is a record that only one side has, or that is another one there.
type Difference struct {
	Signal string `json:"signal"`
	Change string `json:"change"`
	// Left and Right are the record's place among those of its signal, from 0.
	Left  *int   `json:"left"`
	Right *int   `json:"right"`
	Name  string `json:"name"`
	// Fields are those of a changed record.
	Fields []Field `json:"fields"`
	// FieldsLeftOut is how many more there are, -1 if the record was too large to be taken apart.
	FieldsLeftOut int `json:"fields_left_out,omitempty"`
}

// Handle answers `compare {left, right, ignore, left_ran, right_ran, max_bytes}`.
func Handle(ctx context.Context, raw json.RawMessage) (any, error) {
	var asked Request
	if err := json.Unmarshal(raw, &asked); err != nil {
		return nil, operation.BadRequest("reading the request: %v", err)
	}
	return Outputs(ctx, asked)
}

// Outputs compares two outputs.
func Outputs(ctx context.Context, asked Request) (*Result, error) {
	if asked.Ignore == nil {
		asked.Ignore = DefaultIgnore
	}
	ignore, err := newIgnored(asked.Ignore)
	if err != nil {
		return nil, err
	}
	both := len(asked.Left) + len(asked.Right)
	if both > maxBytes {
		return nil, tooLarge("%d bytes of output are too many: %d of both sides can be compared", both, maxBytes)
	}
	if members := strings.Count(asked.Left, "{") + strings.Count(asked.Right, "{"); members > maxMembers {
		return nil, tooLarge("the outputs have %d braces, which are too many records or attributes: %d of both sides can be compared",
			members, maxMembers)
	}
	left, err := read("left", asked.Left, asked.LeftRan, ignore)
	if err != nil {
		return nil, err
	}
	right, err := read("right", asked.Right, asked.RightRan, ignore)
	if err != nil {
		return nil, err
	}
	result := &Result{Equal: true, Signals: map[string]*Summary{}, Differences: []Difference{}}
	result.Profiles = left.profiles + right.profiles
	told := &telling{result: result, most: maxAnswer, differ: &differ{
		anyLeft: !left.knowsTimes && right.knowsTimes, anyRight: left.knowsTimes && !right.knowsTimes, work: work,
	}}
	if asked.MaxBytes > 0 {
		told.most = min(asked.MaxBytes, maxAnswer)
	}
	for _, signal := range signals {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if len(left.records[signal])+len(right.records[signal]) > 0 {
			told.signal(signal, left.records[signal], right.records[signal])
		}
	}
	return result, nil
}

func tooLarge(format string, arguments ...any) error {
	return &operation.Error{Code: TooLarge, Message: fmt.Sprintf(format, arguments...)}
}

// telling writes the result.
type telling struct {
	result *Result
	differ *differ
	// most bounds bytes, the size of what is told so far.
	most, bytes int
}

func (t *telling) signal(signal string, left, right []*record) {
	same, pairs := match(left, right, signal, t.differ)
	summary := &Summary{Left: len(left), Right: len(right), Same: same, Complete: true, Fields: []FieldCount{}}
	t.result.Signals[signal] = summary
	counts := map[string]*FieldCount{}
	for _, one := range pairs {
		difference := Difference{Signal: signal, Fields: []Field{}}
		switch {
		case one.left == nil:
			summary.Added++
			difference.Change, difference.Right, difference.Name = added, &one.right.index, one.right.name(signal)
		case one.right == nil:
			summary.Missing++
			difference.Change, difference.Left, difference.Name = missing, &one.left.index, one.left.name(signal)
		default:
			difference.Change, difference.Left, difference.Right = changed, &one.left.index, &one.right.index
			difference.Name = one.right.name(signal)
			if !t.fields(&difference, one, summary, counts) {
				summary.Same++
				continue
			}
			summary.Changed++
		}
		t.result.Equal = false
		t.add(difference)
	}
	for _, count := range counts {
		summary.Fields = append(summary.Fields, *count)
	}
	slices.SortFunc(summary.Fields, func(a, b FieldCount) int {
		return cmp.Or(cmp.Compare(b.Added+b.Missing+b.Changed, a.Added+a.Missing+a.Changed), cmp.Compare(a.Path, b.Path))
	})
	shown, size := 0, 0
	for shown < min(len(summary.Fields), maxSummary) && size < t.most/4 {
		size += len(summary.Fields[shown].Path) + names
		shown++
	}
	if shown < len(summary.Fields) {
		summary.Fields, summary.Complete = summary.Fields[:shown], false
	}
}

// full tells whether no more differences are listed; they are counted.
func (t *telling) full() bool {
	return len(t.result.Differences) >= maxDifferences || t.bytes > t.most
}

// fields finds the fields in which a pair differs, and counts them. It returns false if there are none.
func (t *telling) fields(difference *Difference, one pair, summary *Summary, counts map[string]*FieldCount) bool {
	number := 0
	t.differ.found = func(path, change string, left, right value) {
		number++
		if len(difference.Fields) < maxFields && !t.full() {
			field := newField(path, change, left, right)
			t.bytes += len(field.Path) + len(field.Left) + len(field.Right) + names
			difference.Fields = append(difference.Fields, field)
		}
		count := counts[path]
		if count == nil {
			if len(counts) >= 100*maxSummary {
				summary.Complete = false
				return
			}
			count = &FieldCount{Path: path}
			counts[path] = count
		}
		switch change {
		case added:
			count.Added++
		case missing:
			count.Missing++
		default:
			count.Changed++
		}
	}
	t.differ.records(one.left, one.right)
	difference.FieldsLeftOut = number - len(difference.Fields)
	if t.differ.work < 0 {
		difference.FieldsLeftOut, summary.Complete = -1, false
		return true
	}
	return number > 0
}

func (t *telling) add(difference Difference) {
	if t.full() && difference.Change != changed || len(t.result.Differences) >= maxDifferences || t.bytes > 2*t.most {
		t.result.LeftOut++
		return
	}
	t.bytes += len(difference.Name) + 2*names
	t.result.Differences = append(t.result.Differences, difference)
}

// name is a short text that a person recognizes the record by.
func (r *record) name(signal string) string {
	name := ""
	switch signal {
	case "logs":
		switch body := r.own.whole.named("body"); body.kind {
		case text:
			name = body.text
		case empty:
			name = r.own.whole.named("event_name").text
		default:
			name = string(appendJSON(nil, body, maxName))
		}
	case "traces":
		name = r.own.whole.named("name").text
	default:
		name = r.parts[2].whole.named("name").text
		for i, one := range r.own.whole.named("attributes").children() {
			shown := one.text
			if one.kind != text {
				shown = string(appendJSON(nil, one, maxName))
			}
			if name += fmt.Sprintf(" %s=%s", start(r.own.whole.named("attributes").items.names[i], maxName), start(shown, maxName)); len(name) > maxName {
				break
			}
		}
	}
	if short := start(name, maxName); short != name {
		return short + "…"
	}
	return name
}
