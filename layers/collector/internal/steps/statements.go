package steps

import (
	"maps"
	"slices"
	"strings"

	"github.com/headgate/headgate/layers/collector/internal/lint"
	"github.com/headgate/headgate/layers/collector/internal/pricing"
)

const (
	kindStatement = "statement"
	kindCondition = "condition"
)

// accounts are the statements of a step, with the tallies that belong to each.
type accounts struct {
	statements []Statement
	of         map[*tally]int
	// cut is set if there was too much to count.
	cut bool
}

// mostGroups bounds the resources, scopes and metrics whose changes are counted.
const mostGroups = 20_000

// keySignals are the settings whose expressions a component reads for one signal only, by how they begin.
var keySignals = map[string]string{
	"log": "logs", "trace": "traces", "span": "traces", "metric": "metrics", "datapoint": "metrics", "profile": "profiles",
}

func signalOfKey(setting string) string {
	for prefix, signal := range keySignals {
		if strings.HasPrefix(setting, prefix) {
			return signal
		}
	}
	return ""
}

// accountsOf finds the statements of a step in the configuration, and adds up what they did.
func (f *follower) accountsOf(of *flow, placed []lint.Placed) *accounts {
	a := &accounts{of: map[*tally]int{}}
	var own []lint.Placed
	for _, one := range placed {
		signal := signalOfKey(one.Key)
		if one.Section == of.own.kind+"s" && one.ID == of.own.component && (signal == "" || signal == of.own.signal) &&
			one.Kind != lint.ValueExpression {
			own = append(own, one)
			line, column := one.Line, one.Column
			text := Statement{
				Kind: string(one.Kind), Text: one.Text, Place: Place{one.Path, &line, &column}, Context: one.Context, Errors: []Failure{},
			}
			a.statements = append(a.statements, text)
		}
	}
	tokens := make([][]pricing.Token, len(own))
	for i, one := range own {
		tokens[i] = pricing.Tokenize(one.Prefix + one.Text)
	}
	known := map[spoken]int{}
	for _, t := range of.tallies {
		as := spoken{t.kind, t.text, t.context, t.nth}
		at, is := known[as]
		if !is {
			if len(known) >= mostStatements {
				a.cut = true
				break
			}
			at = a.add(own, tokens, t)
			known[as] = at
		}
		a.of[t] = at
		statement := &a.statements[at]
		statement.Evaluated += t.evaluated
		statement.Matched += t.matched
		if statement.Context == "" {
			statement.Context = t.context
		}
		statement.Errors = added(statement.Errors, t.errors)
	}
	a.count(of)
	return a
}

// spoken is a statement as a tally names it.
type spoken struct {
	kind, text, context string
	nth                 int
}

// add finds a statement, or adds one without a place.
func (a *accounts) add(own []lint.Placed, tokens [][]pricing.Token, t *tally) int {
	if at := find(own, tokens, t); at >= 0 {
		return at
	}
	at := slices.IndexFunc(a.statements, func(s Statement) bool { return s.Line == nil && s.Kind == t.kind && s.Text == t.text })
	if at < 0 {
		at = len(a.statements)
		a.statements = append(a.statements, Statement{Kind: t.kind, Text: t.text, Context: t.context, Errors: []Failure{}})
	}
	return at
}

// giveTallies gives each tally to its step. A connector's tallies of no call are those of its first step.
func (f *follower) giveTallies() {
	for i := range f.tallies {
		t := &f.tallies[i]
		var of *flow
		if c := f.calls[t.call]; c != nil {
			of = c.flow
		} else if at, has := f.first[t.step]; has && t.call == 0 {
			of = f.flows[at]
		}
		if of != nil {
			of.tallies = append(of.tallies, t)
		}
	}
}

// find returns which of the placed expressions a statement is, -1 if none. Of equal ones in a list, it is the one with
// the statement's number.
func find(placed []lint.Placed, tokens [][]pricing.Token, t *tally) int {
	var same []int
	made := pricing.Tokenize(t.text)
	for i, one := range placed {
		if kindOf(one) == t.kind && equal(tokens[i], made) {
			same = append(same, i)
		}
	}
	if len(same) > 1 {
		if inContext := slices.DeleteFunc(slices.Clone(same), func(i int) bool {
			return placed[i].Context != "" && placed[i].Context != t.context
		}); len(inContext) > 0 {
			same = inContext
		}
	}
	if len(same) == 0 {
		return -1
	}
	return same[min(max(t.nth, 0), len(same)-1)]
}

// kindOf is what OTTL takes an expression for: the routing connector makes a statement of its conditions.
func kindOf(one lint.Placed) string {
	if one.Prefix != "" {
		return kindStatement
	}
	return string(one.Kind)
}

// equal compares an expression with what OTTL made of it: it puts the context before a path that does not have it.
func equal(written, made []pricing.Token) bool {
	at := 0
	for i := 0; i < len(made); i++ {
		names := begins(made, i)
		if names && (at >= len(written) || !begins(written, at) || written[at].Text != made[i].Text) {
			i++ // the context and the dot
			continue
		}
		if at >= len(written) || written[at].Text != made[i].Text {
			return false
		}
		at++
	}
	return at == len(written)
}

// begins tells whether a name with a dot behind it stands at a place.
func begins(tokens []pricing.Token, at int) bool {
	return at+1 < len(tokens) && pricing.IsName(tokens[at]) && tokens[at+1].Text == "."
}

func added(failures []Failure, more map[string]int) []Failure {
	for _, message := range slices.Sorted(maps.Keys(more)) {
		at := slices.IndexFunc(failures, func(known Failure) bool { return known.Message == message })
		if at < 0 {
			failures = append(failures, Failure{Message: message})
			at = len(failures) - 1
		}
		failures[at].Count += more[message]
	}
	return failures
}

// count counts the records that each statement changed or dropped.
func (a *accounts) count(of *flow) {
	type group struct {
		call  *call
		under [3]int32
	}
	sizes, shared := map[group]int{}, map[group]map[int]bool{}
	for i := range of.entries {
		e := &of.entries[i]
		if e.created || e.node == 0 || e.call == nil {
			continue
		}
		if t := of.drops(e); e.outcome == Dropped && t != nil {
			if at, is := a.of[t]; is {
				a.statements[at].Dropped++
			}
		}
		if len(e.call.changes) == 0 || e.outcome == Dropped {
			continue
		}
		in := group{e.call, e.in.under}
		if _, known := shared[in]; !known {
			if len(shared) >= mostGroups {
				a.cut = true
				return
			}
			shared[in] = a.changing(e, levelResource, levelScope, levelMetric)
		}
		sizes[in]++
		made := e.call.changes[e.at(levelRecord)]
		if len(made) == 0 {
			continue
		}
		for statement := range a.changing(e, levelRecord) {
			if !shared[in][statement] {
				a.statements[statement].Changed++
			}
		}
	}
	for in, size := range sizes {
		for statement := range shared[in] {
			a.statements[statement].Changed += size
		}
	}
}

// changing are the statements that changed what a record has at these levels.
func (a *accounts) changing(e *entry, levels ...int) map[int]bool {
	found := map[int]bool{}
	for _, level := range levels {
		made := e.call.changes[e.at(level)]
		for _, one := range made[:min(len(made), mostStatements)] {
			if at, is := a.of[one.by]; is {
				found[at] = true
			}
		}
	}
	return found
}

func (a *accounts) reason(t *tally) Reason {
	at, is := a.of[t]
	if !is {
		return Reason{Statement: t.text}
	}
	statement := a.statements[at]
	if statement.Kind == kindStatement {
		return Reason{Statement: statement.Text, Place: statement.Place}
	}
	return Reason{Condition: statement.Text, Place: statement.Place}
}
