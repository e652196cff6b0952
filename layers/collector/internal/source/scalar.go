package source

import (
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// Scalar tells where in a text the characters of a YAML scalar's value stand.
//
// The YAML library gives the place at which a scalar starts. What follows differs from the value by quotes, escapes,
// folding and indentation, so the scalar is read once more, noting for every byte of the value where it came from.
type Scalar struct {
	lines lines
	// origins holds, for every byte of the value, the offset in the text of what stands for it, and one more for the
	// end. It is nil when the text could not be read back to the value.
	origins []int
	start   int
}

// Text is a YAML text in which scalars are looked up.
type Text struct {
	lines lines
}

// NewText looks up scalars of the nodes that were parsed from text.
func NewText(text string) *Text { return &Text{newLines(text)} }

// Scalar reads back the scalar that node is.
func (t *Text) Scalar(node *yaml.Node) *Scalar {
	text := t.lines.text
	at := skipProperties(text, t.lines.offset(node.Line, node.Column))
	scalar := &Scalar{lines: t.lines, start: at}
	for _, reading := range readings(text, at, node) {
		if reading.value() == node.Value {
			scalar.origins = append(reading.origins, reading.end)
			break
		}
	}
	return scalar
}

// Position is the line and column, from 1, of what stands for the byte of the value at this offset. The offset of the
// value's end gives the place behind its last character. Without a reading it is the place where the scalar starts.
func (s *Scalar) Position(offset int) (line, column int) {
	if offset < 0 || offset >= len(s.origins) {
		if len(s.origins) == 0 || offset < 0 {
			return s.lines.position(s.start)
		}
		offset = len(s.origins) - 1
	}
	return s.lines.position(s.origins[offset])
}

// Span returns where in the text the bytes of the value from start up to end stand, if they stand there as they are:
// without escapes or line breaks between them.
func (s *Scalar) Span(start, end int) (from, to int, literal bool) {
	if start < 0 || start >= end || end >= len(s.origins) {
		return 0, 0, false
	}
	for i := start; i < end; i++ {
		if s.origins[i] != s.origins[start]+i-start {
			return 0, 0, false
		}
	}
	return s.origins[start], s.origins[start] + end - start, true
}

// reading is what a scalar's text came to: a value and where each byte of it is from.
type reading struct {
	content strings.Builder
	origins []int
	end     int
}

func (r *reading) value() string { return r.content.String() }

// put adds text that stands for what is at this offset.
func (r *reading) put(text string, origin int) {
	for range len(text) {
		r.origins = append(r.origins, origin)
	}
	r.content.WriteString(text)
}

// copy adds the bytes of the text from start up to end as they are.
func (r *reading) copy(text string, start, end int) {
	for at := start; at < end; at++ {
		r.origins = append(r.origins, at)
	}
	r.content.WriteString(text[start:end])
}

// readings are the ways to read the scalar at this offset; more than one where the text alone does not tell.
func readings(text string, at int, node *yaml.Node) []*reading {
	switch {
	case at >= len(text):
		return nil
	case node.Style&yaml.DoubleQuotedStyle != 0 && text[at] == '"':
		return []*reading{readQuoted(text, at, '"')}
	case node.Style&yaml.SingleQuotedStyle != 0 && text[at] == '\'':
		return []*reading{readQuoted(text, at, '\'')}
	case node.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		return readBlock(text, at)
	default:
		return []*reading{readPlain(text, at, len(node.Value))}
	}
}

// skipProperties is the offset behind the anchor and the tag before a scalar, the offset itself if it has none.
func skipProperties(text string, at int) int {
	for at < len(text) && (text[at] == '&' || text[at] == '!') {
		for at < len(text) && !isBlank(text[at]) && breakWidth(text, at) == 0 {
			at++
		}
		for at < len(text) {
			if width := breakWidth(text, at); width > 0 {
				at += width
			} else if isBlank(text[at]) {
				at++
			} else if text[at] == '#' {
				for at < len(text) && breakWidth(text, at) == 0 {
					at++
				}
			} else {
				break
			}
		}
	}
	return at
}

// readQuoted reads a scalar in double or single quotes.
func readQuoted(text string, at int, quote byte) *reading {
	r := &reading{}
	at++
	for at < len(text) {
		switch {
		case text[at] == '\'' && quote == '\'' && strings.HasPrefix(text[at:], "''"):
			r.put("'", at)
			at += 2
		case text[at] == quote:
			r.end = at
			return r
		case text[at] == '\\' && quote == '"':
			at = r.escape(text, at)
		case isBlank(text[at]) || breakWidth(text, at) > 0:
			at = r.fold(text, at, false)
		default:
			r.copy(text, at, at+1)
			at++
		}
	}
	r.end = at
	return r
}

// readPlain reads an unquoted scalar whose value is length bytes long.
func readPlain(text string, at, length int) *reading {
	r := &reading{end: at}
	for at < len(text) && r.content.Len() < length {
		if isBlank(text[at]) || breakWidth(text, at) > 0 {
			at = r.fold(text, at, false)
		} else {
			r.copy(text, at, at+1)
			at++
		}
		r.end = at
	}
	return r
}

// fold reads white space within a quoted or plain scalar: blanks on one line stay, a line break becomes a space and
// further ones stay. After an escaped line break the first one is gone already.
func (r *reading) fold(text string, at int, escaped bool) int {
	start, breaks := at, []int{}
	for at < len(text) {
		if width := breakWidth(text, at); width > 0 {
			breaks = append(breaks, at)
			at += width
		} else if isBlank(text[at]) {
			at++
		} else {
			break
		}
	}
	switch {
	case escaped:
		for _, origin := range breaks {
			r.put("\n", origin)
		}
	case len(breaks) == 0:
		r.copy(text, start, at)
	case len(breaks) == 1:
		r.put(" ", breaks[0])
	default:
		for _, origin := range breaks[1:] {
			r.put("\n", origin)
		}
	}
	return at
}

var simpleEscapes = map[byte]string{
	'0': "\x00", 'a': "\a", 'b': "\b", 't': "\t", '\t': "\t", 'n': "\n", 'v': "\v", 'f': "\f", 'r': "\r", 'e': "\x1b",
	' ': " ", '"': `"`, '/': "/", '\\': `\`, 'N': "\u0085", '_': "\u00a0", 'L': "\u2028", 'P': "\u2029",
}

var codeEscapes = map[byte]int{'x': 2, 'u': 4, 'U': 8}

// escape reads what a backslash starts within double quotes.
func (r *reading) escape(text string, at int) int {
	if at+1 >= len(text) {
		return len(text)
	}
	if width := breakWidth(text, at+1); width > 0 {
		return r.fold(text, at+1+width, true)
	}
	if simple, known := simpleEscapes[text[at+1]]; known {
		r.put(simple, at)
		return at + 2
	}
	digits := codeEscapes[text[at+1]]
	code := rune(0)
	for i := at + 2; i < at+2+digits && i < len(text); i++ {
		code = code<<4 | rune(hexDigit(text[i]))
	}
	r.put(string(code), at)
	return at + 2 + digits
}

func hexDigit(c byte) int {
	return max(strings.IndexByte("0123456789abcdef", c|0x20), 0)
}

// lines knows the offset at which each line of a text starts.
type lines struct {
	text   string
	starts []int
}

func newLines(text string) lines {
	starts := []int{0}
	for at := 0; at < len(text); {
		if width := breakWidth(text, at); width > 0 {
			at += width
			starts = append(starts, at)
		} else {
			at++
		}
	}
	return lines{text, starts}
}

// offset is that of the character at a line and column, counted from 1.
func (l lines) offset(line, column int) int {
	if line < 1 || line > len(l.starts) {
		return len(l.text)
	}
	at := l.starts[line-1]
	if at == 0 {
		at += len(byteOrderMark(l.text))
	}
	for ; column > 1 && at < len(l.text); column-- {
		_, width := utf8.DecodeRuneInString(l.text[at:])
		at += width
	}
	return at
}

// position is the line and column, from 1, of the character at an offset.
func (l lines) position(offset int) (line, column int) {
	low, high := 0, len(l.starts)
	for low+1 < high {
		if middle := (low + high) / 2; l.starts[middle] <= offset {
			low = middle
		} else {
			high = middle
		}
	}
	before := l.text[l.starts[low]:min(offset, len(l.text))]
	if low == 0 {
		before = strings.TrimPrefix(before, byteOrderMark(l.text))
	}
	return low + 1, utf8.RuneCountInString(before) + 1
}

func byteOrderMark(text string) string {
	const mark = "\ufeff"
	if strings.HasPrefix(text, mark) {
		return mark
	}
	return ""
}

// breakWidth is the width of the line break at an offset, as the YAML library knows them; 0 if there is none.
func breakWidth(text string, at int) int {
	switch text[at] {
	case '\n':
		return 1
	case '\r':
		if strings.HasPrefix(text[at:], "\r\n") {
			return 2
		}
		return 1
	case '\xc2', '\xe2':
		for _, lineBreak := range [...]string{"\u0085", "\u2028", "\u2029"} {
			if strings.HasPrefix(text[at:], lineBreak) {
				return len(lineBreak)
			}
		}
	}
	return 0
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }
