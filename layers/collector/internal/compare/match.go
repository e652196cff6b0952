package compare

import (
	"cmp"
	"slices"
)

// pair is a record of each side; one of them is nil if it has no partner.
type pair struct{ left, right *record }

// match finds the partner of each record: the equal one, else the one of the same identity, else the most similar one.
// It returns how many are equal, and the others in the order of the left side.
func match(left, right []*record, signal string, d *differ) (same int, pairs []pair) {
	m := &matching{left: left, right: right}
	same = len(left)
	m.join(func(r *record) (digest, bool) { return r.digest(true), true }, func(*record, *record) bool { return true })
	same -= len(m.left)
	if len(m.left) > 0 && len(m.right) > 0 {
		m.pairs = nil
		if d.anyLeft || d.anyRight {
			m.join(func(r *record) (digest, bool) { return r.digest(false), true }, func(one, other *record) bool {
				differ := *d
				equal := true
				differ.found = func(string, string, value, value) { equal = false }
				differ.records(one, other)
				d.work = differ.work
				return equal && d.work >= 0
			})
			same += len(m.pairs)
		}
		m.pairs = nil
		for _, identity := range identities[signal] {
			m.unique(identity)
		}
		m.similar(signal)
		if signal == "logs" {
			m.inOrder()
		}
	} else {
		m.pairs = nil
	}
	for _, one := range m.left {
		m.pairs = append(m.pairs, pair{one, nil})
	}
	slices.SortFunc(m.pairs, func(a, b pair) int { return cmp.Compare(a.left.index, b.left.index) })
	for _, other := range m.right {
		m.pairs = append(m.pairs, pair{nil, other})
	}
	return same, m.pairs
}

// matching has the records that have no partner yet, in their order, and the pairs that were found.
type matching struct {
	left, right []*record
	pairs       []pair
}

func (m *matching) pair(found []pair) {
	if len(found) == 0 {
		return
	}
	paired := make(map[*record]bool, 2*len(found))
	for _, one := range found {
		paired[one.left], paired[one.right] = true, true
	}
	without := func(list []*record) []*record {
		rest := make([]*record, 0, len(list)-len(found))
		for _, one := range list {
			if !paired[one] {
				rest = append(rest, one)
			}
		}
		return rest
	}
	m.left, m.right, m.pairs = without(m.left), without(m.right), append(m.pairs, found...)
}

func buckets(records []*record, key func(*record) (digest, bool)) map[digest][]*record {
	at := make(map[digest][]*record, len(records))
	for _, one := range records {
		if of, ok := key(one); ok {
			at[of] = append(at[of], one)
		}
	}
	return at
}

// join pairs records with equal keys, in their order, if fits agrees.
func (m *matching) join(key func(*record) (digest, bool), fits func(left, right *record) bool) {
	at := buckets(m.right, key)
	var found []pair
	for _, one := range m.left {
		of, ok := key(one)
		if others := at[of]; ok && len(others) > 0 && fits(one, others[0]) {
			found, at[of] = append(found, pair{one, others[0]}), others[1:]
		}
	}
	m.pair(found)
}

// unique pairs records with equal keys if no other record has that key.
func (m *matching) unique(key func(*record) (digest, bool)) {
	if len(m.left) == 0 || len(m.right) == 0 {
		return
	}
	left, right := buckets(m.left, key), buckets(m.right, key)
	var found []pair
	for of, ones := range left {
		if others := right[of]; len(ones) == 1 && len(others) == 1 {
			found = append(found, pair{ones[0], others[0]})
		}
	}
	m.pair(found)
}

// inOrder pairs the rest if both sides have as many records, and no times that tell them apart: every body was replaced.
func (m *matching) inOrder() {
	if len(m.left) != len(m.right) {
		return
	}
	var found []pair
	for i, one := range m.left {
		before, after := one.own.value.named("time_unix_nano"), m.right[i].own.value.named("time_unix_nano")
		if before.bits != after.bits && before.bits != 0 && after.bits != 0 && !before.duringRun && !after.duringRun {
			return
		}
		found = append(found, pair{one, m.right[i]})
	}
	m.pair(found)
}

// identities are what tells records of a signal apart, the most telling first.
var identities = map[string][]func(*record) (digest, bool){
	"logs": {
		func(r *record) (digest, bool) { return of(r.own.timeless[:]), r.own.value.items != nil },
	},
	"traces": {
		func(r *record) (digest, bool) {
			span := r.own.value.named("span_id")
			return of(encode(encode(nil, r.own.value.named("trace_id"), true), span, true)), span.kind == text
		},
		func(r *record) (digest, bool) { return of(r.own.timeless[:]), r.own.value.items != nil },
	},
	"metrics": {
		func(r *record) (digest, bool) {
			return of(r.parts[0].digest[:], r.series(), encode(nil, r.own.value.named("time_unix_nano"), true)), true
		},
		func(r *record) (digest, bool) { return of(r.parts[0].digest[:], r.series()), true },
		func(r *record) (digest, bool) {
			return of(r.series(), encode(nil, r.own.value.named("time_unix_nano"), true)), true
		},
		func(r *record) (digest, bool) { return of(r.series()), true },
		func(r *record) (digest, bool) { return of(r.own.timeless[:], r.parts[0].digest[:]), true },
	},
}

// series is what makes a data point one of a series: the metric's name and the attributes.
func (r *record) series() []byte {
	return encode(encode(nil, r.parts[2].value.named("name"), true), r.own.value.named("attributes"), true)
}

func of(parts ...[]byte) digest { return digestOf(slices.Concat(parts...)) }
