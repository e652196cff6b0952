package sandbox

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// longestCause is how much of a collector's error is told in one line, in bytes.
const longestCause = 600

var (
	// lastWords are how a collector that ends says why: once as its command's error, once as its log's.
	lastWords = regexp.MustCompile(`(?m)^Error: `)
	saidAgain = regexp.MustCompile(`(?m)^\d{4}/\d\d/\d\d \d\d:\d\d:\d\d `)
	// crash is what Go says of one.
	crash = regexp.MustCompile(`(?m)^(?:panic|fatal error): .*$`)
	// logged is an error of a component in the console's form: time, level, place, message, and fields in JSON.
	logged = regexp.MustCompile(`(?m)^\d{4}-\d\d-\d\dT[^\t\n]*\terror\t([^\n]*)$`)
	// wrapping are words around an error that say nothing.
	wrapping = regexp.MustCompile(`decoding failed due to the following error\(s\):\s*`)
)

// cause is the collector's own word, in one line, for why it did not run, or empty.
func cause(stderr []byte) string {
	if place := lastWords.FindIndex(stderr); place != nil {
		said := stderr[place[1]:]
		if end := saidAgain.FindIndex(said); end != nil {
			said = said[:end[0]]
		}
		return inOneLine(wrapping.ReplaceAllString(string(said), ""))
	}
	if found := crash.Find(stderr); found != nil {
		return inOneLine(string(found))
	}
	if found := logged.FindSubmatch(stderr); found != nil {
		return inOneLine(told(string(found[1])))
	}
	return ""
}

// told is an error in the log in its own words: the component's name, the message, and the error that it was given.
func told(line string) string {
	parts := strings.Split(line, "\t")
	var fields struct {
		Component string `json:"otelcol.component.id"`
		Error     string `json:"error"`
	}
	if last := parts[len(parts)-1]; len(parts) > 1 && json.Unmarshal([]byte(last), &fields) == nil {
		parts = parts[:len(parts)-1]
	}
	// The first part is the place in the source, where there is one.
	said := []string{fields.Component, parts[len(parts)-1], fields.Error}
	return strings.Join(without(said, ""), ": ")
}

func without(texts []string, unwanted string) []string {
	var kept []string
	for _, text := range texts {
		if text != unwanted {
			kept = append(kept, text)
		}
	}
	return kept
}

func inOneLine(text string) string {
	text = strings.Join(strings.Fields(string(bytes.ToValidUTF8([]byte(text), nil))), " ")
	text = strings.Map(func(one rune) rune {
		if unicode.IsControl(one) {
			return '?'
		}
		return one
	}, text)
	if len(text) <= longestCause {
		return text
	}
	end := longestCause
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}
