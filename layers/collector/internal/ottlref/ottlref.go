// Package ottlref tells what OTTL a component has in a context: paths, functions and enums.
//
// The component's own parser is asked for each word of package vocabulary, and for each function that is linked. What it
// refuses is not told.
package ottlref

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/headgate/headgate/layers/collector/internal/lint"
	"github.com/headgate/headgate/layers/collector/internal/operation"
	"github.com/headgate/headgate/layers/collector/internal/vocabulary"
)

// Request names a component and one of its contexts, or neither.
type Request struct {
	Component string `json:"component"`
	Context   string `json:"context"`
}

// List is the answer to a request that names nothing.
type List struct {
	Components []Component `json:"components"`
}

// Component is a component that reads OTTL. Kind is `processor`, `connector` or `exporter`.
type Component struct {
	Component string   `json:"component"`
	Kind      string   `json:"kind"`
	Contexts  []string `json:"contexts"`
}

// Reference is the answer to a request that names a component and a context.
type Reference struct {
	Component string     `json:"component"`
	Kind      string     `json:"kind"`
	Context   string     `json:"context"`
	Paths     []Path     `json:"paths"`
	Functions []Function `json:"functions"`
	Enums     []Enum     `json:"enums"`
}

// Path is a path as an expression of the context writes it: those of other contexts begin with that context's name. The
// context's own may begin with its name too, and must where the component infers the context.
//
// Writable is whether the component has the function `set`, and that changes the value.
type Path struct {
	Path        string `json:"path"`
	Type        string `json:"type"`
	Writable    bool   `json:"writable"`
	Description string `json:"description"`
}

// Enum is a name of a number.
type Enum struct {
	Name        string `json:"name"`
	Value       int64  `json:"value"`
	Description string `json:"description"`
}

// Handler returns the handler that answers `ottl_reference`. Its error is bad_request.
func Handler() operation.Handler {
	known := &answers{references: map[[2]string]*Reference{}}
	return func(ctx context.Context, env *operation.Environment, raw json.RawMessage) (any, error) {
		var request Request
		if err := json.Unmarshal(raw, &request); err != nil {
			return nil, operation.BadRequest("ottl_reference takes component and context: %v", err)
		}
		return known.answer(ctx, env, request)
	}
}

// answers are those given so far: they cost hundreds of questions to a parser, and are the same as long as the process
// runs.
type answers struct {
	mutex      sync.Mutex
	components []*reader
	references map[[2]string]*Reference
}

// reader is a component with its grammars.
type reader struct {
	*lint.Component
	grammars []*lint.Grammar
}

func (r *reader) contexts() []string {
	var names []string
	for _, grammar := range r.grammars {
		names = append(names, grammar.Context)
	}
	return names
}

func (a *answers) answer(ctx context.Context, env *operation.Environment, request Request) (any, error) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if err := a.load(ctx, env); err != nil {
		return nil, err
	}
	switch {
	case request.Component == "" && request.Context == "":
		list := &List{Components: []Component{}}
		for _, c := range a.components {
			list.Components = append(list.Components, Component{c.Type, c.Kind, c.contexts()})
		}
		return list, nil
	case request.Component == "":
		return nil, operation.BadRequest("component is missing: context %q belongs to one", request.Context)
	}
	index := slices.IndexFunc(a.components, func(c *reader) bool { return c.Is(request.Component) })
	if index < 0 {
		return nil, operation.BadRequest("component: %s does not read OTTL in this build; these do: %s",
			quoted(request.Component), strings.Join(a.names(), ", "))
	}
	named := a.components[index]
	index = slices.Index(named.contexts(), request.Context)
	if index < 0 {
		return nil, operation.BadRequest("context: %s has no context %s; it has %s",
			named.Type, quoted(request.Context), strings.Join(named.contexts(), ", "))
	}
	return a.reference(ctx, named, named.grammars[index])
}

// quoted is a text of the request, cut to the length of a long name.
func quoted(text string) string {
	const longest = 63
	if characters := []rune(text[:min(len(text), 4*longest)]); len(characters) > longest {
		return fmt.Sprintf("%q…", string(characters[:longest]))
	}
	return fmt.Sprintf("%q", text)
}

func (a *answers) names() []string {
	var names []string
	for _, c := range a.components {
		names = append(names, c.Type)
	}
	return names
}

// load asks every component for its contexts.
func (a *answers) load(ctx context.Context, env *operation.Environment) error {
	if a.components != nil {
		return nil
	}
	here, err := lint.Components(env)
	if err != nil {
		return err
	}
	all := []*reader{}
	for _, one := range here {
		grammars, err := one.Grammars(ctx)
		if err != nil {
			return err
		}
		all = append(all, &reader{one, grammars})
	}
	a.components = all
	return nil
}

func (a *answers) reference(ctx context.Context, named *reader, grammar *lint.Grammar) (*Reference, error) {
	key := [2]string{named.Type, grammar.Context}
	if known, has := a.references[key]; has {
		return known, nil
	}
	made := &Reference{
		Component: named.Type, Kind: named.Kind, Context: grammar.Context,
		Functions: functions(grammar), Enums: enums(grammar),
	}
	writes := slices.ContainsFunc(made.Functions, func(f Function) bool { return f.Name == "set" })
	made.Paths = paths(grammar, writes)
	if err := ctx.Err(); err != nil {
		return nil, err // what was asked after the end may have been refused for it
	}
	a.references[key] = made
	return made, nil
}

// paths are those of the context first, then those of the others that it is in.
func paths(grammar *lint.Grammar, writes bool) []Path {
	all := []Path{}
	for _, candidate := range candidates(grammar.Context) {
		if grammar.Try(lint.Condition, candidate.Path+" != nil") != nil {
			continue
		}
		writable := writes && !candidate.ReadOnly &&
			grammar.Try(lint.Statement, fmt.Sprintf("set(%s, %[1]s)", candidate.Path)) == nil
		all = append(all, Path{candidate.Path, candidate.Type, writable, candidate.Description})
	}
	return all
}

// candidates are the paths that a context may have, as it writes them.
func candidates(context string) []vocabulary.Path {
	all := slices.Clone(vocabulary.Paths[context])
	for _, other := range order {
		if other == context {
			continue
		}
		for _, path := range vocabulary.Paths[other] {
			path.Path = other + "." + path.Path
			all = append(all, path)
		}
	}
	return all
}

// order is from the inside of telemetry to its outside.
var order = []string{
	"exemplar", "datapoint", "metric", "spanevent", "span", "log", "profilesample", "profile",
	"scope", "instrumentation_scope", "resource", "otelcol",
}

func enums(grammar *lint.Grammar) []Enum {
	all := []Enum{}
	for _, enum := range vocabulary.Enums {
		if grammar.Try(lint.Condition, enum.Name+" == 1") == nil {
			all = append(all, Enum(enum))
		}
	}
	return all
}
