package steps

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

// Bounds on the answer, in bytes: it must fit what carries it, also if its texts cannot be compressed.
const (
	largestAnswer  = 3_300_000
	largestRecords = 2_600_000
	longestText    = 4_000
	fieldsTold     = 200
	statesCompared = 100
	reasonsTold    = 50
)

// answer is the document of a trace.
func (f *follower) answer(source *source) *Document {
	document := &Document{Steps: []Step{}, LeftOut: LeftOut{Records: f.oldest - 1, Bytes: f.lost}}
	if kept := f.received - f.oldest + 1 - f.numbered(); kept > 0 {
		document.LeftOut.Records += kept
	}
	document.Complete = !f.cut && f.lost == 0 && document.LeftOut.Records == 0 && !f.lostAny
	told := make([]*teller, 0, len(f.order))
	size := 0
	for n, at := range f.order {
		of := f.flows[at]
		t := &teller{follower: f, of: of, accounts: f.accountsOf(of, source.placed)}
		document.Steps = append(document.Steps, t.step(n+1, source))
		document.Complete = document.Complete && !t.accounts.cut
		t.shorten()
		size += len(encoded(document.Steps[n]))
		told = append(told, t)
	}
	f.tellRecords(document, told, min(largestRecords, largestAnswer-size))
	return document
}

// numbered counts the records of the sample that are followed.
func (f *follower) numbered() int {
	count := 0
	for _, own := range f.nodes {
		if own.number > 0 && !own.lost {
			count++
		}
	}
	return count
}

func encoded(value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		return nil
	}
	return text
}

// teller tells one step.
type teller struct {
	*follower
	of       *flow
	accounts *accounts
}

func (t *teller) step(n int, source *source) Step {
	own := t.of.own
	step := Step{
		N: n, Pipeline: t.of.key.pipeline, Feeds: []string{}, Kind: own.kind, Component: own.component,
		Replaces: source.replaced(t.of), Signal: own.signal, OutSignal: own.outSignal,
		Exact: !t.of.sets && !(t.of.waits && len(t.of.entries) > 0), Errors: added([]Failure{}, t.of.errors),
		Statements: t.accounts.statements, Records: []Record{},
	}
	if own.kind == "connector" {
		step.Feeds = t.fedBy(own)
	}
	for i := range t.of.entries {
		e := &t.of.entries[i]
		if e.node == 0 {
			continue
		}
		if !e.created {
			step.RecordsIn++
		}
		step.RecordsOut += e.outputs
		switch e.outcome {
		case Unchanged:
			step.Unchanged++
		case Changed:
			step.Changed++
		case Dropped:
			step.Dropped++
		case Created:
			step.Created++
		case Split:
			step.Split++
		case Merged:
			step.Merged++
		}
	}
	if own.kind == "exporter" {
		step.RecordsOut = step.RecordsIn
	}
	if step.Statements == nil {
		step.Statements = []Statement{}
	}
	return step
}

// shorten bounds the statements of a step.
func (t *teller) shorten() {
	for i := range t.accounts.statements {
		s := &t.accounts.statements[i]
		if len(s.Text) > longestText {
			s.Text = strings.ToValidUTF8(s.Text[:longestText], "") + "…"
		}
	}
}

// toldRecord is a record of a step that is to be told: its place in the step, and in the order of the sample.
type toldRecord struct {
	step, place int
	number      int
}

// tellRecords adds the records of the steps, the newest of the sample first until the size is reached: each at every step
// or at none.
func (f *follower) tellRecords(document *Document, told []*teller, size int) {
	byNumber := map[int][]toldRecord{}
	var created []toldRecord
	newest := 0
	for n, t := range told {
		for i := range t.of.entries {
			e := &t.of.entries[i]
			if e.node == 0 {
				continue
			}
			if numbers := f.ancestors(e.node); len(numbers) > 0 {
				newest = max(newest, numbers[0])
				byNumber[numbers[0]] = append(byNumber[numbers[0]], toldRecord{n, i, numbers[0]})
			} else {
				created = append(created, toldRecord{n, i, 0})
			}
		}
	}
	kept := make([]map[int]Record, len(told))
	for n := range kept {
		kept[n] = map[int]Record{}
	}
	// A third of the room is for the newest records that a component created.
	room := size
	tell := func(records []toldRecord, least int) bool {
		var made []Record
		needed := 0
		for _, one := range records {
			record := told[one.step].record(one.place)
			needed += len(encoded(record)) + 1
			made = append(made, record)
			if room-needed < least {
				return false
			}
		}
		room -= needed
		for i, one := range records {
			kept[one.step][one.place] = made[i]
		}
		return true
	}
	for _, one := range slices.Backward(created) {
		if !tell([]toldRecord{one}, 2*size/3) {
			break
		}
	}
	for number := newest; number > 0; number-- {
		if records := byNumber[number]; len(records) > 0 && !tell(records, 0) {
			break
		}
	}
	for n, t := range told {
		step := &document.Steps[n]
		for i := range t.of.entries {
			if record, is := kept[n][i]; is {
				step.Records = append(step.Records, record)
			} else if t.of.entries[i].node != 0 {
				step.LeftOut++
			}
		}
	}
}

// record tells what became of a record at a step.
func (t *teller) record(place int) Record {
	e := &t.of.entries[place]
	signal, state := t.of.own.signal, &e.in
	if e.created {
		signal, state = t.of.own.outSignal, &e.out
	}
	record := Record{
		Outcome: e.outcome, Outputs: e.outputs, Name: t.decoder.name(signal, state), By: []Reason{}, Fields: []Field{},
		Records: t.ancestors(e.node),
	}
	if t.of.own.kind == "exporter" {
		record.Outputs = 1
	}
	if len(record.Records) > 0 {
		record.Record = &record.Records[0]
	}
	switch e.outcome {
	case Dropped:
		if by := t.of.drops(e); by != nil {
			record.By = []Reason{t.accounts.reason(by)}
		} else {
			record.By = []Reason{t.component()}
		}
	case Changed, Split, Merged:
		t.changes(e, &record)
	case Created:
		if t.of.own.kind != "receiver" {
			record.By = []Reason{t.component()}
		}
	}
	return record
}

func (t *teller) component() Reason { return Reason{Component: t.of.own.component} }

// changes tells which fields of a record changed, and by what.
func (t *teller) changes(e *entry, record *Record) {
	by := map[string]*Reason{}
	var replaced *Reason // by what a metric has other data points
	at := e.in
	for i, made := range e.states() {
		reason := t.accounts.reason(made.by)
		if len(record.By) < reasonsTold && !slices.ContainsFunc(record.By, func(known Reason) bool { return sameReason(known, reason) }) {
			record.By = append(record.By, reason)
		}
		if made.content < 0 {
			replaced = &reason
		}
		if made.content < 0 || i >= statesCompared {
			continue
		}
		next := at
		next.parts[made.level] = int32(made.content)
		for _, field := range t.decoder.differences(t.of.own.signal, &at, &next) {
			by[field.Path] = &reason
		}
		at = next
	}
	if len(record.By) == 0 {
		record.By = t.otherwise(e)
	}
	if e.outputs == 0 || t.of.own.signal != t.of.own.outSignal {
		return
	}
	for _, field := range t.decoder.differences(t.of.own.signal, &e.in, &e.out) {
		if len(record.Fields) >= fieldsTold {
			record.FieldsLeftOut++
			continue
		}
		field.Before, field.After, field.By = cut(field.Before), cut(field.After), cmp.Or(by[field.Path], replaced)
		record.Fields = append(record.Fields, field)
	}
}

// otherwise is the condition for which the filter took events out of a span, or the component.
func (t *teller) otherwise(e *entry) []Reason {
	if plainType(t.of.own.component) == "filter" {
		if found := e.condition(); found != nil {
			return []Reason{t.accounts.reason(found)}
		}
	}
	return []Reason{t.component()}
}

func sameReason(a, b Reason) bool {
	return a.Statement == b.Statement && a.Condition == b.Condition && a.Component == b.Component && a.Path == b.Path
}
