package steps

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/headgate/headgate/layers/collector/internal/tracefile"
)

// A trace comes from a collector that ran a stranger's configuration, so nothing in it is trusted: what does not fit is an
// error, and everything is bounded by its size.

// Bounds on a trace. A run's configuration has far fewer components (see source.Count), and its trace fewer records.
const (
	mostRecords    = 1_500_000
	mostSteps      = 3_000
	mostPipelines  = 1_000
	mostListed     = 20_000
	mostTargets    = 100
	mostStatements = 2_000
)

// signals are what a component takes and puts out.
var signals = []string{"logs", "traces", "metrics"}

// definition is a component as the collector built it.
type definition struct {
	kind, component, pipeline string
	signal, outSignal         string
}

// Levels of a batch, as the writer counts them.
const (
	levelResource = iota
	levelScope
	levelMetric
	levelRecord
)

// item is a record at one place: the contents of its parts, and the numbers of its resource, scope and metric within the
// batch.
type item struct {
	parts [4]int32
	under [3]int32
	// number is that of the sample's record that it comes from, 0 if there is none.
	number int32
}

// event is a batch that went into a component or came out of it.
type event struct {
	in        bool
	id, step  int
	call      int
	from      int
	first     int
	pipelines []string
	origins   []int32
	items     []item
	// same is set for a batch that came out as it went in.
	same bool
}

// tally is what a statement or condition did in a call.
type tally struct {
	step, call, nth, level int
	kind, text, context    string
	evaluated, matched     int
	places                 []int32
	changes                []stateChange
	errors                 map[string]int
}

// stateChange is a part after a statement. Its content is -1 if the data points of a metric are other ones.
type stateChange struct {
	number, level, place, content int
}

// recorded is what was read of a trace.
type recorded struct {
	pipelines map[string]pipelineLists
	steps     map[int]definition
	events    []event
	tallies   []tally
	errors    map[int]string
	// contents are the parts, as they stand in the trace; 0 is that of nothing.
	contents []string
	lost     int64
	cut      bool
	records  int
	received int
	// lostBatches are batches that came out, of which it is not known what became of them; lostCalls are calls of which it is
	// not known what came out.
	lostBatches, lostCalls map[int]bool
}

// pipelineLists are the components of a pipeline.
type pipelineLists struct {
	Receivers  []string `json:"receivers"`
	Processors []string `json:"processors"`
	Exporters  []string `json:"exporters"`
}

// part is one of the files of a trace.
type part struct {
	turn  int
	lines [][]byte
}

var errNotATrace = errors.New("it is not a trace")

// read reads the files of a trace, which stand one after the other, in any order.
func read(text string) (*recorded, error) {
	var parts []part
	for number, raw := range bytes.Split([]byte(text), []byte("\n")) {
		if len(raw) == 0 {
			continue
		}
		if bytes.HasPrefix(raw, []byte(`["v",`)) {
			var head []json.RawMessage
			var format, turn int
			err := json.Unmarshal(raw, &head)
			if err = errors.Join(err, values(head, &format, &turn)); err != nil || format != tracefile.Format {
				return nil, fmt.Errorf("line %d: %w of format %d", number+1, errNotATrace, tracefile.Format)
			}
			parts = append(parts, part{turn: turn})
		}
		if len(parts) == 0 {
			return nil, errNotATrace
		}
		own := &parts[len(parts)-1]
		own.lines = append(own.lines, raw)
	}
	slices.SortStableFunc(parts, func(a, b part) int { return cmp.Compare(a.turn, b.turn) })
	t := &recorded{
		steps: map[int]definition{}, errors: map[int]string{}, contents: []string{""}, lostBatches: map[int]bool{}, lostCalls: map[int]bool{}, pipelines: map[string]pipelineLists{},
	}
	known := map[string]int32{"": 0}
	for _, own := range parts {
		r := reader{t, known, map[int]int32{}, map[int]string{}}
		for _, raw := range own.lines {
			if err := r.line(raw); err != nil {
				return nil, fmt.Errorf("%w: %w", errNotATrace, err)
			}
		}
	}
	return t, nil
}

// reader reads one part. Numbers of contents and texts hold within it.
type reader struct {
	*recorded
	known   map[string]int32
	content map[int]int32
	texts   map[int]string
}

// values reads the values of a line after its kind; nil ones are passed over.
func values(parts []json.RawMessage, into ...any) error {
	if len(parts) <= len(into) {
		return fmt.Errorf("a line has %d values, not %d", len(parts)-1, len(into))
	}
	for i, value := range into {
		if value == nil {
			continue
		}
		if err := json.Unmarshal(parts[i+1], value); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) line(raw []byte) error {
	var parts []json.RawMessage
	if err := json.Unmarshal(raw, &parts); err != nil || len(parts) == 0 {
		return errors.New("a line is not an array")
	}
	switch string(parts[0]) {
	case `"v"`:
		var lost int64
		err := values(parts, nil, nil, &lost)
		r.lost = max(r.lost, lost)
		return err
	case `"g"`:
		return r.graph(parts)
	case `"r"`, `"k"`, `"l"`:
		var number int
		err := values(parts, &number)
		switch string(parts[0]) {
		case `"r"`:
			r.received = max(r.received, number)
		case `"k"`:
			r.lostBatches[number] = true
		default:
			r.lostCalls[number] = true
		}
		return err
	case `"s"`:
		var number int
		var d definition
		if err := values(parts, &number, &d.kind, &d.component, &d.pipeline, &d.signal, &d.outSignal); err != nil {
			return err
		}
		if !slices.Contains(signals, d.signal) || !slices.Contains(signals, d.outSignal) {
			return errors.New("a component has no signal")
		}
		if r.steps[number] = d; len(r.steps) > mostSteps {
			return errors.New("it has too many components")
		}
	case `"x"`:
		r.cut = true
	case `"c"`:
		var number int
		var content string
		if err := values(parts, &number, &content); err != nil {
			return err
		}
		if _, is := r.known[content]; !is {
			r.known[content] = int32(len(r.contents))
			r.contents = append(r.contents, content)
		}
		r.content[number] = r.known[content]
	case `"t"`:
		var number int
		var text string
		err := values(parts, &number, &text)
		r.texts[number] = text
		return err
	case `"e"`:
		var call int
		var message string
		err := values(parts, &call, &message)
		r.errors[call] = message
		return err
	case `"i"`:
		return r.entered(parts)
	case `"o"`:
		return r.left(parts)
	case `"q"`:
		return r.evaluated(parts)
	}
	return nil
}

func (r *reader) graph(parts []json.RawMessage) error {
	if err := values(parts, &r.pipelines); err != nil {
		return err
	}
	listed := 0
	for _, lists := range r.pipelines {
		listed += len(lists.Receivers) + len(lists.Processors) + len(lists.Exporters)
	}
	if len(r.pipelines) > mostPipelines || listed > mostListed {
		return errors.New("it has too many pipelines")
	}
	return nil
}

func (r *reader) entered(parts []json.RawMessage) error {
	e := event{in: true}
	if err := values(parts, &e.call, &e.step, &e.from); err != nil {
		return err
	}
	step, known := r.steps[e.step]
	if !known {
		return errors.New("an unknown component was given a batch")
	}
	if e.from == 0 && len(parts) > 4 {
		if err := r.shape(parts[4], step.signal, &e); err != nil {
			return err
		}
	}
	r.events = append(r.events, e)
	return nil
}

func (r *reader) left(parts []json.RawMessage) error {
	var e event
	var runs []int32
	if err := values(parts, &e.id, &e.step, &e.call, &e.first, &e.pipelines, &runs, nil); err != nil {
		return err
	}
	step, known := r.steps[e.step]
	if !known || len(e.pipelines) > mostTargets {
		return errors.New("an unknown component put out a batch")
	}
	for i := 0; i+1 < len(runs); i += 2 {
		first, many := runs[i], runs[i+1]
		if r.records += int(many); many < 0 || r.records > mostRecords {
			return errTooMany
		}
		for n := range many {
			if first < 0 {
				e.origins = append(e.origins, -1)
			} else {
				e.origins = append(e.origins, first+n)
			}
		}
	}
	if e.same = string(parts[7]) == "0"; !e.same {
		if err := r.shape(parts[7], step.outSignal, &e); err != nil {
			return err
		}
	}
	r.events = append(r.events, e)
	return nil
}

var errTooMany = fmt.Errorf("it has more than %d records", mostRecords)

func (r *reader) evaluated(parts []json.RawMessage) error {
	var t tally
	var text int
	var runs []int32
	var changes []int
	err := values(parts, &t.step, &t.call, &t.kind, &text, &t.nth, &t.context, &t.level, &t.evaluated, &t.matched,
		&runs, &changes, &t.errors)
	if err != nil {
		return err
	}
	if t.level < 0 || t.level > levelRecord || t.kind != kindStatement && t.kind != kindCondition {
		return errors.New("a statement is unknown")
	}
	t.text = r.texts[text]
	for i := 0; i+1 < len(runs); i += 2 {
		if r.records += int(runs[i+1]); runs[i] < 0 || runs[i+1] < 0 || r.records > mostRecords {
			return errTooMany
		}
		for n := range runs[i+1] {
			t.places = append(t.places, runs[i]+n)
		}
	}
	for i := 0; i+3 < len(changes); i += 4 {
		c := stateChange{changes[i], changes[i+1], changes[i+2], changes[i+3]}
		if c.level < 0 || c.level > levelRecord || c.place < 0 {
			return errors.New("a statement changed nothing that there is")
		}
		if c.content >= 0 {
			c.content = int(r.content[c.content])
		}
		t.changes = append(t.changes, c)
	}
	r.tallies = append(r.tallies, t)
	return nil
}
