package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A guide is a page that explains the settings of types: a component's README, or a page of stanza's operators. It is
// asked about fields without a comment.
type guide struct {
	file  string
	types []string
}

// stanzaModule has its operators' pages in a folder of their own.
const stanzaModule = "github.com/open-telemetry/opentelemetry-collector-contrib/pkg/stanza"

var stanzaSpellings = map[string]string{
	"keyvalue": "key_value", "jsonarray": "json_array", "assignkeys": "assign_keys", "sanitizeutf8": "sanitize_utf8",
	"regexreplace": "regex_replace", "scope": "scope_name", "windows": "windows_eventlog",
}

func guidesOf(one goPackage) []guide {
	pages := filepath.Join(one.moduleFolder, "docs", "operators")
	within, isStanza := strings.CutPrefix(one.path, stanzaModule+"/")
	switch parts := strings.Split(within, "/"); {
	case !isStanza:
		return []guide{{filepath.Join(one.folder, "README.md"), []string{"Config"}}}
	case within == "fileconsumer":
		return []guide{{filepath.Join(pages, "file_input.md"), []string{"Config"}}}
	case within == "fileconsumer/matcher", within == "fileconsumer/attrs":
		return []guide{{filepath.Join(pages, "file_input.md"), []string{"Criteria", "Resolver"}}}
	case within == "operator/helper":
		return []guide{
			{filepath.Join(pages, "regex_parser.md"), []string{"BasicConfig", "WriterConfig", "TransformerConfig", "ParserConfig"}},
			{filepath.Join(pages, "file_input.md"), []string{"AttributerConfig", "IdentifierConfig", "InputConfig"}},
			{filepath.Join(pages, "time_parser.md"), []string{"TimeParser"}},
			{filepath.Join(pages, "severity_parser.md"), []string{"SeverityConfig"}},
			{filepath.Join(pages, "trace_parser.md"), []string{"TraceParser"}},
		}
	case len(parts) == 3 && parts[0] == "operator":
		name := parts[2]
		if spelling, has := stanzaSpellings[name]; has {
			name = spelling
		}
		if parts[1] != "transformer" {
			name += "_" + parts[1]
		}
		return []guide{{filepath.Join(pages, name+".md"), []string{"Config", "BaseConfig"}}}
	}
	return nil
}

func (t *packageTexts) readGuides(one goPackage) {
	for _, page := range guidesOf(one) {
		text, err := os.ReadFile(page.file)
		if err != nil {
			continue // not every package has one
		}
		for _, about := range readSettings(string(text)) {
			for _, name := range page.types {
				if field := t.find(name, about.path); field != nil && field.text == "" {
					field.text = about.text
				}
			}
		}
	}
}

// find follows a path of settings through the types of this package.
func (t *packageTexts) find(typeName string, path []string) *fieldText {
	declared := t.types[typeName]
	if declared == nil {
		return nil
	}
	for _, field := range declared.fields {
		switch {
		case field.isSquashed:
			if found := t.find(field.typeName, path); found != nil {
				return found
			}
		case field.setting != path[0] || strings.Contains(field.path, "."):
		case len(path) == 1:
			return field
		default:
			return t.find(field.typeName, path[1:])
		}
	}
	return nil
}

// settingText is what a page says of the setting at a path.
type settingText struct {
	path []string
	text string
}

var (
	bullet      = regexp.MustCompile("^( *)[-*+] +`([A-Za-z0-9_.]+)`(.*)$")
	otherBullet = regexp.MustCompile(`^( *)[-*+] `)
	cells       = regexp.MustCompile(`\s*\|\s*`)
	// The default and whether it is required stand in the schema.
	parenthesis = regexp.MustCompile(`(?i)^\s*[\[(](?:no |the )?(?:default|required|optional)[^()\[\]]*[\])]\s*`)
	elsewhere   = regexp.MustCompile(`(?i)\s*(\(?see (below|above)[^.)]*[.)]+|see the [^.]* below[^.]*\.)`)
	separator   = regexp.MustCompile(`^[\s:=–—.-]+`)
)

// readSettings reads lists (a key in code, and a text, with the keys of its own as a deeper list) and tables with a
// column `Description`.
func readSettings(page string) []settingText {
	var found []settingText
	var open []listEntry
	column := -1
	for line := range strings.Lines(page) {
		line = strings.TrimRight(line, " \r\n")
		switch {
		case strings.HasPrefix(strings.TrimSpace(line), "|"):
			row := cells.Split(strings.Trim(strings.TrimSpace(line), "|"), -1)
			if at := slices.IndexFunc(row, func(cell string) bool { return strings.EqualFold(strings.TrimSpace(cell), "description") }); at > 0 {
				column = at
			} else if key := strings.Trim(row[0], " `"); column > 0 && column < len(row) && strings.Contains(row[0], "`") {
				found = append(found, settingText{strings.Split(key, "."), row[column]})
			}
			continue
		case bullet.MatchString(line):
			parts := bullet.FindStringSubmatch(line)
			open = append(outer(open, len(parts[1])), listEntry{len(parts[1]), strings.Split(parts[2], ".")})
			found = append(found, settingText{pathOf(open), parts[3]})
		case otherBullet.MatchString(line):
			indent := len(otherBullet.FindStringSubmatch(line)[1])
			open = append(outer(open, indent), listEntry{indent, []string{""}})
		case strings.HasPrefix(line, " ") && len(open) > 0 && len(found) > 0 && slices.Equal(pathOf(open), found[len(found)-1].path):
			found[len(found)-1].text += " " + strings.TrimSpace(line)
		case line == "":
		default:
			open = nil
		}
		column = -1
	}
	for i, about := range found {
		text := separator.ReplaceAllString(about.text, "")
		text = parenthesis.ReplaceAllString(text, "")
		text = elsewhere.ReplaceAllString(separator.ReplaceAllString(text, ""), "")
		text = withoutMarkdown([]string{text})
		if !strings.Contains(text, " ") || strings.HasPrefix(text, "(default") {
			text = ""
		}
		found[i].text = text
	}
	return slices.DeleteFunc(found, func(about settingText) bool { return about.text == "" })
}

type listEntry struct {
	indent int
	keys   []string
}

func outer(open []listEntry, indent int) []listEntry {
	for len(open) > 0 && open[len(open)-1].indent >= indent {
		open = open[:len(open)-1]
	}
	return open
}

func pathOf(open []listEntry) []string {
	var path []string
	for _, entry := range open {
		path = append(path, entry.keys...)
	}
	return path
}
