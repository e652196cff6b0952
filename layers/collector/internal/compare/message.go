package compare

import (
	"strconv"

	"go.opentelemetry.io/collector/pdata/pcommon"
)

// message collects the fields of a value that are set, with OTTL's names.
type message struct {
	of *reader
	items
}

func (r *reader) message(size int) *message {
	return &message{r, items{make([]string, 0, size), make([]value, 0, size)}}
}

func (m *message) add(name string, v value) {
	m.names, m.values = append(m.names, name), append(m.values, v)
}

func (m *message) value() value { return value{kind: fields, items: &m.items} }

func (m *message) text(name, content string) {
	if content != "" {
		m.add(name, value{kind: text, text: content})
	}
}

func (m *message) time(name string, at pcommon.Timestamp) {
	if at != 0 {
		m.add(name, value{kind: moment, bits: uint64(at), duringRun: m.of.duringRun(at.AsTime())})
	}
}

func (m *message) small(name string, number int64) {
	if number != 0 {
		m.add(name, value{kind: small, bits: uint64(number)})
	}
}

func (m *message) integer(name string, number int64) {
	m.add(name, value{kind: integer, bits: uint64(number)})
}

func (m *message) count(name string, number uint64) { m.add(name, value{kind: unsigned, bits: number}) }

func (m *message) double(name string, number float64) {
	m.add(name, value{kind: double, bits: bitsOf(number)})
}

func (m *message) optional(name string, has bool, number float64) {
	if has {
		m.double(name, number)
	}
}

func (m *message) flag(name string, set bool) {
	if set {
		m.add(name, value{kind: boolean, bits: 1})
	}
}

func (m *message) attributes(name string, from pcommon.Map) {
	if from.Len() > 0 {
		m.add(name, attributes(from, m.of.textDuringRun))
	}
}

func (m *message) list(name string, length int, at func(int) value) {
	if length == 0 {
		return
	}
	all := make([]value, length)
	for i := range all {
		all[i] = at(i)
	}
	m.add(name, value{kind: list, items: &items{values: all}})
}

func (m *message) counts(name string, numbers pcommon.UInt64Slice) {
	if numbers.Len() == 0 {
		return
	}
	to := []byte{'['}
	for i := range numbers.Len() {
		if i > 0 {
			to = append(to, ',')
		}
		to = append(strconv.AppendUint(append(to, '"'), numbers.At(i), 10), '"')
	}
	m.add(name, value{kind: series, text: string(append(to, ']'))})
}

func (m *message) bounds(name string, numbers pcommon.Float64Slice) {
	if numbers.Len() == 0 {
		return
	}
	to := []byte{'['}
	for i := range numbers.Len() {
		if i > 0 {
			to = append(to, ',')
		}
		to = appendDouble(to, numbers.At(i)+0)
	}
	m.add(name, value{kind: series, text: string(append(to, ']'))})
}

func (m *message) ids(trace pcommon.TraceID, span pcommon.SpanID) {
	m.text("trace_id", trace.String())
	m.text("span_id", span.String())
}
