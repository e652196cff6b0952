package lint

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"sync"

	"github.com/headgate/headgate/layers/collector/internal/pricing"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/otelcol"
)

// judge answers one request.
type judge struct {
	ctx       context.Context
	factories otelcol.Factories
	build     component.BuildInfo
	// effort is what the costlier expressions of the request have taken.
	effort float64
	// tried counts the suggestions that were tried out.
	tried int
}

// configuration judges the expressions of a whole configuration.
func (j *judge) configuration(text string) (*Result, error) {
	found, err := find(text, j.factories, j.build)
	if err != nil {
		return nil, err
	}
	result := newResult(version(j.build.Version))
	result.Skipped = append(result.Skipped, found.skipped...)
	j.askAtOnce(found.components)
	for _, component := range found.components {
		if err := j.component(component); err != nil {
			return nil, err
		}
		for _, e := range component.expressions {
			result.add(e)
		}
	}
	result.inOrder()
	return result, nil
}

// askAtOnce asks the components for all that they say, several at a time: for most that settles it.
func (j *judge) askAtOnce(components []*spoken) {
	var asked sync.WaitGroup
	free := make(chan struct{}, runtime.GOMAXPROCS(0))
	for _, c := range components {
		judged := j.affordable(c)
		asked.Add(1)
		go func() {
			defer asked.Done()
			free <- struct{}{}
			defer func() { <-free }()
			c.accepted = j.ctx.Err() == nil && j.probe(c.speaker, judged) == nil
		}()
	}
	asked.Wait()
}

// component gives each expression of a component its verdict and its notes.
func (j *judge) component(c *spoken) error {
	judged := j.affordable(c)
	if !c.accepted {
		if err := j.settle(c.speaker, judged); err != nil {
			return err
		}
	}
	if c.speaker.together {
		if err := j.inferContexts(c.speaker, judged); err != nil {
			return err
		}
	}
	for _, e := range judged {
		if e.err != nil {
			j.advise(c.speaker, e)
		}
		e.note = append(e.note, remarks(e)...)
	}
	return nil
}

// affordable are the expressions of a component that do not take too long.
func (j *judge) affordable(c *spoken) []*expression {
	if !c.priced {
		c.priced = true
		for _, e := range c.expressions {
			if j.affords(e) {
				c.judged = append(c.judged, e)
			}
		}
	}
	return c.judged
}

// affords refuses an expression that would take the parser too long.
func (j *judge) affords(e *expression) bool {
	effort, reason := pricing.Expression(e.resolved, e.kind())
	if effort > pricing.FreeEffort {
		if j.effort += effort; j.effort > pricing.RequestEffort && reason == nil {
			reason = errRequestEffort
		}
	}
	e.err = reason
	return reason == nil
}

// fewEnough expressions are tried one by one rather than halved further.
const fewEnough = 8

// settle finds the expressions that the component does not accept.
//
// Most often all are good, and one configuration that holds them all shows it. Otherwise the bad ones are found by
// halving. Where expressions are read together a half is tried beside those that are known to be good, since these may
// give it its context; and what was refused is tried once more at the end, when all the good ones are known.
func (j *judge) settle(s speaker, expressions []*expression) error {
	var accepted []*expression
	var try func(part []*expression) error
	try = func(part []*expression) error {
		if err := j.ctx.Err(); err != nil || len(part) == 0 {
			return err
		}
		refusal := j.probe(s, append(neighbours(s, accepted, part), part...))
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
	for again := s.together; again; {
		before := len(accepted)
		for _, e := range expressions {
			if e.err == nil || len(neighbours(s, accepted, []*expression{e})) == 0 {
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

// neighbours are those of the accepted expressions that are read together with the part.
func neighbours(s speaker, accepted, part []*expression) []*expression {
	if !s.together {
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

// inOrder sorts what is in a result by its place in the text.
func (r *Result) inOrder() {
	slices.SortStableFunc(r.Items, func(a, b Item) int { return a.Location.compare(b.Location) })
	slices.SortStableFunc(r.Skipped, func(a, b Skipped) int { return a.Location.compare(b.Location) })
}

func (l Location) compare(other Location) int {
	return cmp.Or(cmp.Compare(l.Line, other.Line), cmp.Compare(l.Column, other.Column))
}
