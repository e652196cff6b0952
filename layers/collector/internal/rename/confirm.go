package rename

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/headgate/headgate/layers/collector/internal/source"
	"go.opentelemetry.io/collector/component"
	"go.yaml.in/yaml/v3"
)

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
