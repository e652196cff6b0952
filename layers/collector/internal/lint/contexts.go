package lint

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/headgate/headgate/layers/collector/internal/contexts"
	"github.com/headgate/headgate/layers/collector/internal/operation"
)

// Parse parses an expression with the standard functions, without a component.
func Parse(context string, kind Kind, text string) error {
	return contexts.Parse(context, string(kind), text)
}

// inContext checks expressions that do not belong to a component.
func (l *linter) inContext(request Request) (*Result, error) {
	if request.Context == nil || !slices.Contains(contexts.Names, *request.Context) {
		return nil, &operation.Error{
			Code: "unknown_context", Message: "the context is one of " + strings.Join(contexts.Names, ", "),
		}
	}
	total := len(request.Conditions) + len(request.Statements) + len(request.ValueExpressions)
	if total > maxExpressions {
		return nil, tooMany(maxExpressions)
	}
	if total == 0 {
		return nil, operation.BadRequest("a context comes with conditions, statements or value_expressions")
	}
	result := newResult(OTTLVersion(l.env.BuildInfo.Version))
	for _, list := range []struct {
		name  string
		kind  Kind
		texts []string
	}{
		{"conditions", Condition, request.Conditions},
		{"statements", Statement, request.Statements},
		{"value_expressions", ValueExpression, request.ValueExpressions},
	} {
		asked := standInFor(*request.Context, list.kind)
		d := &declaration{component: asked.component}
		for i, text := range list.texts {
			path := fmt.Sprintf("%s[%d]", list.name, i)
			if reason := unknowable(text); reason != "" {
				result.Skipped = append(result.Skipped, Skipped{Location{path, 1, 1}, text, reason})
				continue
			}
			e := asked.expression(i, *request.Context)
			e.written, e.resolved, e.path = text, text, path
			e.position = func(offset int) (int, int) { return positionIn(text, offset) }
			d.expressions = append(d.expressions, e)
		}
		if err := l.component(d); err != nil {
			return nil, err
		}
		for _, e := range d.expressions {
			result.add(e)
		}
	}
	return result, nil
}

// standIn is the field of a component in which an expression without a component is checked.
type standIn struct {
	component ottlComponent
	field     ottlField
}

// standInFor returns the field that reads such expressions: of the filter processor for conditions, of transform for
// statements and for conditions on a scope, of signaltometrics for values. If no component of the build reads them,
// they are parsed with the standard functions of pkg/ottl.
func standInFor(context string, kind Kind) standIn {
	for _, id := range []string{"processors::filter", "processors::transform", "connectors::signaltometrics"} {
		c := ottlComponents[slices.IndexFunc(ottlComponents, func(c ottlComponent) bool { return c.id() == id })]
		for _, field := range c.fields {
			if field.kind != kind || field.pattern[len(field.pattern)-1] == "count" {
				continue
			}
			takes := field.context == context
			if field.contextKey != "" {
				takes = slices.Contains(transformContexts[field.pattern[0]], context)
			}
			if takes {
				return standIn{c, field}
			}
		}
	}
	return standIn{
		component: ottlComponent{parse: func(e *expression) error { return Parse(context, kind, e.resolved) }},
		field:     ottlField{kind: kind, context: context},
	}
}

// transformContexts are the contexts that each list of the transform processor takes, with functions of their own.
var transformContexts = map[string][]string{
	"trace_statements":   {"resource", "scope", "span", "spanevent"},
	"metric_statements":  {"metric", "datapoint"},
	"log_statements":     {"log"},
	"profile_statements": {"profile"},
}

// expression returns an expression with this number in the field's list.
func (s standIn) expression(number int, context string) *expression {
	e := &expression{field: s.field, context: context}
	for i, part := range s.field.pattern {
		switch {
		case part != "[]":
			e.steps = append(e.steps, step{key: part})
		case i == 1 && len(s.field.pattern) > 2 || i == len(s.field.pattern)-1:
			e.steps = append(e.steps, step{index: number})
		default:
			e.steps = append(e.steps, step{})
		}
	}
	if s.field.contextKey != "" {
		group := slices.Clip(e.steps[:2])
		e.beside = []setting{{append(group, step{key: s.field.contextKey}), context}}
	}
	return e
}

// positionIn returns the line and column, from 1, of the byte at an offset of a text.
func positionIn(text string, offset int) (line, column int) {
	before := text[:offset]
	start := strings.LastIndexByte(before, '\n') + 1
	return strings.Count(before, "\n") + 1, utf8.RuneCountInString(before[start:]) + 1
}
