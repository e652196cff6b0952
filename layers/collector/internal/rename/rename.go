// Package rename writes this release's names of renamed component types into a configuration, and leaves every other byte
// as it was.
//
// The factories tell which types are deprecated, and their new names; names of later releases are those of the package
// alias. A text names a component by its place in the
// sections and in the service; inside of a component, the decoder tells it by what another text at the place changes.
package rename

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/headgate/headgate/layers/collector/internal/operation"
	"github.com/headgate/headgate/layers/collector/internal/source"
	"github.com/headgate/headgate/layers/collector/internal/validate"
)

const separator = "::"

// Limits on what a text asks for. Each name inside of a component takes a decoding of the component, so that a list of
// names takes time with the square of its length.
const (
	maxVisits  = 500_000
	maxDecoded = 300_000
	// maxLooking bounds the text before names on their lines, which is read for the place of each.
	maxLooking = 50_000_000
)

// Result is the text with the new names, and which texts were replaced. NotRenamed are deprecated components that keep
// their name, and references to those that the text itself does not configure.
type Result struct {
	YAML       string       `json:"yaml"`
	Renames    []Renamed    `json:"renames"`
	NotRenamed []NotRenamed `json:"not_renamed"`
}

// Renamed is a type that was replaced: From and To are the types, Line and Column the place in the given text.
type Renamed struct {
	From          string `json:"from"`
	To            string `json:"to"`
	ComponentPath string `json:"component_path"`
	Line          int    `json:"line"`
	Column        int    `json:"column"`
}

// NotRenamed is a component, or a reference to one, whose type is deprecated and stays, with the reason.
type NotRenamed struct {
	From          string `json:"from"`
	To            string `json:"to"`
	ComponentPath string `json:"component_path"`
	Line          int    `json:"line"`
	Column        int    `json:"column"`
	Reason        string `json:"reason"`
}

// Handle answers `rename {yaml, env}` with a Result. Its errors are yaml_syntax for a text that is not a configuration,
// and too_costly.
func Handle(ctx context.Context, env *operation.Environment, raw json.RawMessage) (any, error) {
	var request validate.Request
	if err := json.Unmarshal(raw, &request); err != nil {
		return nil, operation.BadRequest("rename takes yaml and env: %v", err)
	}
	return Rename(ctx, env, request)
}

// Rename replaces the deprecated types of a configuration. Its errors are those of Handle, and internal ones.
func Rename(ctx context.Context, env *operation.Environment, request validate.Request) (*Result, error) {
	document, conf, err := read(ctx, request)
	if err != nil {
		return nil, err
	}
	factories, err := env.Factories()
	if err != nil {
		return nil, fmt.Errorf("making the factories: %w", err)
	}
	kinds := kindsOf(factories)
	kinds.adopt(conf)
	p := newPlan(env, kinds, request.YAML, document, conf)
	if err := p.find(); err != nil {
		return nil, err
	}
	p.settle()
	result := p.apply(request.YAML)
	if result.YAML == request.YAML {
		return result, nil
	}
	request.YAML = result.YAML
	renamed, again, err := read(ctx, request)
	if err != nil {
		return nil, unreadable(err)
	}
	if err := p.confirm(renamed, again); err != nil {
		return nil, fmt.Errorf("the renaming would change more than names: %w", err)
	}
	return result, nil
}

// unreadable is the error for a renamed text that is refused. It is not the refusal itself, which speaks of a text that
// the caller does not have.
func unreadable(err error) error {
	if refused := (*operation.Error)(nil); errors.As(err, &refused) && refused.Code == "too_costly" {
		return tooCostly("with the new names, " + refused.Message)
	}
	return fmt.Errorf("the text cannot be read after the renaming: %v", err)
}

// apply returns the text with the replacements that are settled.
func (p *plan) apply(text string) *Result {
	result := &Result{Renames: []Renamed{}, NotRenamed: []NotRenamed{}}
	slices.SortFunc(p.spots, func(a, b *spot) int { return cmp.Compare(a.start, b.start) })
	var changed strings.Builder
	written := 0
	for _, one := range p.spots {
		if !one.renamed() {
			continue
		}
		changed.WriteString(text[written:one.start])
		changed.WriteString(one.to)
		written = one.end
		result.Renames = append(result.Renames, Renamed{
			From: one.from, To: one.to, ComponentPath: one.uses[0].shown(), Line: one.line, Column: one.column,
		})
	}
	changed.WriteString(text[written:])
	result.YAML = changed.String()
	result.NotRenamed = append(result.NotRenamed, p.unrenamed()...)
	return result
}

// read parses and resolves a text.
func read(ctx context.Context, request validate.Request) (*source.Document, map[string]any, error) {
	document, err := source.Parse(request.YAML)
	if err != nil {
		return nil, nil, notAConfiguration(err)
	}
	conf, err := validate.Resolve(ctx, document, request)
	var refused *operation.Error
	if errors.As(err, &refused) {
		return nil, nil, refused
	}
	if err != nil {
		return nil, nil, notAConfiguration(errors.New(document.Undecodable(err)))
	}
	return document, conf.ToStringMap(), nil
}

func notAConfiguration(err error) error {
	message := err.Error()
	if _, words, found := strings.Cut(message, "not valid YAML: "); found {
		message = words
	}
	return &operation.Error{Code: "yaml_syntax", Message: fmt.Sprintf(
		"the text is not a configuration, so nothing was renamed: %s; correct it first", strings.TrimPrefix(message, "yaml: "))}
}
