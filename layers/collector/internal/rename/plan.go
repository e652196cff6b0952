package rename

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/headgate/headgate/layers/collector/internal/alias"
	"github.com/headgate/headgate/layers/collector/internal/operation"
	"github.com/headgate/headgate/layers/collector/internal/source"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/otelcol"
	"go.yaml.in/yaml/v3"
)

// kinds are the factories of each section.
type kinds map[string]map[component.Type]component.Factory

func kindsOf(factories otelcol.Factories) kinds {
	return kinds{
		"receivers": plainFactories(factories.Receivers), "processors": plainFactories(factories.Processors),
		"exporters": plainFactories(factories.Exporters), "connectors": plainFactories(factories.Connectors),
		"extensions": plainFactories(factories.Extensions),
	}
}

func plainFactories[F component.Factory](factories map[component.Type]F) map[component.Type]component.Factory {
	plain := make(map[component.Type]component.Factory, len(factories))
	for kind, factory := range factories {
		plain[kind] = factory
	}
	return plain
}

// renamed returns the new name of a section's type, empty if the type is not deprecated there.
func (k kinds) renamed(section string, kind component.Type) string {
	if factory, known := k[section][kind]; known {
		if to, is := alias.RenamedTo(factory, kind); is {
			return to.String()
		}
	}
	return ""
}

// deprecated are all types that are deprecated in some section.
func (k kinds) deprecated() map[string]bool {
	names := map[string]bool{}
	for _, factories := range k {
		for kind, factory := range factories {
			if _, is := alias.RenamedTo(factory, kind); is {
				names[kind.String()] = true
			}
		}
	}
	return names
}

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

// settle decides which names stay.
func (p *plan) settle() {
	p.collisions()
	p.doubts()
	p.longKeys()
	for changed := true; changed; {
		changed = false
		for _, one := range p.spots {
			reason := p.reasonToStay(one)
			if reason == "" {
				continue
			}
			one.stays = reason
			for _, use := range one.uses {
				if use.to == "" || use.role == nested {
					continue
				}
				if _, known := p.kept[use.target]; !known {
					p.kept[use.target] = reason
					changed = true
				}
			}
		}
	}
	for _, one := range p.spots {
		if one.renamed() {
			one.to = one.uses[0].to
		}
	}
}

// reasonToStay is why a spot is not replaced, empty if it is.
func (p *plan) reasonToStay(one *spot) string {
	for _, use := range one.uses {
		switch {
		case use.to == "" || use.to != one.uses[0].to:
			return fmt.Sprintf("line %d: the name stands for something else as well, by an anchor", one.line)
		case use.role != nested && p.kept[use.target] != "":
			return p.kept[use.target]
		}
	}
	if !one.literal {
		return fmt.Sprintf("line %d: the name is not written letter by letter", one.line)
	}
	return one.stays
}

// collisions keeps the names whose new name is taken.
func (p *plan) collisions() {
	for from := range p.declared {
		to := p.kinds.renamed(from.section, from.id.Type())
		if to == "" {
			continue
		}
		id := component.MustNewIDWithName(to, from.id.Name())
		if from.id.Name() == "" {
			id = component.MustNewID(to)
		}
		for _, section := range besides[from.section] {
			if p.configured[target{section, id}] {
				p.keep(from, fmt.Sprintf("%s is taken: there is %s%s%s as well", id, section, separator, id))
			}
			// The new name would end what makes the text ambiguous, and decide what its references mean.
			if same := (target{section, from.id}); same != from && p.configured[same] {
				p.keep(from, fmt.Sprintf("references to it are ambiguous: there is %s%s%s as well", section, separator, from.id))
			}
		}
	}
}

// besides are the sections in which an id of a section must not be taken.
var besides = map[string][]string{
	"receivers": {"receivers", "connectors"}, "exporters": {"exporters", "connectors"},
	"connectors": {"connectors", "receivers", "exporters"}, "processors": {"processors"}, "extensions": {"extensions"},
}

// maxKey is how many characters YAML allows from the start of a key to its colon, unless `?` marks the key.
const maxKey = 1024

// longKeys keeps the names in keys that would be longer than YAML allows.
func (p *plan) longKeys() {
	longer := map[*yaml.Node]int{}
	for _, one := range p.spots {
		if to := one.uses[0].to; to != "" {
			longer[one.node] += len(to) - len(one.from)
		}
	}
	for _, one := range p.spots {
		isKey := slices.ContainsFunc(one.uses, func(use *use) bool { return use.key })
		if isKey && one.literal && p.keyLength(one)+longer[one.node] > maxKey {
			one.stays = fmt.Sprintf("line %d: the key would have more than the 1,024 characters that YAML allows", one.line)
		}
	}
}

// keyLength is the number of characters from the start of a spot's key to its colon, 0 if no colon follows on the line.
func (p *plan) keyLength(one *spot) int {
	line, column := p.document.ScalarOf(one.node).Position(len(one.node.Value))
	if line != one.node.Line || line != one.line {
		return 0
	}
	behind := p.text[one.start:]
	for range column - one.column {
		_, size := utf8.DecodeRuneInString(behind)
		behind = behind[size:]
	}
	colon := strings.TrimLeft(behind, "\"' \t")
	if !strings.HasPrefix(colon, ":") {
		return 0
	}
	return column - one.node.Column + len(behind) - len(colon)
}

// doubt remembers the first variable that may name a component of a section.
func (p *plan) doubt(one variable, sections []string) {
	for _, section := range sections {
		if _, known := p.doubtful[section]; !known {
			p.doubtful[section] = one
		}
	}
}

// doubts keeps the names that a variable may refer to.
func (p *plan) doubts() {
	for from := range p.declared {
		if one, doubtful := p.doubtful[from.section]; doubtful && p.kinds.renamed(from.section, from.id.Type()) != "" {
			p.keep(from, fmt.Sprintf("line %d: %s may refer to it", one.line, shortened(one.text)))
		}
	}
}

func shortened(text string) string {
	const longest = 100
	if len(text) > longest {
		return strings.ToValidUTF8(text[:longest], "") + "..."
	}
	return text
}

// keep keeps a name. The first reason stays.
func (p *plan) keep(one target, reason string) {
	if _, known := p.kept[one]; !known {
		p.kept[one] = reason
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

// confirm returns an error unless the renamed text is the same document but for the names, and means the same
// configuration but for the ids.
func (p *plan) confirm(document *source.Document, plain map[string]any) error {
	values := p.newValues()
	if err := sameDocument(p.document.Root(), document.Root(), values); err != nil {
		return err
	}
	if path := difference(p.expected(values), plain); path != "" {
		return fmt.Errorf("%s would be another value", path)
	}
	if err := p.sameComponents(plain); err != nil {
		return err
	}
	return p.sameReferences(plain)
}

// newValues are the values of the nodes with a replacement.
func (p *plan) newValues() map[*yaml.Node]string {
	values := map[*yaml.Node]string{}
	spots := slices.Clone(p.spots)
	// The last one of a node first, for the offsets are those of the old value.
	slices.SortFunc(spots, func(a, b *spot) int { return cmp.Compare(b.offset, a.offset) })
	for _, one := range spots {
		if !one.renamed() {
			continue
		}
		value, known := values[one.node]
		if !known {
			value = one.node.Value
		}
		values[one.node] = value[:one.offset] + one.to + value[one.offset+len(one.from):]
	}
	return values
}

// expected is the resolved configuration with the names replaced.
func (p *plan) expected(values map[*yaml.Node]string) map[string]any {
	tree := copied(p.plain).(map[string]any)
	var keys []*use
	for _, one := range p.spots {
		if !one.renamed() {
			continue
		}
		for _, use := range one.uses {
			if use.key {
				keys = append(keys, use)
			} else if valueAt(tree, use.path) == any(one.node.Value) {
				set(tree, use.path, values[one.node])
			}
		}
	}
	// The inner keys first, for the paths have the old names.
	slices.SortStableFunc(keys, func(a, b *use) int { return cmp.Compare(len(b.path), len(a.path)) })
	for _, use := range keys {
		name := use.path[len(use.path)-1]
		setKey(tree, use.path, renamedText(name, use.to))
	}
	return tree
}

// renamedText is an id's text with another type. Blanks stay.
func renamedText(text, to string) string {
	kind, rest, named := strings.Cut(text, "/")
	trimmed := strings.TrimSpace(kind)
	renamed := strings.Replace(kind, trimmed, to, 1)
	if named {
		return renamed + "/" + rest
	}
	return renamed
}

// componentsInside are the components that have a replaced name inside, by section and name.
func (p *plan) componentsInside() map[string][]*spot {
	inside := map[string][]*spot{}
	for _, one := range p.spots {
		if !one.renamed() {
			continue
		}
		for _, use := range one.uses {
			if use.path[0] != "service" && len(use.path) > 2 {
				path := use.path[0] + separator + use.path[1]
				inside[path] = append(inside[path], one)
			}
		}
	}
	return inside
}

// newName is a component's name after the renaming.
func (p *plan) newName(section, name string, id component.ID) string {
	at := target{section, id}
	if to := p.kinds.renamed(section, id.Type()); to != "" && p.declared[at] && p.kept[at] == "" {
		return renamedText(name, to)
	}
	return name
}

func (p *plan) sameComponents(plain map[string]any) error {
	inside := p.componentsInside()
	for _, path := range slices.Sorted(maps.Keys(inside)) {
		section, name, _ := strings.Cut(path, separator)
		pairs := map[string]string{}
		for _, one := range inside[path] {
			for _, use := range one.uses {
				pairs[strings.TrimSpace(use.text)] = renamedText(strings.TrimSpace(use.text), one.to)
			}
		}
		var id component.ID
		if err := id.UnmarshalText([]byte(name)); err != nil {
			return err
		}
		renamed := p.newName(section, name, id)
		before, err := decodeBody(p.kinds[section][id.Type()], contentOf(p.plain, section, name))
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		after, err := decodeBody(p.kinds[section][id.Type()], contentOf(plain, section, renamed))
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if compared := compare(before, after, pairs); compared.others {
			return fmt.Errorf("%s would be configured differently", path)
		}
	}
	return nil
}
