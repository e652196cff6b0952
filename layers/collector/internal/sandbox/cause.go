package sandbox

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// longestCause is the maximum length of a collector's error in one line, in bytes.
const longestCause = 600

var (
	// A collector that fails to start reports its error twice: as its command's error, and in its log.
	commandError = regexp.MustCompile(`(?m)^Error: `)
	logTimestamp = regexp.MustCompile(`(?m)^\d{4}/\d\d/\d\d \d\d:\d\d:\d\d `)
	// crash matches Go's report of a crash.
	crash = regexp.MustCompile(`(?m)^(?:panic|fatal error|SIG[A-Z]+): .*$`)
	// logged matches a component's error in the console's form: time, level, source, message, and fields in JSON.
	logged = regexp.MustCompile(`(?m)^\d{4}-\d\d-\d\dT[^\t\n]*\terror\t([^\n]*)$`)
	// wrapping matches text around an error that adds nothing.
	wrapping = regexp.MustCompile(`decoding failed due to the following error\(s\):\s*`)
)

// cause returns the collector's own error, in one line, for why it did not run, or "".
func cause(stderr []byte) string {
	if place := commandError.FindIndex(stderr); place != nil {
		message := stderr[place[1]:]
		if end := logTimestamp.FindIndex(message); end != nil {
			message = message[:end[0]]
		}
		return inOneLine(wrapping.ReplaceAllString(string(message), ""))
	}
	if found := crash.Find(stderr); found != nil {
		return inOneLine(string(found))
	}
	if found := logged.FindSubmatch(stderr); found != nil {
		return inOneLine(loggedError(string(found[1])))
	}
	return ""
}

// loggedError returns an error in the log as text: the component's name, the message, and the error's own text.
func loggedError(line string) string {
	parts := strings.Split(line, "\t")
	var fields struct {
		Component string `json:"otelcol.component.id"`
		Error     string `json:"error"`
	}
	if last := parts[len(parts)-1]; len(parts) > 1 && json.Unmarshal([]byte(last), &fields) == nil {
		parts = parts[:len(parts)-1]
	}
	// The first part is the position in the source, if there is one.
	texts := []string{fields.Component, parts[len(parts)-1], fields.Error}
	return strings.Join(slices.DeleteFunc(texts, func(text string) bool { return text == "" }), ": ")
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
