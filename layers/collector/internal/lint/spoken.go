package lint

import (
	"iter"
	"strconv"
	"strings"
)

// Expression is OTTL in a configuration whose `${...}` are replaced, as the component gets it.
type Expression struct {
	// Section and ID are those of the component that it belongs to.
	Section, ID string
	// Path leads to it from the configuration's root.
	Path []string
	Kind Kind
	Text string
}

// Expressions are those that the components of a resolved configuration will give to the parser, in no order.
func Expressions(conf map[string]any) iter.Seq[Expression] {
	return func(yield func(Expression) bool) {
		for _, s := range speakers {
			section, _ := conf[s.section].(map[string]any)
			for id, body := range section {
				kind, _, _ := strings.Cut(id, "/")
				if strings.TrimSpace(kind) != s.kind {
					continue
				}
				for _, field := range s.fields {
					e := Expression{Section: s.section, ID: id, Path: []string{s.section, id}, Kind: field.kind}
					if !spokenAt(body, field, 0, e, yield) {
						return
					}
				}
			}
		}
	}
}

// spokenAt follows a field's pattern through plain values. A component takes a single text for a list of one.
func spokenAt(value any, f field, depth int, e Expression, yield func(Expression) bool) bool {
	if text, isText := value.(string); isText && (depth == len(f.pattern) || f.pattern[depth] == "[]") {
		e.Text = f.prefix + text
		return yield(e)
	}
	if depth == len(f.pattern) {
		return true
	}
	switch content := value.(type) {
	case map[string]any:
		for key, entry := range content {
			if key != f.pattern[depth] && f.pattern[depth] != "*" {
				continue
			}
			within := e
			within.Path = append(within.Path[:len(within.Path):len(within.Path)], key)
			if !spokenAt(entry, f, depth+1, within, yield) {
				return false
			}
		}
	case []any:
		if f.pattern[depth] != "[]" {
			return true
		}
		for i, entry := range content {
			within := e
			within.Path = append(within.Path[:len(within.Path):len(within.Path)], strconv.Itoa(i))
			if !spokenAt(entry, f, depth+1, within, yield) {
				return false
			}
		}
	}
	return true
}
