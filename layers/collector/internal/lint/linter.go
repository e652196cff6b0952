package lint

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"sync"

	"github.com/headgate/headgate/layers/collector/internal/operation"
	"github.com/headgate/headgate/layers/collector/internal/pricing"
	"go.opentelemetry.io/collector/otelcol"
	"go.yaml.in/yaml/v3"
)

// linter answers one request.
type linter struct {
	ctx       context.Context
	factories otelcol.Factories
	env       *operation.Environment
	// read is what is known of the text already, nil if nothing is.
	read Reading
	// whole is set if every expression of the text is checked.
	whole bool
	// effort is the total price of the request's costlier expressions so far.
	effort float64
	// tried is the number of suggestions tried so far.
	tried int
}

// configuration checks the expressions of a whole configuration.
func (l *linter) configuration(text string, root *yaml.Node, most int) (*Result, error) {
	found, err := find(text, root, most, l.factories, l.env)
	if err != nil {
		return nil, err
	}
	result := newResult(OTTLVersion(l.env.BuildInfo.Version))
	result.Skipped = append(result.Skipped, found.skipped...)
	result.Items = append(result.Items, found.split...)
	result.Checked += len(found.split)
	result.Valid = result.Valid && !found.unjudged && len(found.split) == 0
	l.whole = len(found.skipped) == 0 && len(found.split) == 0 && !found.unjudged
	for _, d := range found.declarations {
		// What a component reads only when it starts, or for one signal, building it may not have read.
		d.accepted = l.read != nil && l.read.Built(d.component.section, d.name) &&
			!d.component.start && len(creations(d.expressions)) == 0
	}
	l.probeAll(found.declarations)
	for _, d := range found.declarations {
		if err := l.component(d); err != nil {
			return nil, err
		}
		for _, e := range d.expressions {
			result.add(e)
		}
	}
	result.inOrder()
	return result, nil
}

// probeAll probes each component with all its expressions, several components at a time. Most accept them all, and need
// no further probe.
func (l *linter) probeAll(declarations []*declaration) {
	var asked sync.WaitGroup
	free := make(chan struct{}, runtime.GOMAXPROCS(0))
	for _, d := range declarations {
		affordable := l.affordable(d)
		if d.accepted {
			continue
		}
		asked.Add(1)
		go func() {
			defer asked.Done()
			free <- struct{}{}
			defer func() { <-free }()
			d.accepted = l.ctx.Err() == nil && l.probe(d.component, affordable) == nil
		}()
	}
	asked.Wait()
}

// component gives each expression of a component its verdict and its notes.
func (l *linter) component(d *declaration) error {
	affordable := l.affordable(d)
	if !d.accepted {
		if err := l.findRefused(d.component, affordable); err != nil {
			return err
		}
	}
	if d.component.together {
		if err := l.inferContexts(d, affordable); err != nil {
			return err
		}
	}
	for _, e := range affordable {
		if e.err != nil {
			l.advise(d.component, e)
		}
		e.note = append(e.note, remarks(e)...)
	}
	noteAll(affordable, d.flattens)
	return nil
}

// affordable returns the expressions of a component that are cheap enough to parse.
func (l *linter) affordable(d *declaration) []*expression {
	if !d.priced {
		d.priced = true
		for _, e := range d.expressions {
			if l.affords(e) {
				d.affordable = append(d.affordable, e)
			}
		}
	}
	return d.affordable
}

// affords reports whether an expression is cheap enough to parse. If not, it sets the expression's error.
func (l *linter) affords(e *expression) bool {
	effort, reason := pricing.Expression(e.resolved, e.kind())
	if effort > pricing.FreeEffort {
		if l.effort += effort; l.effort > pricing.RequestEffort && reason == nil {
			reason = errRequestEffort
		}
	}
	e.err = reason
	return reason == nil
}

// fewEnough is the number of expressions from which on each is tried alone, rather than in halves.
const fewEnough = 8

// findRefused sets the error of each expression that the component does not accept.
//
// Usually all are valid, and one probe with all of them shows it. Otherwise the invalid ones are found by halving. If
// the component reads expressions together, each half is tried with the expressions already accepted, because these may
// determine its context; and the refused ones are tried again at the end, when all valid ones are known.
func (l *linter) findRefused(c ottlComponent, expressions []*expression) error {
	var accepted []*expression
	var try func(part []*expression) error
	try = func(part []*expression) error {
		if err := l.ctx.Err(); err != nil || len(part) == 0 {
			return err
		}
		refusal := l.probe(c, append(neighbours(c, accepted, part), part...))
		if refusal == nil {
			accepted = append(accepted, part...)
			return nil
		}
		if len(part) == 1 {
			part[0].err = refusal
			return nil
		}
		pieces := 2
		if len(part) <= fewEnough {
			pieces = len(part)
		}
		for i := range pieces {
			if err := try(part[i*len(part)/pieces : (i+1)*len(part)/pieces]); err != nil {
				return err
			}
		}
		return nil
	}
	if err := try(expressions); err != nil {
		return err
	}
	for again := c.together; again; {
		before := len(accepted)
		for _, e := range expressions {
			if e.err == nil || len(neighbours(c, accepted, []*expression{e})) == 0 {
				continue
			}
			e.err = nil
			if err := try([]*expression{e}); err != nil {
				return err
			}
		}
		again = len(accepted) > before
	}
	return nil
}

// neighbours returns the accepted expressions that the component reads together with the part.
func neighbours(c ottlComponent, accepted, part []*expression) []*expression {
	if !c.together {
		return nil
	}
	groups := map[string]bool{}
	for _, e := range part {
		if e.infers() {
			groups[e.group()] = true
		}
	}
	var beside []*expression
	for _, e := range accepted {
		if groups[e.group()] {
			beside = append(beside, e)
		}
	}
	return beside
}

func newResult(version string) *Result {
	return &Result{Valid: true, OTTLVersion: version, Items: []Item{}, Skipped: []Skipped{}}
}

func (r *Result) add(e *expression) {
	item := e.item()
	r.Checked++
	r.Valid = r.Valid && item.Error == nil
	r.Items = append(r.Items, item)
}

// inOrder sorts a result by position in the text.
func (r *Result) inOrder() {
	slices.SortStableFunc(r.Items, func(a, b Item) int { return a.Location.compare(b.Location) })
	slices.SortStableFunc(r.Skipped, func(a, b Skipped) int { return a.Location.compare(b.Location) })
}

func (l Location) compare(other Location) int {
	return cmp.Or(cmp.Compare(l.Line, other.Line), cmp.Compare(l.Column, other.Column))
}
