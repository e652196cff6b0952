package compare

import (
	"encoding/json"
	"strconv"
	"unicode/utf8"
)

// Field is a difference between two records. The values are as OTLP/JSON has them; one that is not set is left out.
type Field struct {
	// Path is as OTTL has it: `body`, `attributes["x"]`, `resource.attributes["y"]`, `metric.name`.
	Path   string          `json:"path"`
	Change string          `json:"change"`
	Left   json.RawMessage `json:"left,omitempty"`
	Right  json.RawMessage `json:"right,omitempty"`
	// Cut is set if a value was too long; then it is a text that shows what is around the first difference.
	Cut bool `json:"cut,omitempty"`
}

// The changes of a record or a field.
const (
	added   = "added"
	missing = "missing"
	changed = "changed"
)

const (
	// deepest is how many steps down two values are taken apart; below, they differ as a whole.
	deepest = 24
	// longestPath bounds a path; keys may have any length.
	longestPath = 300
	// longestValue bounds a value that is shown, in bytes of JSON.
	longestValue = 1_000
	// aValue is what looking at a value takes, against a byte of a text.
	aValue = 50
	// around is how much of a text is shown before its first difference.
	around = 100
)

// differ finds the fields in which two records differ.
type differ struct {
	// anyLeft is set if the left side's run is not known: a time that the right side's run made equals any time there.
	anyLeft, anyRight bool
	// work is what is left to do, in bytes looked at.
	work  int
	found func(path string, change string, left, right value)
}

// records compares two records, and returns how many of their fields differ.
func (d *differ) records(left, right *record) {
	names := []string{"resource", "scope", "metric"}
	for i := range left.parts {
		if left.parts[i].digest != right.parts[i].digest {
			d.values(names[i], 1, left.parts[i].value, right.parts[i].value)
		}
	}
	if left.own.digest != right.own.digest {
		d.values("", 0, left.own.value, right.own.value)
	}
}

func (d *differ) equal(left, right value) bool {
	switch {
	case left.duringRun && right.duringRun:
		return true
	case left.duringRun && d.anyRight && right.isTime(), right.duringRun && d.anyLeft && left.isTime():
		return true
	}
	// An attribute may be there without a value.
	there := left.kind != empty || left.dynamic == right.dynamic
	return there && left.kind == right.kind && left.bits == right.bits && left.text == right.text && left.items == nil && right.items == nil
}

// values compares two values. Both have a difference, or none.
func (d *differ) values(path string, depth int, left, right value) {
	d.work -= aValue + len(left.text) + len(right.text)
	if d.work < 0 || d.equal(left, right) {
		return
	}
	set := func(v value) bool { return v.kind != empty || v.dynamic }
	switch {
	case !set(left) && !set(right):
	case left.kind == right.kind && (left.kind == dict || left.kind == fields) && depth < deepest:
		d.members(path, depth, left, right)
	case !set(left) && (right.kind == dict || right.kind == fields) && !right.dynamic:
		d.members(path, depth, value{kind: right.kind}, right)
	case !set(right) && (left.kind == dict || left.kind == fields) && !left.dynamic:
		d.members(path, depth, left, value{kind: left.kind})
	case left.kind == list && right.kind == list && depth < deepest && (messages(left) || messages(right)):
		d.messages(path, depth, left, right)
	case left.kind == list && right.kind == list && depth < deepest && len(left.children()) == len(right.children()):
		for i, one := range left.children() {
			d.values(path+index(i), depth+1, one, right.children()[i])
		}
	case !set(left):
		d.found(path, added, left, right)
	case !set(right):
		d.found(path, missing, left, right)
	case left.items != nil && right.items != nil && d.same(left, right):
	default:
		d.found(path, changed, left, right)
	}
}

// same tells whether two large values are equal.
func (d *differ) same(left, right value) bool {
	one, other := encode(nil, left, true), encode(nil, right, true)
	d.work -= len(one) + len(other)
	return string(one) == string(other)
}

func messages(v value) bool { return len(v.children()) > 0 && v.children()[0].kind == fields }

// members compares what has names. Those of attributes are sorted, those of a message in one order.
func (d *differ) members(path string, depth int, left, right value) {
	at := map[string][]int{}
	if right.items != nil {
		for i, name := range right.items.names {
			at[name] = append(at[name], i)
		}
	}
	taken := make([]bool, len(right.children()))
	step := func(name string) string {
		switch {
		case left.kind == dict:
			return path + "[" + strconv.Quote(name) + "]"
		case path == "":
			return name
		default:
			return path + "." + name
		}
	}
	for i, one := range left.children() {
		name, other := left.items.names[i], value{}
		if places := at[name]; len(places) > 0 {
			other, taken[places[0]], at[name] = right.children()[places[0]], true, places[1:]
		}
		d.values(d.cut(step(name)), depth+1, one, other)
	}
	for i, other := range right.children() {
		if !taken[i] {
			d.values(d.cut(step(right.items.names[i])), depth+1, value{}, other)
		}
	}
}

func (d *differ) cut(path string) string {
	if len(path) <= longestPath {
		return path
	}
	d.work -= len(path)
	return start(path, longestPath) + "…"
}

// messages compares events, links, exemplars or quantiles, in any order: equal ones first, then those of the same name,
// then the others in their order.
func (d *differ) messages(path string, depth int, left, right value) {
	partner := make([]int, len(left.children()))
	taken := make([]bool, len(right.children()))
	for i := range partner {
		partner[i] = -1
	}
	for _, key := range []func(value) (digest, bool){
		func(v value) (digest, bool) { return d.encoded(v), true },
		func(v value) (digest, bool) {
			for _, name := range []string{"name", "span_id", "quantile"} {
				if named := v.named(name); named.kind != empty {
					return d.encoded(named), true
				}
			}
			return digest{}, false
		},
		func(value) (digest, bool) { return digest{}, true },
	} {
		at := map[digest][]int{}
		for i, other := range right.children() {
			if !taken[i] {
				if of, ok := key(other); ok {
					at[of] = append(at[of], i)
				}
			}
		}
		for i, one := range left.children() {
			if partner[i] >= 0 {
				continue
			}
			if of, ok := key(one); ok && len(at[of]) > 0 {
				partner[i], taken[at[of][0]], at[of] = at[of][0], true, at[of][1:]
			}
		}
	}
	for i, one := range left.children() {
		if partner[i] < 0 {
			d.found(path+index(i), missing, one, value{})
			continue
		}
		d.values(path+index(i), depth+1, one, right.children()[partner[i]])
	}
	for i, other := range right.children() {
		if !taken[i] {
			d.found(path+index(i), added, value{}, other)
		}
	}
}

func (d *differ) encoded(v value) digest {
	encoded := encode(nil, v, true)
	d.work -= len(encoded)
	return digestOf(encoded)
}

// newField renders a difference.
func newField(path, change string, left, right value) Field {
	field := Field{Path: path, Change: change}
	one, other := render(left), render(right)
	if len(one) > longestValue || len(other) > longestValue {
		field.Cut = true
		if left.kind == text && right.kind == text {
			one, other = []byte(left.text), []byte(right.text)
		}
		from := firstDifference(one, other)
		one, other = window(one, from), window(other, from)
	}
	if change != added {
		field.Left = one
	}
	if change != missing {
		field.Right = other
	}
	return field
}

// render makes JSON of a value, or as much of it as a difference is looked for in.
func render(v value) []byte { return appendJSON(nil, v, 64<<10) }

func firstDifference(one, other []byte) int {
	for i := range min(len(one), len(other)) {
		if one[i] != other[i] {
			return i
		}
	}
	return min(len(one), len(other))
}

// window returns, as a JSON text, what of a text is around a place.
func window(content []byte, place int) []byte {
	from := max(min(place, len(content))-around, 0)
	for from > 0 && !utf8.RuneStart(content[from]) {
		from--
	}
	shown := start(string(content[from:min(len(content), from+longestValue+utf8.UTFMax)]), longestValue)
	before, after := "", ""
	if from > 0 {
		before = "…"
	}
	if from+len(shown) < len(content) {
		after = "…"
	}
	return appendText(nil, before+shown+after)
}

// start returns the first bytes of a text, whole characters.
func start(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}
