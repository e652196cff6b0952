package validate

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/headgate/headgate/layers/collector/internal/source"
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
		cut, path, found := r.cutAbove(finding)
		if !found {
			kept = append(kept, finding)
			continue
		}
		if reported[cut.Start] {
			continue
		}
		reported[cut.Start] = true
		kept = append(kept, Finding{
			Message:       finding.Message + "; a text is expected here, not a mapping: " + quoteIt(cut),
			ComponentPath: path, Code: WrongType, Line: cut.Start.Line, Column: cut.Start.Column, Fix: []source.Fix{cut.Fix},
		})
	}
	r.result.Errors = kept
}

// cutAbove finds such a mapping on the way to a finding, or directly below it.
func (r *report) cutAbove(finding Finding) (source.Cut, string, bool) {
	path := finding.path
	for end := 1; end <= len(path); end++ {
		if cut, found := r.document.CutByKey(r.document.Node(path[:end]...)); found {
			return cut, joined(path[:end]), true
		}
	}
	return source.Cut{}, "", false
}
