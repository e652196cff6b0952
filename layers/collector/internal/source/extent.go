package source

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// Edit replaces the bytes of a text from From up to To.
type Edit struct {
	From, To int
	With     string
}

// Apply returns the document's text with an edit.
func (d *Document) Apply(edit Edit) string {
	return d.written[:edit.From] + edit.With + d.written[edit.To:]
}

// Extent returns where in the text a node stands, without comments around it. It is not ok where that cannot be told.
func (d *Document) Extent(node *yaml.Node) (from, to int, ok bool) {
	text := d.written
	from = d.text.lines.offset(node.Line, node.Column)
	switch node.Kind {
	case yaml.AliasNode:
		to = from + len("*") + len(node.Value)
		return from, to, to <= len(text) && text[from:to] == "*"+node.Value
	case yaml.ScalarNode:
		return d.scalarExtent(node, from)
	case yaml.SequenceNode, yaml.MappingNode:
		if node.Style&yaml.FlowStyle != 0 {
			return d.flowExtent(node, from)
		}
		if len(node.Content) == 0 {
			return 0, 0, false
		}
		_, to, ok = d.Extent(node.Content[len(node.Content)-1])
		return from, to, ok
	}
	return 0, 0, false
}

func (d *Document) scalarExtent(node *yaml.Node, from int) (int, int, bool) {
	scalar := d.text.Scalar(node)
	if len(scalar.origins) == 0 {
		return from, from, node.Value == "" && node.Style == 0 // nothing is written
	}
	to := scalar.origins[len(scalar.origins)-1]
	if node.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 {
		to++ // the closing quote
	}
	return from, to, to <= len(d.written)
}

// flowExtent looks for the closing bracket behind the last entry of `[…]` or `{…}`.
func (d *Document) flowExtent(node *yaml.Node, from int) (int, int, bool) {
	text, at := d.written, skipProperties(d.written, from)
	closing := byte(']')
	if node.Kind == yaml.MappingNode {
		closing = '}'
	}
	if len(node.Content) > 0 {
		_, to, ok := d.Extent(node.Content[len(node.Content)-1])
		if !ok {
			return 0, 0, false
		}
		at = to
	} else {
		at++
	}
	for at < len(text) {
		switch width := breakWidth(text, at); {
		case width > 0:
			at += width
		case isBlank(text[at]) || text[at] == ',' || text[at] == ':':
			at++
		case text[at] == '#':
			for at < len(text) && breakWidth(text, at) == 0 {
				at++
			}
		default:
			return from, at + 1, text[at] == closing
		}
	}
	return 0, 0, false
}

// Region returns where in the text the bytes of the value from start up to end stand, with what is written between them:
// escapes and the line breaks of a folded text. It is not ok without a reading.
func (s *Scalar) Region(start, end int) (from, to int, ok bool) {
	if start < 0 || start > end || end >= len(s.origins) {
		return 0, 0, false
	}
	return s.origins[start], s.origins[end], true
}

// Without returns the edit that leaves out an entry of a list: the lines on which only it stands, or, in `[…]`, the entry
// and its comma. The only entry gives way to an empty list. It is not ok where the place cannot be told.
func (d *Document) Without(list *yaml.Node, index int) (edit Edit, ok bool) {
	from, to, ok := d.Extent(list.Content[index])
	if !ok {
		return Edit{}, false
	}
	if list.Style&yaml.FlowStyle != 0 {
		return d.withoutBetween(list.Content, index, 1, from, to)
	}
	dash, ok := d.dash(from)
	if !ok {
		return Edit{}, false
	}
	switch {
	case len(list.Content) == 1:
		return Edit{dash, to, "  []"}, true
	case d.alone(dash):
		return d.lines(dash, to)
	case index+1 < len(list.Content):
		next, _, ok := d.Extent(list.Content[index+1])
		if !ok {
			return Edit{}, false
		}
		next, ok = d.dash(next)
		return Edit{From: dash, To: next}, ok
	}
	return Edit{}, false
}

// WithoutPair is Without for the entry of a mapping whose key is at that place of its content.
func (d *Document) WithoutPair(mapping *yaml.Node, index int) (edit Edit, ok bool) {
	from, _, ok := d.Extent(mapping.Content[index])
	if !ok {
		return Edit{}, false
	}
	_, to, ok := d.Extent(mapping.Content[index+1])
	switch {
	case !ok:
		return Edit{}, false
	case mapping.Style&yaml.FlowStyle != 0:
		return d.withoutBetween(mapping.Content, index, 2, from, to)
	case len(mapping.Content) == 2:
		return Edit{from, to, "{}"}, true
	case d.alone(from):
		return d.lines(from, to)
	case index+2 < len(mapping.Content):
		next, _, ok := d.Extent(mapping.Content[index+2])
		return Edit{From: from, To: next}, ok
	}
	return Edit{}, false
}

// withoutBetween leaves out an entry in brackets. Each takes width nodes.
func (d *Document) withoutBetween(content []*yaml.Node, index, width, from, to int) (Edit, bool) {
	if next := index + width; next < len(content) {
		start, _, ok := d.Extent(content[next])
		return Edit{From: from, To: start}, ok
	}
	if index > 0 {
		_, end, ok := d.Extent(content[index-1])
		return Edit{From: end, To: to}, ok
	}
	return Edit{From: from, To: to}, true
}

// dash returns the place of the `-` before an entry of a list. Comments may stand between them.
func (d *Document) dash(entry int) (int, bool) {
	text := d.written
	end := entry
	for {
		start := d.lineStart(end)
		before := text[start:end]
		if comment := strings.IndexByte(before, '#'); comment >= 0 && (comment == 0 || isBlank(before[comment-1])) && end != entry {
			before = before[:comment]
		}
		before = strings.TrimRight(before, " \t\r\n\u0085\u2028\u2029")
		if strings.HasSuffix(before, "-") {
			return start + len(before) - 1, true
		}
		if before != "" || start == 0 {
			return 0, false
		}
		end = start
		// The line's break belongs to the line before.
		for end > 0 && (text[end-1] == '\n' || text[end-1] == '\r') {
			end--
		}
	}
}

// lineStart returns where the line of an offset begins.
func (d *Document) lineStart(offset int) int {
	line, _ := d.text.lines.position(offset)
	return d.text.lines.starts[line-1]
}

// alone tells whether only blanks stand before an offset on its line.
func (d *Document) alone(offset int) bool {
	return strings.TrimLeft(d.written[d.lineStart(offset):offset], " ") == ""
}

// lines leaves out the lines from one offset to another. It is not ok if more than a comment follows on the last.
func (d *Document) lines(from, to int) (Edit, bool) {
	start, end := d.lineStart(from), to
	for end < len(d.written) && breakWidth(d.written, end) == 0 {
		end++
	}
	rest := strings.TrimLeft(d.written[to:end], " \t")
	if rest != "" && (rest[0] != '#' || !isBlank(d.written[to])) {
		return Edit{}, false
	}
	if end < len(d.written) {
		end += breakWidth(d.written, end)
	}
	return Edit{From: start, To: end}, true
}

// PositionAt returns the line and column of an offset of the text.
func (d *Document) PositionAt(offset int) Position {
	line, column := d.text.lines.position(offset)
	return Position{Line: line, Column: column}
}

// At returns the position of the byte at an offset of a scalar's value.
func (d *Document) At(node *yaml.Node, offset int) Position {
	line, column := d.text.Scalar(node).Position(offset)
	return Position{Line: line, Column: column}
}

// Alone returns what stands between two offsets at the lines and columns that it has in the whole text.
func (d *Document) Alone(from, to int) string {
	line, column := d.text.lines.position(from)
	return strings.Repeat("\n", line-1) + strings.Repeat(" ", column-1) + d.written[from:to]
}

// Content returns where the content of a block scalar begins that starts at an offset: its first line that is not empty.
func (d *Document) Content(node *yaml.Node, start int) int {
	if scalar := d.text.Scalar(node); len(scalar.origins) > 0 {
		return scalar.origins[0]
	}
	return start
}
