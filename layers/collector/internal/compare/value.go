package compare

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"math"
	"sort"
	"strconv"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
)

type kind uint8

const (
	empty    kind = iota
	text          // value.text
	integer       // an int64 in value.bits
	double        // a float64 in value.bits
	boolean       // 0 or 1 in value.bits
	octets        // value.text
	moment        // nanoseconds since 1970 in value.bits
	unsigned      // a uint64 in value.bits
	small         // an integer that OTLP/JSON writes as a number, in value.bits
	series        // a list of numbers as JSON, in value.text
	list          // value.items
	dict          // value.items with names, sorted: attributes
	fields        // value.items with names: the fields of a message
)

// value is a part of a record, in a form that is the same for every signal.
type value struct {
	kind kind
	// dynamic is set for what OTLP holds in an AnyValue, whose type may differ from record to record.
	dynamic bool
	// duringRun is set for a time that lies in the run, which is taken to have set it.
	duringRun bool
	bits      uint64
	text      string
	items     *items
}

type items struct {
	names  []string // nil for a list
	values []value
}

func (v value) children() []value {
	if v.items == nil {
		return nil
	}
	return v.items.values
}

func (v value) named(name string) value {
	if v.items != nil {
		for i, other := range v.items.names {
			if other == name {
				return v.items.values[i]
			}
		}
	}
	return value{}
}

// A digest stands for a value: equal digests are equal values. SHA-256, because the writer of both outputs may want two
// that differ to look equal.
type digest [16]byte

func digestOf(encoded []byte) digest {
	sum := sha256.Sum256(encoded)
	return digest(sum[:16])
}

// encode appends a text that is the same for equal values. Without times, all times are the same.
func encode(to []byte, v value, times bool) []byte {
	if v.duringRun || !times && v.isTime() {
		return append(to, 'T')
	}
	to = append(to, byte(v.kind))
	switch v.kind {
	case empty:
	case text, octets, series:
		to = encodeText(to, v.text)
	case integer, double, boolean, moment, unsigned, small:
		to = binary.BigEndian.AppendUint64(to, v.bits)
	case list, dict, fields:
		to = binary.BigEndian.AppendUint32(to, uint32(len(v.children())))
		for i, child := range v.children() {
			if v.items.names != nil {
				to = encodeText(to, v.items.names[i])
			}
			to = encode(to, child, times)
		}
	}
	return to
}

func encodeText(to []byte, text string) []byte {
	return append(binary.BigEndian.AppendUint32(to, uint32(len(text))), text...)
}

// isTime tells whether a value is a time that is set: a field that holds one, or a text as time.RFC3339 has it.
func (v value) isTime() bool {
	if v.kind == text {
		_, ok := parseTime(v.text)
		return ok
	}
	return v.kind == moment && v.bits != 0
}

func parseTime(text string) (time.Time, bool) {
	if len(text) < len("2006-01-02T15:04:05Z") || len(text) > len(time.RFC3339Nano) || text[4] != '-' || text[10] != 'T' {
		return time.Time{}, false
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	return at, err == nil
}

// bitsOf makes every NaN one NaN, and -0 a 0.
func bitsOf(number float64) uint64 {
	if number != number {
		return math.Float64bits(math.NaN())
	}
	return math.Float64bits(number + 0)
}

// anyValue converts an AnyValue. duringRun tells of a text whether it is a time that lies in the run.
func anyValue(from pcommon.Value, duringRun func(string) bool) value {
	v := value{dynamic: true}
	switch from.Type() {
	case pcommon.ValueTypeStr:
		v.kind, v.text = text, from.Str()
		v.duringRun = duringRun(v.text)
	case pcommon.ValueTypeInt:
		v.kind, v.bits = integer, uint64(from.Int())
	case pcommon.ValueTypeDouble:
		v.kind, v.bits = double, bitsOf(from.Double())
	case pcommon.ValueTypeBool:
		v.kind = boolean
		if from.Bool() {
			v.bits = 1
		}
	case pcommon.ValueTypeBytes:
		v.kind, v.text = octets, string(from.Bytes().AsRaw())
	case pcommon.ValueTypeSlice:
		v.kind = list
		if from.Slice().Len() > 0 {
			v.items = &items{values: make([]value, from.Slice().Len())}
			for i := range v.items.values {
				v.items.values[i] = anyValue(from.Slice().At(i), duringRun)
			}
		}
	case pcommon.ValueTypeMap:
		v = attributes(from.Map(), duringRun)
		v.dynamic = true
	}
	return v
}

// attributes converts a map. A key may be there twice: the order of its values counts.
func attributes(from pcommon.Map, duringRun func(string) bool) value {
	v := value{kind: dict}
	if from.Len() == 0 {
		return v
	}
	v.items = &items{make([]string, 0, from.Len()), make([]value, 0, from.Len())}
	for key, child := range from.All() {
		v.items.names = append(v.items.names, key)
		v.items.values = append(v.items.values, anyValue(child, duringRun))
	}
	sort.Stable(v.items)
	return v
}

func (i *items) Len() int           { return len(i.names) }
func (i *items) Less(a, b int) bool { return i.names[a] < i.names[b] }
func (i *items) Swap(a, b int) {
	i.names[a], i.names[b] = i.names[b], i.names[a]
	i.values[a], i.values[b] = i.values[b], i.values[a]
}

// appendJSON appends a value as OTLP/JSON has it, and stops soon after limit bytes.
func appendJSON(to []byte, v value, limit int) []byte {
	if len(to) > limit {
		return to
	}
	if v.dynamic {
		member := map[kind]string{
			text: "stringValue", integer: "intValue", double: "doubleValue", boolean: "boolValue", octets: "bytesValue",
			list: "arrayValue", dict: "kvlistValue",
		}[v.kind]
		if v.kind == empty {
			return append(to, "{}"...)
		}
		to = append(to, `{"`+member+`":`...)
		if v.kind == list || v.kind == dict {
			to = append(to, `{"values":`...)
		}
		v.dynamic = false
		to = appendJSON(to, v, limit)
		if v.kind == list || v.kind == dict {
			to = append(to, '}')
		}
		return append(to, '}')
	}
	switch v.kind {
	case empty:
		return append(to, "null"...)
	case text:
		return appendText(to, v.text[:min(len(v.text), max(limit-len(to), 0)+4)])
	case octets:
		return appendText(to, base64.StdEncoding.EncodeToString([]byte(v.text[:min(len(v.text), max(limit-len(to), 0)+4)])))
	case integer:
		return append(strconv.AppendInt(append(to, '"'), int64(v.bits), 10), '"')
	case moment, unsigned:
		return append(strconv.AppendUint(append(to, '"'), v.bits, 10), '"')
	case small:
		return strconv.AppendInt(to, int64(v.bits), 10)
	case double:
		return appendDouble(to, math.Float64frombits(v.bits))
	case boolean:
		return strconv.AppendBool(to, v.bits == 1)
	case series:
		return append(to, v.text[:min(len(v.text), max(limit-len(to), 0)+4)]...)
	case fields:
		to = append(to, '{')
		for i, child := range v.children() {
			if i > 0 {
				to = append(to, ',')
			}
			to = append(appendText(to, v.items.names[i]), ':')
			if to = appendJSON(to, child, limit); len(to) > limit {
				break
			}
		}
		return append(to, '}')
	default:
		to = append(to, '[')
		for i, child := range v.children() {
			if i > 0 {
				to = append(to, ',')
			}
			if v.kind == dict {
				to = append(appendText(append(to, `{"key":`...), v.items.names[i]), `,"value":`...)
			}
			to = appendJSON(to, child, limit)
			if v.kind == dict {
				to = append(to, '}')
			}
			if len(to) > limit {
				break
			}
		}
		return append(to, ']')
	}
}

func appendText(to []byte, text string) []byte {
	quoted, _ := json.Marshal(text) // A text can always be marshalled.
	return append(to, quoted...)
}

// appendDouble writes what JSON has no number for as OTLP/JSON does: "NaN", "Infinity", "-Infinity".
func appendDouble(to []byte, number float64) []byte {
	switch {
	case math.IsNaN(number):
		return append(to, `"NaN"`...)
	case math.IsInf(number, 1):
		return append(to, `"Infinity"`...)
	case math.IsInf(number, -1):
		return append(to, `"-Infinity"`...)
	}
	return strconv.AppendFloat(to, number, 'g', -1, 64)
}
