package rename

import (
	"fmt"
	"slices"
	"strings"

	"github.com/headgate/headgate/layers/collector/internal/operation"
	"github.com/headgate/headgate/layers/collector/internal/source"
	"go.opentelemetry.io/collector/component"
)

// find looks for every name of a deprecated type.
func (p *plan) find() error {
	var candidates []*candidate
	complete := p.document.Expanded(maxVisits, func(visit source.Visit) bool {
		text := visit.Node.Value
		if visit.Key {
			text = visit.Path[len(visit.Path)-1]
		}
		where := placeOf(visit)
		if where.declares {
			var id component.ID
			if id.UnmarshalText([]byte(text)) == nil {
				p.declared[target{visit.Path[0], id}] = true
				p.configured[target{visit.Path[0], id}] = true
			}
		}
		if !visit.Key && strings.Contains(text, "${") && (len(where.sections) > 0 || where.inside) {
			one := variable{text: text, line: visit.Node.Line, path: slices.Clone(visit.Path)}
			if where.inside {
				p.variables = append(p.variables, one)
			}
			p.doubt(one, where.sections)
			return true
		}
		if found := p.candidate(visit, where, text); found != nil {
			candidates = append(candidates, found)
		}
		return p.looking <= maxLooking
	})
	switch {
	case !complete:
		return tooCostly("its aliases and merge keys expand to too many values")
	case p.looking > maxLooking:
		return tooCostly("too many texts in its longest lines may be names")
	}
	for _, one := range candidates {
		p.resolve(one)
	}
	if err := p.insideComponents(candidates); err != nil {
		return err
	}
	return p.insideVariables()
}

func tooCostly(why string) error {
	return &operation.Error{Code: "too_costly", Message: why + "; nothing was renamed"}
}

// place is what a path means.
type place struct {
	declares bool
	// sections are those that a name here refers to, the one that wins first.
	sections []string
	// forVariables is set where no name can stand, but a variable for what holds names.
	forVariables bool
	// inside is set inside of a component.
	inside bool
}

// listed are the sections that the lists of a pipeline refer to.
var listed = map[string][]string{
	"receivers": {"receivers", "connectors"}, "processors": {"processors"}, "exporters": {"exporters", "connectors"},
}

var inService = []string{"extensions", "receivers", "processors", "exporters", "connectors"}

func placeOf(visit source.Visit) place {
	path := visit.Path
	switch {
	case len(path) == 0:
		return place{}
	case slices.Contains(source.Sections, path[0]) && len(path) > 2:
		return place{inside: true}
	case slices.Contains(source.Sections, path[0]) && visit.Key:
		return place{declares: len(path) == 2}
	case slices.Contains(source.Sections, path[0]) && len(path) == 1:
		// A variable for a section hides what a merge key writes there.
		return place{sections: []string{path[0], "extensions"}, forVariables: true}
	case slices.Contains(source.Sections, path[0]):
		return place{sections: []string{"extensions"}, forVariables: true}
	case path[0] != "service" || visit.Key:
		return place{}
	case len(path) == 1, path[1] == "pipelines" && len(path) <= 3:
		return place{sections: inService, forVariables: true}
	case path[1] == "extensions" && len(path) <= 3:
		return place{sections: []string{"extensions"}, forVariables: len(path) == 2}
	case path[1] == "pipelines" && len(path) <= 5:
		return place{sections: listed[path[3]], forVariables: len(path) == 4}
	}
	return place{}
}

// candidate is a text that may be the name of a component with a deprecated type.
type candidate struct {
	spot  *spot
	use   *use
	where place
	id    component.ID
}

// candidate returns a candidate if the text of a visit reads like one.
func (p *plan) candidate(visit source.Visit, where place, text string) *candidate {
	kind, _, _ := strings.Cut(text, "/")
	blank := len(kind) - len(strings.TrimLeft(kind, " \t\n"))
	kind = strings.TrimSpace(kind)
	if !p.deprecated[kind] {
		return nil
	}
	var id component.ID
	if id.UnmarshalText([]byte(text)) != nil {
		return nil
	}
	key := spotKey{visit.Node, visit.Offset + blank}
	one, known := p.bySpot[key]
	if !known {
		one = &spot{node: visit.Node, offset: key.offset, from: kind}
		p.looking += visit.Node.Column + len(visit.Node.Value)
		scalar := p.document.ScalarOf(visit.Node)
		one.start, one.end, one.literal = scalar.Span(key.offset, key.offset+len(kind))
		one.line, one.column = scalar.Position(key.offset)
		p.bySpot[key] = one
		p.spots = append(p.spots, one)
	}
	found := &use{text: text, path: slices.Clone(visit.Path), key: visit.Key}
	one.uses = append(one.uses, found)
	return &candidate{spot: one, use: found, where: where, id: id}
}

// resolve finds what a candidate outside of components stands for.
func (p *plan) resolve(c *candidate) {
	sections := c.where.sections
	switch {
	case c.where.declares:
		sections = c.use.path[:1]
		c.use.role = declaration
	case len(sections) > 0 && !c.where.forVariables:
		c.use.role = reference
	default:
		return
	}
	section := sections[0]
	isDeclared := func(section string) bool { return p.declared[target{section, c.id}] }
	isConfigured := func(section string) bool { return p.configured[target{section, c.id}] }
	if i := slices.IndexFunc(sections, isDeclared); i >= 0 {
		section = sections[i]
	} else if i := slices.IndexFunc(sections, isConfigured); i >= 0 {
		section = sections[i]
	} else if i := slices.IndexFunc(sections, func(section string) bool { return p.kinds.renamed(section, c.id.Type()) != "" }); i >= 0 {
		section = sections[i]
	}
	c.use.target = target{section, c.id}
	c.use.to = p.kinds.renamed(section, c.id.Type())
	p.undeclared(c)
}

// undeclared keeps a reference to what the text itself does not configure: a variable may, under the old name.
func (p *plan) undeclared(c *candidate) {
	if c.use.role == reference && c.use.to != "" && !p.declared[c.use.target] {
		p.keep(c.use.target, fmt.Sprintf(
			"the text itself does not configure %s%s%s", c.use.target.section, separator, c.id))
	}
}
