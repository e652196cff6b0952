// Package mutants makes variants of a configuration that each leave out or change one thing, and judges whether tests
// notice it.
//
// A variant is the user's text with one place edited; every other byte stays. What the edit changed is confirmed on the
// parsed text, and the collector must accept the variant: what cannot be loaded is not a mutant.
package mutants

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/headgate/headgate/layers/collector/internal/lint"
	"github.com/headgate/headgate/layers/collector/internal/operation"
	"github.com/headgate/headgate/layers/collector/internal/prepare"
	"github.com/headgate/headgate/layers/collector/internal/source"
	"github.com/headgate/headgate/layers/collector/internal/validate"
)

const (
	// MaxMutants is how many mutants a request may ask for.
	MaxMutants = 100
	// maxCandidates bounds the places that are looked at: a text of 1 MB can have 20,000 statements.
	maxCandidates = 20_000
	// work bounds what the collector validates for a request: bytes of text, with those of expressions times what parsing
	// them takes more, and overhead for what any text costs. It is some 2 s of processor time: 80 mutants of a usual text,
	// one of a text with 2,500 statements.
	work           = 2_400_000
	overhead       = 12_000
	expressionWork = 4
	// expressionLeast is what an expression of no length costs.
	expressionLeast = 50
	// maxPipelines is how many tests a configuration can have.
	maxPipelines = 50
	// answered bounds the texts of an answer together.
	answered = 8 << 20
)

// Request asks for mutants of a configuration that runs of these pipelines reach. After is the number of places that
// earlier requests went through.
type Request struct {
	YAML      string            `json:"yaml"`
	Env       map[string]string `json:"env"`
	Pipelines []string          `json:"pipelines"`
	Max       int               `json:"max"`
	After     int               `json:"after"`
}

// Result is the mutants in the order of the text. LeftOut counts the places in reach that were not looked at. Next is the
// After of the request that goes on, or null. Untested are the pipelines that no run reaches.
type Result struct {
	Mutants []Mutant `json:"mutants"`
	// Places counts the places in reach at which something can be changed; Refused, those of this request where the
	// collector would not load the result.
	Places   int      `json:"places"`
	Refused  int      `json:"refused"`
	LeftOut  int      `json:"left_out"`
	Next     *int     `json:"next"`
	Untested []string `json:"untested"`
}

// Mutant is a variant of the configuration. Line and Column are the place in the user's text, in code points from 1.
type Mutant struct {
	ID   string `json:"id"`
	Kind Kind   `json:"kind"`
	// Component is the path of what was changed: `processors::filter/noise`, `service::pipelines::logs`.
	Component string `json:"component"`
	// Pipelines are those of the request whose runs reach it.
	Pipelines   []string `json:"pipelines"`
	Line        int      `json:"line"`
	Column      int      `json:"column"`
	Description string   `json:"description"`
	// WouldNotice tells what a test needs to notice it.
	WouldNotice string `json:"would_notice"`
	YAML        string `json:"yaml"`
}

// Kind is what a mutant changes.
type Kind string

// The kinds of mutants.
const (
	Processor  Kind = "processor"  // leaves a processor out of a pipeline
	Connector  Kind = "connector"  // leaves a connector out of a pipeline's exporters
	Statement  Kind = "statement"  // leaves an OTTL statement out
	Where      Kind = "where"      // leaves a statement's where out
	Condition  Kind = "condition"  // leaves a condition out
	Operand    Kind = "operand"    // leaves one side of an `and` or `or` out
	Comparison Kind = "comparison" // includes or excludes the limit of a comparison: `<` for `<=`
	Route      Kind = "route"      // leaves a route of a routing connector out
	Action     Kind = "action"     // leaves an action of an attributes or resource processor out
	ActionKind Kind = "action_kind"
	Number     Kind = "number" // changes a number
	Flag       Kind = "flag"   // changes true to false, or false to true
	Entry      Kind = "entry"  // leaves an entry of another list, or another setting, out
)

// Handle answers `mutants` with a Result. Its errors are invalid_configuration, too_costly, bad_request, and
// component_not_in_build.
func Handle(ctx context.Context, env *operation.Environment, raw json.RawMessage) (any, error) {
	var request Request
	if err := json.Unmarshal(raw, &request); err != nil {
		return nil, operation.BadRequest("mutants takes yaml, env, pipelines, max and after: %v", err)
	}
	if request.Max < 1 || request.Max > MaxMutants || request.After < 0 {
		return nil, operation.BadRequest("max is from 1 to %d, after from 0 on", MaxMutants)
	}
	if len(request.Pipelines) > maxPipelines {
		return nil, operation.BadRequest("pipelines are at most %d", maxPipelines)
	}
	return Make(ctx, env, request)
}

// Make makes mutants of a configuration. Its errors are those of Handle, and internal ones.
func Make(ctx context.Context, env *operation.Environment, request Request) (*Result, error) {
	factories, err := env.Factories()
	if err != nil {
		return nil, fmt.Errorf("making the factories: %w", err)
	}
	reaches, pipelines, err := prepare.Reaches(ctx, request.YAML, request.Env, request.Pipelines, factories.Connectors)
	if err != nil {
		return nil, refused(err)
	}
	document, err := source.Parse(request.YAML)
	if err != nil {
		return nil, refused(err)
	}
	if request.After == 0 { // the first request tells for those that go on
		accepted, err := validate.Accepts(ctx, env, validate.Request{YAML: request.YAML, Env: request.Env})
		if err != nil {
			return nil, err
		}
		if !accepted {
			return nil, why(ctx, env, request)
		}
	}
	f := newFinder(document, reaches)
	f.find()
	m := &maker{ctx: ctx, env: env, request: request, document: document}
	return m.make(spread(f.candidates), untested(pipelines, reaches))
}

// why returns the error for a configuration that the collector does not accept.
func why(ctx context.Context, env *operation.Environment, request Request) error {
	result, err := validate.Validate(ctx, env, validate.Request{YAML: request.YAML, Env: request.Env})
	if err != nil {
		return err
	}
	message := "the collector refuses the configuration: correct it first"
	if len(result.Errors) > 0 {
		first := result.Errors[0]
		message = fmt.Sprintf("%s: line %d: %s", message, first.Line, shortened(first.Message))
	}
	return &operation.Error{Code: "invalid_configuration", Message: message}
}

func refused(err error) error {
	var cost *source.Cost
	if errors.As(err, &cost) {
		return &operation.Error{Code: "too_costly", Message: cost.Message}
	}
	return &operation.Error{Code: "invalid_configuration", Message: err.Error()}
}

// untested are the pipelines that no run starts.
func untested(pipelines []string, reaches map[string]prepare.Reach) []string {
	left := make([]string, 0, len(pipelines))
	for _, id := range pipelines {
		started := false
		for _, reach := range reaches {
			_, known := reach.Pipelines[id]
			started = started || known
		}
		if !started {
			left = append(left, id)
		}
	}
	return left
}

type maker struct {
	ctx      context.Context
	env      *operation.Environment
	request  Request
	document *source.Document
}

// make tries the candidates in turn until there are enough mutants, or the collector has validated enough text.
func (m *maker) make(candidates []*candidate, untested []string) (*Result, error) {
	result := &Result{Mutants: []Mutant{}, Places: len(candidates), Untested: untested}
	most := max(1, work/(workOf(m.document, len(m.request.YAML))+overhead))
	at, written := m.request.After, 0
	for ; at < len(candidates) && len(result.Mutants) < m.request.Max && most > 0; at++ {
		one := candidates[at]
		most-- // also for an edit that comes to nothing, which took parsing a text
		text, ok := m.edited(one)
		if !ok {
			result.Refused++
			continue
		}
		if written += len(text); written > answered && len(result.Mutants) > 0 {
			break
		}
		accepted, err := validate.Accepts(m.ctx, m.env, validate.Request{YAML: text, Env: m.request.Env})
		if err := m.ctx.Err(); err != nil {
			return nil, err
		}
		if err != nil || !accepted {
			result.Refused++ // a text that would cost too much, or panics, is refused like any other
			continue
		}
		result.Mutants = append(result.Mutants, one.mutant(text))
	}
	if at < len(candidates) {
		result.LeftOut, result.Next = len(candidates)-at, &at
	}
	slices.SortStableFunc(result.Mutants, func(a, b Mutant) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	return result, nil
}

// workOf prices the validation of a text: a component parses its expressions to validate them, and each time it is built.
func workOf(document *source.Document, length int) int {
	total := length
	var plain map[string]any
	if document.Root() == nil || document.Root().Decode(&plain) != nil {
		return total
	}
	listed := map[string]int{}
	service, _ := plain["service"].(map[string]any)
	pipelines, _ := service["pipelines"].(map[string]any)
	for _, body := range pipelines {
		lists, _ := body.(map[string]any)
		for section, list := range lists {
			ids, _ := list.([]any)
			for _, id := range ids {
				listed[fmt.Sprint(section, separator, id)]++
			}
		}
	}
	for e := range lint.Expressions(plain) {
		total += expressionWork * (len(e.Text) + expressionLeast) * (1 + listed[e.Section+separator+e.ID])
	}
	return total
}

// edited returns the text of a mutant, if the edit changes what it should and nothing else.
func (m *maker) edited(one *candidate) (string, bool) {
	edit, ok := one.change.edit(m.document)
	if !ok {
		return "", false
	}
	text := m.document.Apply(edit)
	changed, err := source.Parse(text)
	if err != nil || changed.Root() == nil {
		return "", false
	}
	return text, one.change.confirmed(m.document.Root(), changed.Root())
}
