package lint

import (
	"context"
	"strconv"
	"strings"

	"github.com/headgate/headgate/layers/collector/internal/operation"
)

// Refusal is an expression that its component does not accept, with the reason and the place of the token that the parser
// failed at.
type Refusal struct {
	// Component is the path of its component, Path the one of the expression, from the section on.
	Component string
	Path      []string
	// Text is the expression as the component reads it.
	Text, Message string
	Line, Column  int
	// Cause is the parser's own message.
	Cause string
}

// Refused returns the refused expressions of some components of a configuration, in the order of their fields. It is
// empty for a text whose expressions cannot be read.
func Refused(ctx context.Context, env *operation.Environment, text string, of map[string]bool) ([]Refusal, error) {
	factories, err := env.Factories()
	if err != nil {
		return nil, err
	}
	root, err := rootOf(text)
	if err != nil {
		return nil, nil
	}
	found, err := find(text, root, maxOfText, factories, env)
	if err != nil {
		return nil, nil
	}
	l := &linter{ctx: ctx, factories: factories, env: env}
	var refused []Refusal
	for _, d := range found.declarations {
		if len(d.expressions) == 0 || !of[d.path()] {
			continue
		}
		if err := l.component(d); err != nil {
			return nil, err
		}
		for _, e := range d.expressions {
			if e.err == nil {
				continue
			}
			item := e.item()
			refused = append(refused, Refusal{
				Component: d.path(), Path: e.names(), Text: e.resolved, Message: strings.Join(append([]string{*item.Error}, e.advice...), "; "),
				Line: item.Location.Line, Column: item.Location.Column, Cause: parserError(e.err).Error(),
			})
		}
	}
	return refused, nil
}

// path is the path of the component.
func (d *declaration) path() string {
	section, rest, _ := strings.Cut(d.expressions[0].path, "::")
	id, _, _ := strings.Cut(rest, "::")
	return section + "::" + id
}

// names are the names and indices that lead to an expression from the section on.
func (e *expression) names() []string {
	section, rest, _ := strings.Cut(e.path, "::")
	id, _, _ := strings.Cut(rest, "::")
	names := []string{section, id}
	for _, next := range e.steps {
		if next.key != "" {
			names = append(names, next.key)
		} else {
			names = append(names, strconv.Itoa(next.index))
		}
	}
	return names
}
