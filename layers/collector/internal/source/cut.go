package source

import (
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Fix is a change of a text that mends a finding. Lines and columns count from 1; the end is behind the last character.
type Fix struct {
	Line      int    `json:"line"`
	Column    int    `json:"column"`
	EndLine   int    `json:"end_line"`
	EndColumn int    `json:"end_column"`
	Text      string `json:"text"`
}

// Cut is a text without quotes that YAML ends before its line does.
type Cut struct {
	// By are the characters that end it, `: ` or ` #`, or the one at its beginning that has a meaning.
	By string
	// Start is where the text begins, At where YAML ends it.
	Start, At Position
	// Fix puts it into quotes.
	Fix Fix
	// Whole is what the text is with quotes.
	Whole string
}

// unquoted matches a line with a text without quotes: an entry of a list, or the value of a key.
var unquoted = regexp.MustCompile(`^[ \t]*(?:- +)*(?:[\w./-]+: +)?([^\s'"|>&*!\[{#%@` + "`" + `-].*?)[ \t\r]*$`)

// keyOfIndicator matches a key whose value is not a text without quotes.
var keyOfIndicator = regexp.MustCompile(`^[\w./-]+: +["'|>&*!\[{#%@` + "`" + `]`)

// indicated matches a line with a text that begins with a character of a meaning: an entry of a list, or the value of a key.
var indicated = regexp.MustCompile(`^[ \t]*(?:- +)*(?:[\w./-]+: +)?(["'*&!%@` + "`" + `\[{].*?)[ \t\r]*$`)

// CutByStart finds in a text that is not YAML the text without quotes around all of it that begins with a quote, or with a
// character to which YAML gives a meaning. The line is the parser's.
func CutByStart(text string, line int) (Cut, bool) {
	of := NewText(text).lines
	for _, candidate := range []int{line, line + 1, line - 1} {
		written, start, exists := of.line(candidate)
		match := indicated.FindStringSubmatchIndex(written)
		if !exists || match == nil || strings.ContainsAny(written[match[3]-1:match[3]], "]}") && strings.ContainsAny(written[match[2]:match[2]+1], "[{") {
			continue
		}
		cut := of.cut(written[match[2]:match[2]+1], start+match[2], start+match[2], start+match[3])
		if mends(text, start+match[2], start+match[3], cut.Fix.Text, candidate) {
			return cut, true
		}
	}
	return Cut{}, false
}

// line returns a line without its break, and its offset. Lines count from 1.
func (l lines) line(number int) (written string, start int, exists bool) {
	if number < 1 || number > len(l.starts) {
		return "", 0, false
	}
	start, end := l.starts[number-1], len(l.text)
	if number < len(l.starts) {
		end = l.starts[number]
	}
	return strings.TrimRight(l.text[start:end], "\r\n"), start, true
}

// CutByColon finds in a text that is not YAML the text without quotes whose `: ` is the reason. The line is the parser's,
// which may be one beside the fault.
func CutByColon(text string, line int) (Cut, bool) {
	of := NewText(text).lines
	for _, candidate := range []int{line, line - 1, line + 1} {
		written, start, exists := of.line(candidate)
		match := unquoted.FindStringSubmatchIndex(written)
		if !exists || match == nil {
			continue
		}
		whole := written[match[2]:match[3]]
		colon := strings.Index(whole+" ", ": ")
		if colon < 0 || keyOfIndicator.MatchString(whole) {
			continue
		}
		cut := of.cut(": ", start+match[2], start+match[2]+colon, start+match[3])
		if mends(text, start+match[2], start+match[3], cut.Fix.Text, candidate) {
			return cut, true
		}
	}
	return Cut{}, false
}

// Replaced returns the fix that writes a text in place of a value, nil if the value has no place.
func (d *Document) Replaced(node *yaml.Node, text string) []Fix {
	from, to, ok := d.Extent(node)
	if !ok {
		return nil
	}
	start, end := d.PositionAt(from), d.PositionAt(to)
	return []Fix{{start.Line, start.Column, end.Line, end.Column, text}}
}

// CutByComment tells whether YAML reads the end of a text without quotes as a comment.
func (t *Text) CutByComment(node *yaml.Node) (Cut, bool) {
	if node.Kind != yaml.ScalarNode || node.Style != 0 {
		return Cut{}, false
	}
	scalar := t.Scalar(node)
	if len(scalar.origins) == 0 {
		return Cut{}, false
	}
	text, from, at := t.lines.text, scalar.origins[0], scalar.origins[len(scalar.origins)-1]
	end := at
	for end < len(text) && breakWidth(text, end) == 0 {
		end++
	}
	rest := strings.TrimLeft(text[at:end], " \t")
	if !strings.HasPrefix(rest, "#") || len(rest) == end-at || strings.ContainsAny(text[from:at], "\r\n") {
		return Cut{}, false
	}
	end -= len(rest) - len(strings.TrimRight(rest, " \t"))
	cut := t.lines.cut(" #", from, at, end)
	var whole yaml.Node
	if yaml.Unmarshal([]byte(text[:from]+cut.Fix.Text+text[end:]), &whole) != nil {
		return Cut{}, false
	}
	return cut, true
}

// CutByKey tells whether a mapping is a text without quotes that YAML splits at `: `: its only key cannot be a name.
func (d *Document) CutByKey(node *yaml.Node) (Cut, bool) {
	if node == nil || node.Kind != yaml.MappingNode || node.Style&yaml.FlowStyle != 0 || len(node.Content) != 2 {
		return Cut{}, false
	}
	key, value := node.Content[0], node.Content[1]
	if key.Kind != yaml.ScalarNode || key.Style != 0 || !strings.ContainsAny(key.Value, `("=<> `) {
		return Cut{}, false
	}
	from, at, readKey := d.Extent(key)
	_, end, readValue := d.Extent(value)
	if !readKey || value.Kind == yaml.ScalarNode && value.Tag == "!!null" {
		end, readValue = strings.IndexByte(d.written[at:], ':')+at+1, true
	}
	if !readKey || !readValue || end <= at || strings.ContainsAny(d.written[from:end], "\r\n") {
		return Cut{}, false
	}
	return d.text.lines.cut(": ", from, at, end), true
}

func (l lines) cut(by string, from, at, end int) Cut {
	whole := l.text[from:end]
	cut := Cut{By: by, Whole: whole, Fix: Fix{Text: "'" + strings.ReplaceAll(whole, "'", "''") + "'"}}
	cut.Fix.Line, cut.Fix.Column = l.position(from)
	cut.Fix.EndLine, cut.Fix.EndColumn = l.position(end)
	cut.Start = Position{cut.Fix.Line, cut.Fix.Column}
	cut.At.Line, cut.At.Column = l.position(at)
	return cut
}

// mends tells whether a text in place of what stands between two offsets leaves no error on its line.
func mends(text string, from, to int, with string, line int) bool {
	var node yaml.Node
	err := yaml.Unmarshal([]byte(text[:from]+with+text[to:]), &node)
	return err == nil || lineOf(err) > line+1
}

var lineInError = regexp.MustCompile(`line (\d+)`)

// lineOf returns the line that an error of the YAML library names, 0 if it names none.
func lineOf(err error) int {
	match := lineInError.FindStringSubmatch(err.Error())
	if match == nil {
		return 0
	}
	line := 0
	for _, digit := range match[1] {
		line = line*10 + int(digit-'0')
	}
	return line
}

// Quoted returns the fix that puts a value without quotes into quotes, nil if the value has quotes.
func (d *Document) Quoted(node *yaml.Node) []Fix {
	from, to, ok := d.Extent(node)
	if !ok || node.Kind != yaml.ScalarNode || node.Style != 0 || from == to {
		return nil
	}
	return []Fix{d.text.lines.cut("", from, to, to).Fix}
}

// CutByComment tells whether YAML reads the end of a text without quotes as a comment.
func (d *Document) CutByComment(node *yaml.Node) (Cut, bool) { return d.text.CutByComment(node) }
