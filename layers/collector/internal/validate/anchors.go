package validate

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/headgate/headgate/layers/collector/internal/nearest"
	"github.com/headgate/headgate/layers/collector/internal/source"
	"go.yaml.in/yaml/v3"
)

var (
	unknownAnchor = regexp.MustCompile(`unknown anchor '([^']+)' referenced`)
	anchor        = regexp.MustCompile(`(?:^|[\s\[{,:-])&([^\s\[\]{},]+)`)
)

// maxAnchors bounds the unknown anchors that are reported: each takes another parsing.
const maxAnchors = 20

// unknownAnchors adds an error for each alias without an anchor before it, at its place. It reports whether that is what
// keeps the text from being YAML.
//
// The YAML library stops at the first one without a place. So the `*` of each is replaced by a letter, and what the texts
// without it become is looked up.
func (r *report) unknownAnchors(text string, err error) bool {
	repaired, names := []byte(text), []string{}
	for range maxAnchors {
		match := unknownAnchor.FindStringSubmatch(err.Error())
		if match == nil {
			return false
		}
		changed := replaceAliases(repaired, match[1])
		names = append(names, match[1])
		if err = yaml.Unmarshal(repaired, new(yaml.Node)); err == nil || !changed {
			break
		}
	}
	document, err := source.Parse(string(repaired))
	if err != nil {
		return false
	}
	anchors := map[string]int{}
	var known []string
	for i, line := range document.Lines() {
		for _, match := range anchor.FindAllStringSubmatch(line, -1) {
			if anchors[match[1]] == 0 {
				anchors[match[1]] = i + 1
				known = append(known, match[1])
			}
		}
	}
	document.Scalars(func(path []string, node *yaml.Node) bool {
		name, is := strings.CutPrefix(node.Value, aliasMark)
		if !is || !slices.Contains(names, name) || node.Style != 0 {
			return true
		}
		message := fmt.Sprintf("unknown anchor '%s' referenced", name)
		if line := anchors[name]; line > 0 {
			message += fmt.Sprintf("; &%s stands at line %d, behind this alias: an anchor must come before its aliases", name, line)
		} else {
			message += fmt.Sprintf("; the text has no &%s%s", name, nearest.DidYouMean(name, known))
		}
		r.addAt(&r.result.Errors, source.Position{Line: node.Line, Column: node.Column}, YAMLSyntax, path, message)
		return true
	})
	return len(r.result.Errors) > 0
}

// aliasMark stands for the `*` of an alias; it has the same length.
const aliasMark = "A"

// replaceAliases replaces the `*` of an alias wherever a value begins with it.
func replaceAliases(text []byte, name string) (changed bool) {
	for at := range text {
		if text[at] != '*' || !strings.HasPrefix(string(text[at+1:min(len(text), at+1+len(name))]), name) {
			continue
		}
		before, after := byte('\n'), byte('\n')
		if at > 0 {
			before = text[at-1]
		}
		if end := at + 1 + len(name); end < len(text) {
			after = text[end]
		}
		if strings.IndexByte(" \t\n\r[{,", before) >= 0 && strings.IndexByte(" \t\n\r]},:", after) >= 0 {
			text[at], changed = aliasMark[0], true
		}
	}
	return changed
}
