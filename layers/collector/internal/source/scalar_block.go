package source

import "strings"

// readBlock reads a literal or folded block scalar.
//
// Its indentation is that of its first line that is not empty, unless the header gives one: that counts from the
// parent's, which the text before would have to be parsed for. So every smaller indentation is a reading as well, and
// the one that comes to the value is the right one.
func readBlock(text string, at int) []*reading {
	folded := text[at] == '>'
	if !folded && text[at] != '|' {
		return nil
	}
	body := at
	for body < len(text) && breakWidth(text, body) == 0 {
		body++
	}
	header := text[at:body]
	if comment := strings.IndexByte(header, '#'); comment >= 0 {
		header = header[:comment]
	}
	if body < len(text) {
		body += breakWidth(text, body)
	}
	found := indentation(text, body)
	widths := []int{found}
	if strings.ContainsAny(header, "123456789") {
		widths = nil
		for width := found + 1; width >= 0; width-- {
			widths = append(widths, width)
		}
	}
	var readings []*reading
	for _, width := range widths {
		block := &block{reading: &reading{}, text: text, at: body, width: width, folded: folded}
		block.read()
		block.chomp(header)
		readings = append(readings, block.reading)
	}
	return readings
}

// indentation is the number of spaces before the first line from here that holds something else.
func indentation(text string, at int) int {
	deepest := 0
	for at < len(text) {
		spaces := 0
		for at < len(text) && text[at] == ' ' {
			at, spaces = at+1, spaces+1
		}
		width := 0
		if at < len(text) {
			width = breakWidth(text, at)
		}
		if width == 0 && at < len(text) {
			return spaces
		}
		deepest = max(deepest, spaces)
		at += width
	}
	return deepest
}

// block reads one block scalar line by line.
type block struct {
	*reading
	text   string
	at     int
	width  int
	folded bool
	// pending is the offset of the last line's break, -1 if there is none; empty are those of the empty lines after it.
	pending int
	empty   []int
}

func (b *block) read() {
	b.pending = -1
	b.end = b.at
	b.skipEmpty()
	afterIndented := false
	for b.at < len(b.text) && b.indented() {
		start := b.at + b.width
		indented := start < len(b.text) && isBlank(b.text[start])
		if b.folded && !afterIndented && !indented && b.pending >= 0 {
			if len(b.empty) == 0 {
				b.put(" ", b.pending)
			}
		} else if b.pending >= 0 {
			b.put("\n", b.pending)
		}
		b.putEmpty()
		afterIndented = indented
		end := start
		for end < len(b.text) && breakWidth(b.text, end) == 0 {
			end++
		}
		b.copy(b.text, start, end)
		b.end, b.at, b.pending = end, end, -1
		if end < len(b.text) {
			b.pending = end
			b.at += breakWidth(b.text, end)
		}
		b.skipEmpty()
	}
}

// indented tells whether the line from here belongs to the block.
func (b *block) indented() bool {
	end := b.at + b.width
	return end <= len(b.text) && strings.Count(b.text[b.at:end], " ") == b.width
}

// skipEmpty notes the empty lines from here: those of no more than the block's indentation.
func (b *block) skipEmpty() {
	for b.at < len(b.text) {
		end := b.at
		for end < len(b.text) && end-b.at < b.width && b.text[end] == ' ' {
			end++
		}
		if end >= len(b.text) {
			return
		}
		width := breakWidth(b.text, end)
		if width == 0 {
			return
		}
		b.empty = append(b.empty, end)
		b.at = end + width
	}
}

func (b *block) putEmpty() {
	for _, origin := range b.empty {
		b.put("\n", origin)
	}
	b.empty = nil
}

// chomp ends the block as its header says: `-` drops all line breaks at the end, `+` keeps all, else the first stays.
func (b *block) chomp(header string) {
	if strings.Contains(header, "-") {
		return
	}
	if b.pending >= 0 {
		b.put("\n", b.pending)
	}
	if strings.Contains(header, "+") {
		b.putEmpty()
	}
}
