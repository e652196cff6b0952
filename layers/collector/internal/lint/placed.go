package lint

import (
	"strings"

	"github.com/headgate/headgate/layers/collector/internal/operation"
)

// Placed is an expression in the text of a configuration.
type Placed struct {
	Location
	// Section and ID name its component, Key is the component's setting that it is under.
	Section, ID, Key string
	Kind             Kind
	// Text is the expression as it is written, Prefix what the component puts before it for the parser. Context is empty
	// where the component infers it.
	Text, Prefix, Context string
}

// PlacedExpressions returns the expressions of a configuration with their places, in no particular order. Its error is
// that of a text that is not a configuration, or is too costly.
func PlacedExpressions(text string, env *operation.Environment) ([]Placed, error) {
	factories, err := env.Factories()
	if err != nil {
		return nil, err
	}
	root, err := rootOf(text)
	if err != nil {
		return nil, err
	}
	found, err := find(text, root, maxOfText, factories, env)
	if err != nil {
		return nil, err
	}
	var all []Placed
	for _, declared := range found.declarations {
		for _, e := range declared.expressions {
			line, column := e.position(0)
			section, rest, _ := strings.Cut(e.path, "::")
			id, _, _ := strings.Cut(rest, "::")
			all = append(all, Placed{
				Location: Location{Path: e.path, Line: line, Column: column}, Section: section, ID: id, Key: e.steps[0].key,
				Kind: e.kind(), Text: e.resolved, Prefix: e.field.prefix, Context: e.context,
			})
		}
	}
	return all, nil
}
