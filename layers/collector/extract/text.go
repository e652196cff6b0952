package main

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// maxText is the length of a text in characters, beyond which it ends with an ellipsis.
const maxText = 600

var (
	// Notes of the authors to themselves, and to their tools.
	note = regexp.MustCompile(`^(TODO|FIXME|XXX|HACK|NOTE TO SELF|nolint|lint:|revive:|#nosec|Copyright |SPDX-|\+)`)
	// What stands between the parts of a struct, not before a field.
	ruler        = regexp.MustCompile(`^[-=*#/_~ ]{3,}$`)
	unkeyed      = regexp.MustCompile(`(?i)^(prevent unkeyed literal|squash ensures fields)`)
	runsOfBlanks = regexp.MustCompile(`\s+`)
)

// clean makes one paragraph of a comment, without code and notes.
func clean(comment string) string {
	var lines []string
	isNote := false
	for line := range strings.Lines(comment) {
		trimmed := strings.TrimSpace(line)
		isCode := strings.HasPrefix(line, "\t") || strings.HasPrefix(line, "    ")
		switch {
		case trimmed == "":
			isNote = false
		case note.MatchString(trimmed):
			isNote = true
		case isNote || isCode || ruler.MatchString(trimmed) || strings.HasPrefix(trimmed, "```"):
		default:
			lines = append(lines, trimmed)
		}
	}
	text := bounded(strings.Join(lines, " "))
	if unkeyed.MatchString(text) {
		return ""
	}
	return text
}

// bounded is the text with single blanks, cut at the end of a word.
func bounded(text string) string {
	text = strings.TrimSpace(runsOfBlanks.ReplaceAllString(strings.ToValidUTF8(text, ""), " "))
	if utf8.RuneCountInString(text) <= maxText {
		return text
	}
	cut := string([]rune(text)[:maxText])
	return strings.TrimRight(cut[:max(strings.LastIndex(cut, " "), 1)], " ,;:") + " …"
}

// abbreviation ends with a full stop that does not end a sentence.
var abbreviation = regexp.MustCompile(`(?i)(?:^|[\s(])(?:e\.g|i\.e|etc|vs|approx|resp|a\.k\.a|incl|[a-z])\.$`)

// hint begins a sentence that says where to read more.
var hint = regexp.MustCompile(`^ (See |For more|You can read|Please |Read )`)

// sentences are the first ones of a text, as many as fit into a length in characters, at least one.
func sentences(text string, length int) string {
	end := 0
	for i := 0; i < len(text); i++ {
		isEnd := i+1 == len(text) || strings.ContainsRune(".!?", rune(text[i])) && text[i+1] == ' ' && !abbreviation.MatchString(text[:i+1])
		if !isEnd {
			continue
		}
		if end > 0 && (utf8.RuneCountInString(text[:i+1]) > length || hint.MatchString(text[end:])) {
			break
		}
		end = i + 1
	}
	return text[:end]
}
