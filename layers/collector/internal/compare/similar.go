package compare

import (
	"cmp"
	"hash/fnv"
	"math"
	"slices"
	"strings"
	"unicode"
)

const (
	// maxFeatures bounds what is looked at of one record.
	maxFeatures = 64
	maxWords    = 24
	// rare is how many of a record's features find candidates; fewest and most are how many candidates each finds.
	rare   = 6
	fewest = 2
	most   = 8
	// effort bounds how many features are compared in all.
	effort = 60_000_000
	// alike is the share of what two records have in common, from which on they are one record that changed.
	alike = 0.25
	// rounds is how often records whose best candidates went to others may look again.
	rounds = 3
)

type feature struct {
	hash   uint64
	weight float64
}

// weights are how much the equality of a field tells. Others tell 1.
var weights = map[string]float64{
	"span_id": 4, "trace_id": 1, "name": 3, "body": 3, "time_unix_nano": 1, "observed_time_unix_nano": 0.5,
	"severity_number": 0.25, "severity_text": 0.25, "kind": 0.25, "flags": 0.25, "status": 0.5, "value_int": 1,
}

// features collects what a record may have in common with another one.
type features struct{ list []feature }

func (f *features) add(weight float64, name, inner string, v value) {
	if len(f.list) >= maxFeatures || v.duringRun {
		return
	}
	hash := fnv.New64a()
	hash.Write(encode(encodeText(encodeText(nil, name), inner), v, true)) // It returns no error.
	f.list = append(f.list, feature{hash.Sum64(), weight})
}

func (f *features) members(weight float64, name string, v value, most int) {
	for i, child := range v.children() {
		if i == most {
			return
		}
		f.add(weight, name, v.items.names[i], child)
		if child.items == nil {
			// Under any key: it may have been renamed.
			f.add(weight/2, name, "", child)
		}
	}
}

func (f *features) words(name, content string) {
	count := 0
	for word := range strings.FieldsFuncSeq(content[:min(len(content), 4_000)], func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) {
		if count++; count > maxWords {
			return
		}
		f.add(0.5, name, "", value{kind: text, text: word})
	}
}

// of returns the features of a record, sorted, each once.
func (f *features) of(r *record, signal string) []feature {
	f.list = nil
	if signal == "metrics" {
		f.add(4, "metric", "name", r.parts[2].value.named("name"))
		f.members(0.25, "metric", r.parts[2].value, most)
	}
	for i, child := range r.own.value.children() {
		name := r.own.value.items.names[i]
		switch {
		case name == "attributes" && child.kind == dict:
			f.members(1, name, child, 32)
		case name == "body" && child.kind == dict:
			f.members(1, name, child, 32)
		default:
			weight, known := weights[name]
			if !known {
				weight = 1
			}
			f.add(weight, name, "", child)
			if name == "body" && child.kind == text {
				f.words(name, child.text)
			}
		}
	}
	if resource := r.parts[0].value.named("attributes"); resource.kind == dict {
		f.members(0.5, "resource", resource, 12)
	}
	f.add(0.25, "scope", "name", r.parts[1].value.named("name"))
	slices.SortFunc(f.list, func(a, b feature) int { return cmp.Compare(a.hash, b.hash) })
	return slices.CompactFunc(f.list, func(a, b feature) bool { return a.hash == b.hash })
}

// similar pairs the records that have most in common. What few records have counts more.
func (m *matching) similar(signal string) {
	for range rounds {
		before := len(m.left)
		if before == 0 || len(m.right) == 0 {
			return
		}
		m.round(signal, effort/rounds)
		if len(m.left) == before {
			return
		}
	}
}

type candidate struct {
	left, right int
	score       float64
}

// round pairs records once, for that effort.
func (m *matching) round(signal string, affordable int) {
	from := &features{}
	ones, others := make([][]feature, len(m.left)), make([][]feature, len(m.right))
	frequency, at := map[uint64]int{}, map[uint64][]int32{}
	for i, one := range m.left {
		ones[i] = from.of(one, signal)
		for _, each := range ones[i] {
			frequency[each.hash]++
		}
	}
	for i, other := range m.right {
		others[i] = from.of(other, signal)
		for _, each := range others[i] {
			frequency[each.hash]++
			at[each.hash] = append(at[each.hash], int32(i))
		}
	}
	weigh := func(lists [][]feature) []float64 {
		totals := make([]float64, len(lists))
		for i, list := range lists {
			for n := range list {
				list[n].weight /= 1 + math.Log2(float64(max(frequency[list[n].hash], 2))/2)
				totals[i] += list[n].weight
			}
		}
		return totals
	}
	oneTotals, otherTotals := weigh(ones), weigh(others)
	each := min(max(affordable/(2*maxFeatures*rare*len(m.left)), fewest), most)
	var candidates []candidate
	seen, taken := map[uint64]int{}, 0
	for i, list := range ones {
		tried := map[int32]bool{}
		for _, telling := range rarest(list, at) {
			places := at[telling.hash]
			// The records with this feature may all have changed: those at the same place are tried.
			middle := seen[telling.hash]
			first := max(min(middle-each/2, len(places)-each), 0)
			for _, place := range places[first:min(first+each, len(places))] {
				if taken += len(list) + len(others[place]); tried[place] || taken > affordable {
					continue
				}
				tried[place] = true
				if score := shared(list, others[place]) * 2 / (oneTotals[i] + otherTotals[place]); score >= alike {
					candidates = append(candidates, candidate{i, int(place), score})
				}
			}
		}
		for _, one := range list {
			seen[one.hash]++
		}
	}
	slices.SortFunc(candidates, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(distance(a), distance(b)),
			cmp.Compare(a.left, b.left), cmp.Compare(a.right, b.right))
	})
	usedLeft, usedRight := make([]bool, len(m.left)), make([]bool, len(m.right))
	var found []pair
	for _, one := range candidates {
		if !usedLeft[one.left] && !usedRight[one.right] {
			usedLeft[one.left], usedRight[one.right] = true, true
			found = append(found, pair{m.left[one.left], m.right[one.right]})
		}
	}
	m.pair(found)
}

func distance(one candidate) int { return max(one.left-one.right, one.right-one.left) }

// rarest returns the features that the fewest records of the other side have, and at least one.
func rarest(list []feature, at map[uint64][]int32) []feature {
	telling := make([]feature, 0, len(list))
	for _, one := range list {
		if len(at[one.hash]) > 0 {
			telling = append(telling, one)
		}
	}
	slices.SortFunc(telling, func(a, b feature) int {
		return cmp.Or(cmp.Compare(len(at[a.hash]), len(at[b.hash])), cmp.Compare(b.weight, a.weight), cmp.Compare(a.hash, b.hash))
	})
	return telling[:min(len(telling), rare)]
}

// shared is the weight of what two lists have in common.
func shared(one, other []feature) (weight float64) {
	for i, j := 0, 0; i < len(one) && j < len(other); {
		switch cmp.Compare(one[i].hash, other[j].hash) {
		case -1:
			i++
		case 1:
			j++
		default:
			weight += one[i].weight
			i++
			j++
		}
	}
	return weight
}
