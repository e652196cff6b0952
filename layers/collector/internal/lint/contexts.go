package lint

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/headgate/headgate/layers/collector/internal/operation"
)

// inContext judges expressions that belong to no component.
func (j *judge) inContext(request Request) (*Result, error) {
	if request.Context == nil || !slices.Contains(contexts, *request.Context) {
		return nil, &operation.Error{
			Code: "unknown_context", Message: "the context is one of " + strings.Join(contexts, ", "),
		}
	}
	total := len(request.Conditions) + len(request.Statements) + len(request.ValueExpressions)
	if total > maxExpressions {
		return nil, tooMany()
	}
	if total == 0 {
		return nil, operation.BadRequest("a context comes with conditions, statements or value_expressions")
	}
	result := newResult(version(j.build.Version))
	for _, list := range []struct {
		name  string
		kind  Kind
		texts []string
	}{
		{"conditions", Condition, request.Conditions},
		{"statements", Statement, request.Statements},
		{"value_expressions", ValueExpression, request.ValueExpressions},
	} {
		asked := proxy(*request.Context, list.kind)
		c := &spoken{speaker: asked.speaker}
		for i, text := range list.texts {
			path := fmt.Sprintf("%s[%d]", list.name, i)
			if reason := unknowable(text); reason != "" {
				result.Skipped = append(result.Skipped, Skipped{Location{path, 1, 1}, text, reason})
				continue
			}
			e := asked.expression(i, *request.Context)
			e.written, e.resolved, e.path = text, text, path
			e.position = func(offset int) (int, int) { return positionIn(text, offset) }
			c.expressions = append(c.expressions, e)
		}
		if err := j.component(c); err != nil {
			return nil, err
		}
		for _, e := range c.expressions {
			result.add(e)
		}
	}
	return result, nil
}

// standIn is a component's field that an expression without a component is judged in.
type standIn struct {
	speaker speaker
	field   field
}

// proxy is the component whose business such expressions are: the filter processor for conditions, transform for
// statements and for conditions on a scope, signaltometrics for values. Where no component of the build takes them, the
// grammar and the standard functions of pkg/ottl judge them.
func proxy(context string, kind Kind) standIn {
	for _, id := range []string{"processors::filter", "processors::transform", "connectors::signaltometrics"} {
		speaker := speakers[slices.IndexFunc(speakers, func(s speaker) bool { return s.id() == id })]
		for _, field := range speaker.fields {
			if field.kind != kind || field.pattern[len(field.pattern)-1] == "count" {
				continue
			}
			takes := field.context == context
			if field.contextKey != "" {
				takes = slices.Contains(transformContexts[field.pattern[0]], context)
			}
			if takes {
				return standIn{speaker, field}
			}
		}
	}
	return standIn{
		speaker: speaker{parse: func(e *expression) error { return parse(context, kind, e.resolved) }},
		field:   field{kind: kind, context: context},
	}
}

// transformContexts are those that the lists of the transform processor take, by their own specific functions.
var transformContexts = map[string][]string{
	"trace_statements":   {"resource", "scope", "span", "spanevent"},
	"metric_statements":  {"metric", "datapoint"},
	"log_statements":     {"log"},
	"profile_statements": {"profile"},
}

// expression is the one of this number in the field.
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

// positionIn is the line and column of the byte at an offset of a text that stands for itself.
func positionIn(text string, offset int) (line, column int) {
	before := text[:offset]
	start := strings.LastIndexByte(before, '\n') + 1
	return strings.Count(before, "\n") + 1, utf8.RuneCountInString(before[start:]) + 1
}
