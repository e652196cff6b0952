package steps

import (
	"maps"
	"slices"
	"strings"
)

// holding are types of components that hold records for a time, without underscores: releases rename types. A component
// that is not listed is noticed when it puts out records after the call that brought them.
var holding = []string{
	"batch", "groupbytrace", "tailsampling", "logdedup", "interval", "logstransform", "spanmetrics", "servicegraph",
	"grafanacloud", "lookup", "metricstarttime",
}

func holds(component string) bool { return slices.Contains(holding, plainType(component)) }

// plainType is the type of a component's id without underscores.
func plainType(id string) string {
	kind, _, _ := strings.Cut(id, "/")
	return strings.ReplaceAll(kind, "_", "")
}

func sortedNumbers[V any](of map[int]V) []int { return slices.Sorted(maps.Keys(of)) }

// conclude gives each record at each step its outcome, when all of the trace is known.
func (f *follower) conclude() {
	f.loseRecords()
	for _, at := range f.order {
		of := f.flows[at]
		puts := slices.ContainsFunc(of.entries, func(e entry) bool { return e.created })
		for i := range of.entries {
			e := &of.entries[i]
			if e.created {
				continue
			}
			switch {
			case of.own.kind == "exporter":
				e.out, e.outcome = e.in, Unchanged
			case of.own.signal != of.own.outSignal:
				e.outcome = f.converted(of, e, puts)
			case e.outputs == 0:
				e.outcome = f.gone(of, e)
				// It may be what was created.
				of.sets = of.sets || e.outcome == Dropped && e.call.created && of.drops(e) == nil
			case e.split:
				e.outcome = Split
			case e.out.parts != e.in.parts:
				e.outcome = Changed
			default:
				e.outcome = Unchanged
			}
		}
	}
	for _, number := range sortedNumbers(f.calls) {
		if c := f.calls[number]; c.failure != "" && !c.nested && c.flow != nil {
			c.flow.errors[c.failure]++
		}
	}
}

// loseRecords takes out the records of which the trace does not have all: a record is told at every step or at none.
func (f *follower) loseRecords() {
	for number := range f.lostBatches {
		if batch := f.outs[number]; batch != nil {
			for _, at := range batch.nodes {
				f.nodes[at].lost = true
			}
		}
	}
	for number := range f.lostCalls {
		if c := f.calls[number]; c != nil && c.flow != nil && !c.lost {
			for i := range c.items {
				if e := &c.flow.entries[c.first+i]; e.outputs == 0 {
					f.nodes[e.node].lost = true
				}
			}
		}
	}
	for _, of := range f.flows {
		for i := range of.entries {
			if e := &of.entries[i]; f.nodes[e.node].lost {
				e.node = 0
			}
		}
	}
}

// converted is the outcome of a record that a connector made something else of: the way of each one is not known, but
// conditions may tell which ones it took.
func (f *follower) converted(of *flow, e *entry, puts bool) string {
	if !puts {
		return Dropped
	}
	if e.call.judged && e.condition() == nil {
		return Dropped
	}
	return Merged
}

// gone is the outcome of a record that did not come out: it may have become part of another one.
func (f *follower) gone(of *flow, e *entry) string {
	from := of.matcher
	if e.call != nil && e.call.matcher != nil {
		from = e.call.matcher
	}
	if from == nil || e.node == 0 {
		return Dropped
	}
	into := from.within(e)
	if into == 0 {
		return Dropped
	}
	if own := &f.nodes[into]; len(own.parents) < mostAncestors {
		own.parents = append(own.parents, e.node)
	}
	return Merged
}

// mostAncestors bounds the records of the sample that are told of one that was merged.
const mostAncestors = 100

// ancestors are the records of the sample that a record comes from, in order.
func (f *follower) ancestors(of int32) []int {
	if own := f.nodes[of]; own.number > 0 && len(own.parents) == 0 {
		return []int{int(own.number)}
	}
	found, seen := map[int]bool{}, map[int32]bool{}
	left := []int32{of}
	for len(left) > 0 && len(seen) < 10*mostAncestors && len(found) < mostAncestors {
		at := left[len(left)-1]
		left = left[:len(left)-1]
		if at == 0 || seen[at] {
			continue
		}
		seen[at] = true
		if number := f.nodes[at].number; number > 0 {
			found[int(number)] = true
		}
		left = append(left, f.nodes[at].parents...)
	}
	return append([]int{}, sortedNumbers(found)...)
}

// states are the record after the statements that changed it, in order.
func (e *entry) states() []stateOf {
	if e.call == nil {
		return nil
	}
	var all []stateOf
	for level := range e.in.parts {
		made := e.call.changes[e.at(level)]
		all = append(all, made[:min(len(made), statesCompared)]...)
	}
	slices.SortFunc(all, func(a, b stateOf) int { return a.number - b.number })
	return all
}

// drops is the condition for which a component dropped a record, nil if it was none. Only the filter drops what a
// condition holds for.
func (of *flow) drops(e *entry) *tally {
	if plainType(of.own.component) != "filter" {
		return nil
	}
	if found := e.condition(); found != nil && found.context != "spanevent" {
		return found
	}
	return nil
}
