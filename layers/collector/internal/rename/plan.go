package rename

import (
	"cmp"
	"slices"
	"strings"

	"github.com/headgate/headgate/layers/collector/internal/operation"
	"github.com/headgate/headgate/layers/collector/internal/source"
	"go.opentelemetry.io/collector/component"
	"go.yaml.in/yaml/v3"
)

// target is a component by section and id.
type target struct {
	section string
	id      component.ID
}

// role is what a text stands for at a place.
type role int

const (
	// somethingElse is a text that only looks like a name.
	somethingElse role = iota
	declaration
	// reference is a name in the service, or one by which a component refers to an extension.
	reference
	// nested is the name of a component inside of a component, which no pipeline and no other component refers to.
	nested
)

// use is a place at which a text stands. Aliases and merge keys give a text more than one.
type use struct {
	role   role
	target target
	// to is the type's new name, empty if the text stays here.
	to string
	// text is the name as it is written, with its blanks.
	text string
	path []string
	key  bool
}

// shown is the component path of a use: for a reference in a list of the service, that of the list's owner.
func (u *use) shown() string {
	path := u.path
	if path[0] == "service" {
		path = path[:min(len(path), 3)]
		if len(path) > 2 && path[1] == "extensions" {
			path = path[:2]
		}
	}
	return strings.Join(path, separator)
}

// spot is a type's name in the text.
type spot struct {
	node *yaml.Node
	// offset is the place of the type in the node's value.
	offset   int
	from, to string
	uses     []*use
	// start and end are its place in the text; literal is set if it is written there as it is.
	start, end   int
	literal      bool
	line, column int
	// stays is why it is not replaced.
	stays string
}

func (s *spot) renamed() bool { return s.stays == "" }

// plan is what is to be renamed.
type plan struct {
	env        *operation.Environment
	kinds      kinds
	deprecated map[string]bool
	text       string
	document   *source.Document
	decoder    *decoder
	plain      map[string]any
	// declared are the components of the text; configured are those of the resolved configuration as well, which variables
	// add.
	declared   map[target]bool
	configured map[target]bool
	spots      []*spot
	bySpot     map[spotKey]*spot
	// variables are the texts with `${` inside of components; doubtful are the first ones for the names of a section.
	variables []variable
	doubtful  map[string]variable
	// looking is how much text has been looked through for the places of names.
	looking int
	// kept are the targets that keep their name, with the reason.
	kept map[target]string
}

type spotKey struct {
	node   *yaml.Node
	offset int
}

// variable is a text with `${`.
type variable struct {
	text string
	line int
	path []string
}

func newPlan(
	env *operation.Environment, kinds kinds, text string, document *source.Document, plain map[string]any,
) *plan {
	return &plan{
		env: env, kinds: kinds, deprecated: kinds.deprecated(), text: text, document: document, plain: plain,
		configured: configuredIn(plain),
		decoder:    &decoder{kinds: kinds, plain: plain, decoded: map[string]*decoded{}, left: maxDecoded},
		declared:   map[target]bool{}, doubtful: map[string]variable{}, bySpot: map[spotKey]*spot{}, kept: map[target]string{},
	}
}

// unrenamed are the deprecated components of the text that keep their name, and the references to those that the text
// itself does not configure, in its order.
func (p *plan) unrenamed() []NotRenamed {
	type place struct {
		path   string
		target target
	}
	var all []NotRenamed
	seen := map[place]bool{}
	for _, one := range p.spots {
		for _, use := range one.uses {
			if one.renamed() || use.to == "" || use.role == reference && p.declared[use.target] {
				continue
			}
			told := NotRenamed{
				From: one.from, To: use.to, ComponentPath: use.shown(), Line: one.line, Column: one.column, Reason: one.stays,
			}
			if at := (place{told.ComponentPath, use.target}); !seen[at] {
				seen[at] = true
				all = append(all, told)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b NotRenamed) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return all
}
