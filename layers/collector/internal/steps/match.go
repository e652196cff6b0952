package steps

import (
	"crypto/sha256"
	"strings"
)

// matcher finds a record that came out of a component among those that went in, by what it contains.
type matcher struct {
	decoder *decoder
	of      *flow
	// places are the entries that may be found, by their numbers in the flow; indexed counts those that byKey has.
	places    []int
	byContent *index[[4]int32]
	byKey     []*index[string]
	indexed   []int
	// outs are the nodes of what came out, by the same keys.
	outs []map[string]int32
}

func newMatcher(decoder *decoder, of *flow) *matcher {
	kinds := len(keysOf[of.own.signal])
	m := &matcher{decoder: decoder, of: of, byContent: newIndex[[4]int32](), indexed: make([]int, kinds)}
	for range kinds {
		m.byKey = append(m.byKey, newIndex[string]())
		m.outs = append(m.outs, map[string]int32{})
	}
	return m
}

// pool is the matcher of all that a component may hold.
func (f *follower) pool(of *flow) *matcher {
	if of.matcher == nil {
		of.matcher = newMatcher(f.decoder, of)
		of.matcher.add(0, len(of.entries))
	}
	return of.matcher
}

func (m *matcher) add(first, after int) {
	for place := first; place < after; place++ {
		e := &m.of.entries[place]
		if e.created {
			continue
		}
		m.places = append(m.places, place)
		m.byContent.add(e.in.parts, place)
		if last := e.last(); last.parts != e.in.parts {
			m.byContent.add(last.parts, place)
		}
	}
}

// find returns the entry that a record comes from, and whether it has the very content.
func (m *matcher) find(made item, event int) (*entry, bool) {
	if found := m.byContent.pick(m.of, made.parts, event, true); found != nil {
		return found, true
	}
	for kind, own := range keysOf[m.of.own.signal] {
		wanted := m.decoder.key(m.of.own.signal, kind, &made)
		if wanted == "" || m.decoder.exhausted() {
			continue
		}
		for ; m.indexed[kind] < len(m.places) && !m.decoder.exhausted(); m.indexed[kind]++ {
			place := m.places[m.indexed[kind]]
			last := m.of.entries[place].last()
			if known := m.decoder.key(m.of.own.signal, kind, &last); known != "" {
				m.byKey[kind].add(known, place)
			}
		}
		if found := m.byKey[kind].pick(m.of, wanted, event, !own.weak); found != nil {
			return found, false
		}
	}
	return nil, false
}

// index finds entries by a key.
type index[K comparable] struct {
	places map[K][]int
	// passed counts the entries of a key that came out with the event.
	passed map[K]int
	event  int
}

func newIndex[K comparable]() *index[K] {
	return &index[K]{places: map[K][]int{}, passed: map[K]int{}}
}

func (x *index[K]) add(known K, place int) { x.places[known] = append(x.places[known], place) }

// pick returns one of the entries with a key: one that has not come out yet if there is one near, one that has not come out
// with this event, or else one that has, if a record may be split.
func (x *index[K]) pick(of *flow, wanted K, event int, again bool) *entry {
	const near = 64
	if x.event != event {
		x.event = event
		clear(x.passed)
	}
	places := x.places[wanted]
	at := x.passed[wanted]
	for at < len(places) && of.entries[places[at]].event == event {
		at++
	}
	x.passed[wanted] = at
	for _, place := range places[at:min(at+near, len(places))] {
		if of.entries[place].outputs == 0 {
			return &of.entries[place]
		}
	}
	if again && at < len(places) {
		return &of.entries[places[at]]
	}
	if again && len(places) > 0 {
		return &of.entries[places[len(places)-1]]
	}
	return nil
}

// remember notes what came out, so that what went in and did not come out can be found in it.
func (m *matcher) remember(made *item, as int32) {
	for kind := range keysOf[m.of.own.signal] {
		if known := m.decoder.key(m.of.own.signal, kind, made); known != "" && m.outs[kind][known] == 0 {
			m.outs[kind][known] = as
		}
	}
}

// within returns the node of what an entry went into, 0 if it went into nothing.
func (m *matcher) within(e *entry) int32 {
	last := e.last()
	for kind := range keysOf[m.of.own.signal] {
		if len(m.outs[kind]) == 0 || m.decoder.exhausted() {
			continue
		}
		if found := m.outs[kind][m.decoder.key(m.of.own.signal, kind, &last)]; found != 0 {
			return found
		}
	}
	return 0
}

// keyKind chooses the fields that two states of one record have in common if a component copied and changed it. By a weak
// one, a record comes out only once.
type keyKind struct {
	chosen func(path string) bool
	weak   bool
}

// keysOf are the kinds of keys of a signal, from the closest on.
var keysOf = map[string][]keyKind{
	"logs": {
		{func(path string) bool { return !under(path, "attributes") && path != "dropped_attributes_count" }, false},
		{func(path string) bool { return path != "body" && path != "dropped_attributes_count" }, false},
		{func(path string) bool { return path == "body" || path == "severity_number" }, true},
	},
	"traces": {
		{func(path string) bool { return path == "trace_id" || path == "span_id" }, false},
	},
	"metrics": {
		{func(path string) bool {
			return path == metricName || !under(path, "metric") && !under(path, "exemplars")
		}, false},
		{func(path string) bool {
			return path == metricName || under(path, "attributes") || path == "time_unix_nano"
		}, false},
		{func(path string) bool { return path == metricName || under(path, "attributes") }, false},
		{func(path string) bool { return !under(path, "metric") && !under(path, "exemplars") }, true},
		{func(path string) bool {
			return !under(path, "metric") && !under(path, "exemplars") && !under(path, "attributes")
		}, true},
	},
}

const metricName = "metric.name"

func under(path, name string) bool {
	return path == name || strings.HasPrefix(path, name+"[") || strings.HasPrefix(path, name+".")
}

// keyed is what a key is made of.
type keyed struct {
	signal         string
	kind           int
	metric, record int32
}

// key returns the key of a kind of a record, "" if it has none. It is a digest: a key may be as long as the record.
func (d *decoder) key(signal string, kind int, state *item) string {
	asked := keyed{signal, kind, state.parts[levelMetric], state.parts[levelRecord]}
	if found, known := d.keys[asked]; known {
		return found
	}
	var text strings.Builder
	for _, level := range []int{levelMetric, levelRecord} {
		if level == levelMetric && signal != "metrics" {
			continue
		}
		fields := d.part(signal, level, state)
		for _, path := range sorted(fields) {
			if keysOf[signal][kind].chosen(path) {
				text.WriteString(path + "=")
				text.Write(fields[path])
				text.WriteByte('\n')
			}
		}
	}
	key := ""
	if text.Len() > 0 {
		digest := sha256.Sum256([]byte(text.String()))
		key = string(digest[:16])
	}
	if !d.exhausted() {
		d.keys[asked] = key
	}
	return key
}
