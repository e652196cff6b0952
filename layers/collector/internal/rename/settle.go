package rename

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"go.opentelemetry.io/collector/component"
	"go.yaml.in/yaml/v3"
)

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
