// Package hiding replaces the values of variables in what a program wrote. A value may be a secret.
package hiding

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

const (
	// Shortest is the shortest value that is hidden, in bytes. Shorter ones are everywhere.
	Shortest = 4
	// bounded is the length up to which a value is hidden only where it is a word of its own.
	bounded = 8
	// Part is the shortest part of a longer value that is hidden: a message may shorten a value, or may be cut.
	Part = 16
	// mostForms bounds what is searched for, largestDecoded the values that are read as YAML.
	mostForms      = 5_000
	largestDecoded = 512
)

// public are values that say nothing, in lower case: a log is full of them.
var public = []string{"debug", "error", "fatal", "false", "info", "logs", "metrics", "none", "null", "panic", "traces", "true", "warn"}

// Hider replaces each value by the reference to its variable, `${env:NAME}`. The zero value replaces nothing.
type Hider struct {
	names []string
	// whole are the forms that are shorter than Part, longest first. parts are the parts of the others.
	whole []form
	parts map[[Part]byte]int
}

type form struct {
	text string
	name int
}

// New returns a Hider of the variables' values as they stand, and in the forms in which programs quote them.
func New(env map[string]string) *Hider {
	hider := &Hider{names: slices.Sorted(maps.Keys(env)), parts: map[[Part]byte]int{}}
	seen := map[string]bool{}
	for place, name := range hider.names {
		for _, text := range forms(env[name]) {
			if len(text) < Shortest || seen[text] || slices.Contains(public, strings.ToLower(text)) || len(seen) > mostForms {
				continue
			}
			seen[text] = true
			if len(text) < Part {
				hider.whole = append(hider.whole, form{text, place})
				continue
			}
			for i := 0; i+Part <= len(text); i++ {
				part := [Part]byte([]byte(text[i : i+Part]))
				if _, known := hider.parts[part]; !known {
					hider.parts[part] = place
				}
			}
		}
	}
	slices.SortStableFunc(hider.whole, func(a, b form) int { return len(b.text) - len(a.text) })
	return hider
}

// forms are the ways in which a value may stand in a text: as it is, quoted, within a URL, its lines, and the texts in
// it, since the collector reads it as YAML. A longer text is found by its parts anyway.
func forms(value string) []string {
	texts := []string{value}
	if lines := strings.Split(value, "\n"); len(lines) > 1 {
		for _, line := range lines {
			texts = append(texts, strings.TrimSpace(line))
		}
	}
	var decoded any
	if len(value) <= largestDecoded && yaml.Unmarshal([]byte(value), &decoded) == nil {
		texts = append(texts, textsIn(decoded)...)
	}
	var all []string
	for _, text := range texts {
		if len(text) < Shortest {
			continue
		}
		quoted := strconv.Quote(text)
		all = append(all, text, quoted[1:len(quoted)-1], url.QueryEscape(text), url.PathEscape(text))
		if encoded, err := json.Marshal(text); err == nil {
			all = append(all, string(encoded[1:len(encoded)-1]))
		}
		if trimmed := strings.TrimSpace(text); trimmed != text {
			all = append(all, trimmed)
		}
	}
	return all
}

func textsIn(value any) []string {
	switch content := value.(type) {
	case string:
		return []string{content}
	case map[string]any:
		var texts []string
		for _, key := range slices.Sorted(maps.Keys(content)) {
			texts = append(append(texts, key), textsIn(content[key])...)
		}
		return texts
	case []any:
		var texts []string
		for _, entry := range content {
			texts = append(texts, textsIn(entry)...)
		}
		return texts
	}
	return nil
}

// Hides tells whether there is a value to hide.
func (h *Hider) Hides() bool { return len(h.whole) > 0 || len(h.parts) > 0 }

// Text replaces the values in a text.
func (h *Hider) Text(text string) string { return string(h.Bytes([]byte(text))) }

// Bytes returns the text with the values replaced.
func (h *Hider) Bytes(text []byte) []byte {
	if !h.Hides() {
		return text
	}
	// owner is, for each byte, the variable whose value it belongs to, counted from 1.
	owner := make([]int, len(text))
	if len(h.parts) > 0 {
		for i := 0; i+Part <= len(text); i++ {
			if place, known := h.parts[[Part]byte(text[i:i+Part])]; known {
				for j := i + Part - 1; j >= i && owner[j] == 0; j-- {
					owner[j] = place + 1
				}
			}
		}
	}
	for _, one := range h.whole {
		for from := 0; ; {
			found := bytes.Index(text[from:], []byte(one.text))
			if found < 0 {
				break
			}
			at, end := from+found, from+found+len(one.text)
			if owner[at] == 0 && owner[end-1] == 0 && (len(one.text) >= bounded || isWord(text, at, end)) {
				for j := at; j < end; j++ {
					owner[j] = one.name + 1
				}
			}
			from = at + 1
		}
	}
	var result []byte
	for i := 0; i < len(text); {
		if owner[i] == 0 {
			result = append(result, text[i])
			i++
			continue
		}
		name := owner[i]
		for i < len(text) && owner[i] == name {
			i++
		}
		result = append(result, "${env:"+h.names[name-1]+"}"...)
	}
	return result
}

// isWord tells whether the bytes from at to end are a word, not part of a longer one.
func isWord(text []byte, at, end int) bool {
	return (at == 0 || !continues(text[at-1])) && (end == len(text) || !continues(text[end]))
}

func continues(one byte) bool {
	return one == '_' || one >= utf8.RuneSelf ||
		'0' <= one && one <= '9' || 'a' <= one && one <= 'z' || 'A' <= one && one <= 'Z'
}
