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
}

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
	for _, t := range f.talliesOf(of) {
		at := find(own, t)
		if at < 0 {
			at = slices.IndexFunc(a.statements, func(s Statement) bool {
				return s.Line == nil && s.Kind == t.kind && s.Text == t.text
			})
		}
		if at < 0 {
			a.statements = append(a.statements, Statement{Kind: t.kind, Text: t.text, Context: t.context, Errors: []Failure{}})
			at = len(a.statements) - 1
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

// talliesOf are those of a step. A connector's tallies of no call are those of its first step.
func (f *follower) talliesOf(of *flow) []*tally {
	var all []*tally
	for i := range f.tallies {
		t := &f.tallies[i]
		if t.step != of.key.definition {
			continue
		}
		c := f.calls[t.call]
		first := slices.IndexFunc(f.order, func(at key) bool { return at.definition == t.step })
		if c != nil && c.flow == of || c == nil && t.call == 0 && first >= 0 && f.order[first] == of.key {
			all = append(all, t)
		}
	}
	return all
}

// find returns which of the placed expressions a statement is, -1 if none. Of equal ones in a list, it is the one with
// the statement's number.
func find(placed []lint.Placed, t *tally) int {
	var same []int
	for i, one := range placed {
		if kindOf(one) == t.kind && equal(one, t.text) {
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
func equal(one lint.Placed, text string) bool {
	if one.Prefix+one.Text == text {
		return true
	}
	if len(text) < len(one.Text) || len(text) > 4*len(one.Text)+100 {
		return false
	}
	written, made := pricing.Tokenize(one.Prefix+one.Text), pricing.Tokenize(text)
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
	byPlace := map[*call]map[place]map[int]bool{}
	for i := range of.entries {
		e := &of.entries[i]
		if e.created || e.node == 0 || e.call == nil {
			continue
		}
		if e.outcome == Dropped {
			if t := of.drops(e); t != nil {
				a.statements[a.of[t]].Dropped++
			}
			continue
		}
		if len(e.call.changes) == 0 {
			continue
		}
		known := byPlace[e.call]
		if known == nil {
			known = map[place]map[int]bool{}
			byPlace[e.call] = known
		}
		changed := map[int]bool{}
		for level := range e.in.parts {
			at := e.at(level)
			by, is := known[at]
			if !is {
				by = map[int]bool{}
				for _, made := range e.call.changes[at] {
					by[a.of[made.by]] = true
				}
				known[at] = by
			}
			for statement := range by {
				changed[statement] = true
			}
		}
		for statement := range changed {
			a.statements[statement].Changed++
		}
	}
}

func (a *accounts) reason(t *tally) Reason {
	statement := a.statements[a.of[t]]
	if statement.Kind == kindStatement {
		return Reason{Statement: statement.Text, Place: statement.Place}
	}
	return Reason{Condition: statement.Text, Place: statement.Place}
}
