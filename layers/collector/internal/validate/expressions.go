package validate

import (
	"context"
	"strconv"
	"strings"

	"github.com/headgate/headgate/layers/collector/internal/lint"
	"github.com/headgate/headgate/layers/collector/internal/source"
)

// expressions replaces a component's errors about OTTL by one for each refused expression, at the token that the parser
// failed at.
func (d *diagnosis) expressions(ctx context.Context, text string) error {
	refused, err := lint.Refused(ctx, d.env, text, d.broken)
	if err != nil || len(refused) == 0 {
		return err
	}
	var kept []Finding
	placed := map[string]bool{}
	for _, finding := range d.result.Errors {
		component, replaced := componentOf(finding.path), false
		for _, one := range refused {
			replaced = replaced || one.Component == component && isAbout(finding.Message, one)
		}
		if replaced {
			placed[component] = true
		} else {
			kept = append(kept, finding)
		}
	}
	d.result.Errors = kept
	for _, one := range refused {
		if !placed[one.Component] {
			continue
		}
		message, fix := one.Message, []source.Fix(nil)
		if node := d.document.Node(one.Path...); node != nil {
			if cut, isCut := d.document.CutByComment(node); isCut {
				message, fix = message+"; "+quoteIt(cut), []source.Fix{cut.Fix}
			}
		}
		at := source.Position{Line: one.Line, Column: one.Column}
		if added := d.addAt(&d.result.Errors, at, InvalidValue, one.Path, message); added != nil {
			added.Fix = fix
		}
	}
	return nil
}

// isAbout tells whether a component's error is about a refused expression: it quotes it, or ends with the parser's words.
func isAbout(message string, one lint.Refusal) bool {
	return strings.Contains(message, one.Text) || strings.Contains(message, strings.Trim(strconv.Quote(one.Text), `"`)) ||
		strings.Contains(message, one.Cause)
}
