package prepare

import (
	"errors"

	"github.com/headgate/headgate/layers/collector/internal/hiding"
	"github.com/headgate/headgate/layers/collector/internal/operation"
	places "github.com/headgate/headgate/layers/collector/internal/source"
)

// hiding replaces the values of variables in what a run will tell.
func (p *Prepared) hiding(env map[string]string) *Prepared {
	if p == nil || len(env) == 0 || len(p.Notes) == 0 && p.NothingOut == "" {
		return p
	}
	hider := hiding.New(env)
	for place, note := range p.Notes {
		p.Notes[place] = hider.Text(note)
	}
	p.NothingOut = hider.Text(p.NothingOut)
	return p
}

// hidden replaces them in an error.
func hidden(err error, env map[string]string) error {
	if err == nil || len(env) == 0 {
		return err
	}
	hider := hiding.New(env)
	var problem *Problem
	var refusal *Refusal
	var cost *places.Cost
	var ofOperation *operation.Error
	switch {
	case errors.As(err, &problem):
		problem.Message = hider.Text(problem.Message)
	case errors.As(err, &refusal):
		refusal.Reason = hider.Text(refusal.Reason)
	case errors.As(err, &cost):
		cost.Message = hider.Text(cost.Message)
	case errors.As(err, &ofOperation):
		ofOperation.Message = hider.Text(ofOperation.Message)
	default:
		return errors.New(hider.Text(err.Error()))
	}
	return err
}
