package trace

import (
	"encoding/base64"
	"encoding/json"
	"strconv"
	"unicode/utf8"
)

// line is one line of a trace: a JSON array that begins with what kind of line it is.
type line struct{ bytes []byte }

func newLine(kind string) *line { return &line{append(append([]byte(`["`), kind...), '"')} }

func (l *line) raw(value []byte) *line {
	l.bytes = append(append(l.bytes, ','), value...)
	return l
}

func (l *line) int(value int) *line { return l.raw(strconv.AppendInt(nil, int64(value), 10)) }

func (l *line) text(value string) *line { return l.json(value) }

func (l *line) texts(values []string) *line {
	if values == nil {
		values = []string{}
	}
	return l.json(values)
}

func (l *line) json(value any) *line {
	encoded, err := json.Marshal(value)
	if err != nil {
		encoded = []byte("null")
	}
	return l.raw(encoded)
}

func (l *line) end() []byte { return append(l.bytes, "]\n"...) }

func appendInt(to []byte, value int) []byte { return strconv.AppendInt(to, int64(value), 10) }

// runs writes numbers as [first, how many, first, how many, …], where those that follow one another are one run, and so
// are those that are all -1.
type runs struct {
	bytes       []byte
	first, many int
}

func newRuns() *runs { return &runs{bytes: []byte{'['}} }

func (r *runs) add(number int) {
	follows := number == r.first+r.many && r.first >= 0 || number == -1 && r.first == -1
	if r.many > 0 && follows {
		r.many++
		return
	}
	r.flush()
	r.first, r.many = number, 1
}

func (r *runs) flush() {
	if r.many == 0 {
		return
	}
	if len(r.bytes) > 1 {
		r.bytes = append(r.bytes, ',')
	}
	r.bytes = appendInt(append(appendInt(r.bytes, r.first), ','), r.many)
}

func (r *runs) end() []byte {
	r.flush()
	return append(r.bytes, ']')
}

func encoded(content []byte) string { return base64.StdEncoding.EncodeToString(content) }

// shortened cuts the text of an error, which may quote a whole record.
func shortened(text string) string {
	if len(text) <= longestError {
		return text
	}
	cut := longestError
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}
