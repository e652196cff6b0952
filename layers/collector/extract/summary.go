package main

import (
	"bufio"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// maxSummary is the length of a summary in characters, unless its first sentence is longer.
const maxSummary = 300

// summary is a component's own description, else the beginning of its README, else of its package's comment, else the
// title of the README.
func (m *metadata) summary(folder, packageText string) string {
	text, title := readme(filepath.Join(folder, "README.md"))
	for _, text := range []string{clean(m.Description), text, packageText, title} {
		if text != "" {
			return sentences(text, maxSummary)
		}
	}
	return ""
}

var (
	image         = regexp.MustCompile(`!\[[^\]]*\]\([^)]*\)`)
	link          = regexp.MustCompile(`\[([^\]]+)\](?:\([^)]*\)|\[[^\]]*\])?`)
	htmlTag       = regexp.MustCompile(`<[^>]+>`)
	emphasis      = regexp.MustCompile(`\*\*([^*]+)\*\*|__([^_]+)__`)
	listItem      = regexp.MustCompile(`^([-*+]|\d+\.) `)
	isNoParagraph = regexp.MustCompile("^(#|\\||>|[-*+] |\\d+\\. |\\[[^\\]]+\\]:|```|~~~|<|!|=+$|-+$|:)")
	// Headings under which a README says what the component is.
	aboutHeading = regexp.MustCompile(`(?i)^#+ *(overview|description|introduction|about|summary|purpose|supported pipeline types)\b`)
	// Beginnings of paragraphs about something else.
	isAside = regexp.MustCompile(`(?i)^(find |see |please |note|warning|the following|supported |if you |for (more|details)|this (component|document|readme|page|section) (is (deprecated|unmaintained|in |under )|describes|applies|has moved)|_note_|⚠|(currently, )?the feature gate |table of contents|\*\*)`)
)

// readme returns the first paragraph of a README that says what the component is, without Markdown, and its title; each
// is "" if it has none.
func readme(path string) (text, title string) {
	file, err := os.Open(path)
	if err != nil {
		return "", ""
	}
	defer file.Close()
	var paragraph []string
	isCode, isComment, isElsewhere, isList := false, false, false, false
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		switch {
		case strings.HasPrefix(line, "```"):
			isCode = !isCode
			continue
		case strings.HasPrefix(line, "<!--"):
			isComment = !strings.Contains(line, "-->")
			continue
		case isComment:
			isComment = !strings.Contains(line, "-->")
			continue
		case isCode:
			continue
		case strings.HasPrefix(line, "## "):
			isElsewhere = !aboutHeading.MatchString(line)
		case strings.HasPrefix(line, "# ") && title == "":
			title = strings.TrimSpace(line[2:])
		}
		isList = line != "" && (isList || listItem.MatchString(line))
		if line != "" && !isList && !isNoParagraph.MatchString(line) {
			paragraph = append(paragraph, line)
			continue
		}
		if text := withoutMarkdown(paragraph); text != "" && !isElsewhere {
			return text, title
		}
		paragraph = nil
	}
	if isElsewhere {
		return "", title
	}
	return withoutMarkdown(paragraph), title
}

// withoutMarkdown is a paragraph's text, "" if it is about something else, or goes on as a list or code.
func withoutMarkdown(lines []string) string {
	text := strings.Join(lines, " ")
	text = image.ReplaceAllString(text, "")
	text = link.ReplaceAllString(text, "$1")
	text = htmlTag.ReplaceAllString(text, "")
	if isAside.MatchString(text) {
		return ""
	}
	text = bounded(emphasis.ReplaceAllString(text, "$1$2"))
	if strings.HasSuffix(text, ":") {
		text = sentences(text, len(text)-1)
		if strings.HasSuffix(text, ":") {
			return ""
		}
	}
	return text
}
