package validate

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/headgate/headgate/layers/collector/internal/source"
	"go.yaml.in/yaml/v3"
)

// quoteIt says how YAML read a text without quotes.
func quoteIt(cut source.Cut) string {
	ended := fmt.Sprintf("YAML ended the text at column %d, because ", cut.At.Column)
	switch cut.By {
	case ": ":
		return ended + "`: ` separates a key from its value: quote it"
	case " #":
		return ended + "` #` begins a comment: quote it"
	case `"`, "'":
		return "a text must not go on behind its closing quote: put all of it into quotes"
	default:
		return fmt.Sprintf("a text must not begin with `%s`: quote it", cut.By)
	}
}

// noToken matches a character that begins nothing in YAML.
var noToken = regexp.MustCompile("(?:^|[\\s,\\[{])([@%`])")

// whyNoToken says what stands on a line with a character that YAML does not know there, "" if that is not clear.
func whyNoToken(line string) string {
	if blanks := line[:len(line)-len(strings.TrimLeft(line, " \t"))]; strings.Contains(blanks, "\t") {
		return "; a tab must not indent a line: use blanks"
	}
	if match := noToken.FindStringSubmatch(line); match != nil {
		return fmt.Sprintf("; a text must not begin with `%s`: quote it", match[1])
	}
	return ""
}

// wholeStatements replaces the errors about a mapping that is a text without quotes, which YAML split at `: `.
func (r *report) wholeStatements() {
	var kept []Finding
	reported := map[source.Position]bool{}
	for _, finding := range r.result.Errors {
		split, message := r.splitAbove(finding.path), finding.Message+"; a text is expected here, not a mapping: "
		if split == nil && len(finding.path) == 2 && finding.Code == InvalidValue {
			split = r.splitAmongTexts(r.document.Node(finding.path...), finding.path, 0)
			message = "a text is expected here, as in the rest of this list, and not a mapping: "
		}
		if split == nil {
			kept = append(kept, finding)
			continue
		}
		for _, text := range split {
			if reported[text.cut.Start] {
				continue
			}
			reported[text.cut.Start] = true
			kept = append(kept, Finding{
				Message:       message + quoteIt(text.cut),
				ComponentPath: joined(text.path), Code: WrongType, Line: text.cut.Start.Line, Column: text.cut.Start.Column,
				Fix: []source.Fix{text.cut.Fix},
			})
		}
	}
	r.result.Errors = kept
}

// splitText is a text without quotes that YAML split at `: `.
type splitText struct {
	cut  source.Cut
	path []string
}

// splitAbove returns such a text on the way to a path, nil if there is none.
func (r *report) splitAbove(path []string) []splitText {
	for end := 1; end <= len(path); end++ {
		if cut, is := r.document.CutByKey(r.document.Node(path[:end]...)); is {
			return []splitText{{cut, path[:end]}}
		}
	}
	return nil
}

// splitAmongTexts returns such texts below a node that stand in a list with other texts: components complain of the whole
// list then.
func (r *report) splitAmongTexts(node *yaml.Node, path []string, depth int) []splitText {
	const deepest = 20
	node = source.Resolve(node)
	if node == nil || depth > deepest {
		return nil
	}
	var split []splitText
	switch node.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			split = append(split, r.splitAmongTexts(node.Content[i+1], below(path, node.Content[i].Value), depth+1)...)
		}
	case yaml.SequenceNode:
		hasTexts := slices.ContainsFunc(node.Content, func(entry *yaml.Node) bool { return entry.ShortTag() == "!!str" })
		for i, entry := range node.Content {
			here := below(path, strconv.Itoa(i))
			if cut, is := r.document.CutByKey(entry); is && hasTexts {
				split = append(split, splitText{cut, here})
			} else {
				split = append(split, r.splitAmongTexts(entry, here, depth+1)...)
			}
		}
	}
	return split
}

func below(path []string, step string) []string { return append(slices.Clone(path), step) }
