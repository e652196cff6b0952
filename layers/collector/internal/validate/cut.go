package validate

import (
	"fmt"

	"github.com/headgate/headgate/layers/collector/internal/source"
)

// quoteIt says how YAML read a text without quotes.
func quoteIt(cut source.Cut) string {
	why := "`: ` separates a key from its value"
	if cut.By == " #" {
		why = "` #` begins a comment"
	}
	return fmt.Sprintf("YAML ended the text at column %d, because %s: quote it", cut.At.Column, why)
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
