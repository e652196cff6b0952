package lint

import (
	"iter"
	"strconv"
	"strings"
)

// Expression is OTTL in a configuration after `${...}` is replaced, as the component reads it.
type Expression struct {
	// Section and ID name the component that it belongs to.
	Section, ID string
	// Path is its path from the configuration's root.
	Path []string
	Kind Kind
	Text string
}

// Expressions yields the expressions that the components of a resolved configuration pass to the parser, in no order.
func Expressions(conf map[string]any) iter.Seq[Expression] {
	return func(yield func(Expression) bool) {
		for _, c := range ottlComponents {
			section, _ := conf[c.section].(map[string]any)
			for id, body := range section {
				kind, _, _ := strings.Cut(id, "/")
				if strings.TrimSpace(kind) != c.kind {
					continue
				}
				for _, field := range c.fields {
					e := Expression{Section: c.section, ID: id, Path: []string{c.section, id}, Kind: field.kind}
					if !expressionsAt(body, field, 0, e, yield) {
						return
					}
				}
			}
		}
	}
}

// expressionsAt follows a field's pattern through plain values. A component reads a single string as a list of one.
func expressionsAt(value any, f ottlField, depth int, e Expression, yield func(Expression) bool) bool {
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
			if !expressionsAt(entry, f, depth+1, within, yield) {
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
			if !expressionsAt(entry, f, depth+1, within, yield) {
				return false
			}
		}
	}
	return true
}
