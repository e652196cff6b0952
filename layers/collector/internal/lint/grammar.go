package lint

import (
	"context"
	"errors"
	"fmt"

	"github.com/headgate/headgate/layers/collector/internal/contexts"
	"github.com/headgate/headgate/layers/collector/internal/operation"
	"go.opentelemetry.io/collector/component"
)

// Component is a component of this build that reads OTTL, and can be asked about its grammar.
type Component struct {
	linter *linter
	table  ottlComponent
	// Kind is `processor`, `connector` or `exporter`, Type the name in this version.
	Kind, Type string
}

// Components are the components of this build that read OTTL, in the order of their kinds and names.
func Components(env *operation.Environment) ([]*Component, error) {
	factories, err := env.Factories()
	if err != nil {
		return nil, fmt.Errorf("making the factories: %w", err)
	}
	var here []*Component
	for _, table := range ottlComponents {
		factory := factoryOf(factories, table)
		if factory == nil || len(table.fields) == 0 {
			continue
		}
		here = append(here, &Component{
			linter: &linter{ctx: context.Background(), factories: factories, env: env}, table: table,
			Kind: table.section[:len(table.section)-1], Type: factory.Type().String(),
		})
	}
	return here, nil
}

// Is reports whether a type names the component: by its own name, or by that of another version.
func (c *Component) Is(kind string) bool {
	asked, err := component.NewType(kind)
	if err != nil {
		return false
	}
	factory := factoryOf(c.linter.factories, ottlComponent{section: c.table.section, kind: asked.String()})
	return factory != nil && factory.Type().String() == c.Type || kind == c.table.kind
}

// Grammar is how a component reads the expressions of one context.
type Grammar struct {
	Context string
	linter  *linter
	// ofKind are the fields that read them, one for conditions among them.
	ofKind map[Kind]standIn
}

// Grammars are those of each context that the component reads, in the order of the contexts of OTTL.
func (c *Component) Grammars(ctx context.Context) ([]*Grammar, error) {
	var all []*Grammar
	for _, name := range contexts.Names {
		grammar := &Grammar{Context: name, linter: c.linter, ofKind: map[Kind]standIn{}}
		for _, field := range c.table.fields {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			asked := standIn{c.table, field}
			if !grammar.Reads(field.kind) && grammar.isIn(field) && grammar.reaches(asked) {
				grammar.ofKind[field.kind] = asked
			}
		}
		if grammar.Reads(Condition) {
			all = append(all, grammar)
		}
	}
	return all, nil
}

// isIn reports whether a field may be in the context.
func (g *Grammar) isIn(field ottlField) bool {
	return field.context == g.Context || field.context == "" && field.contextKey != ""
}

// reaches reports whether a text in a field gets to the parser of the context.
func (g *Grammar) reaches(asked standIn) bool {
	var syntax syntaxError
	return errors.As(g.try(asked, "$$ no OTTL $$"), &syntax)
}

// Reads reports whether the component reads expressions of a kind in the context.
func (g *Grammar) Reads(kind Kind) bool {
	_, does := g.ofKind[kind]
	return does
}

// Try returns the component's error for an expression of a kind that it reads. The expression is the caller's own: it
// is not priced.
func (g *Grammar) Try(kind Kind, text string) error { return g.try(g.ofKind[kind], text) }

func (g *Grammar) try(asked standIn, text string) error {
	e := asked.expression(0, g.Context)
	e.resolved = text
	return g.linter.probe(asked.component, []*expression{e})
}
