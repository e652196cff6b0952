package lint

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/headgate/headgate/layers/collector/internal/history"
	"github.com/headgate/headgate/layers/collector/internal/pricing"
	"github.com/headgate/headgate/layers/collector/internal/vocabulary"
	"github.com/open-telemetry/opentelemetry-collector-contrib/processor/filterprocessor"
	"github.com/open-telemetry/opentelemetry-collector-contrib/processor/transformprocessor"
)

// maxSuggestions is how many names are tried in place of a wrong one, and maxTried how many in one request.
const (
	maxSuggestions = 3
	maxTried       = 60
)

// operators maps operators of other languages to those of OTTL.
var operators = map[string]string{
	"=": "==", "&": "and", "|": "or", "!": "not", "'": `"`, "AND": "and", "OR": "or", "NOT": "not", "null": "nil",
	"True": "true", "False": "false", "TRUE": "true", "FALSE": "false", "===": "==", "<>": "!=",
}

// advise adds a note on what the author of an invalid expression may have meant. A name is suggested only if the
// component accepts it there, or at least fails further on.
func (l *linter) advise(c ottlComponent, e *expression) {
	offset := e.offending()
	if offset >= len(e.resolved) || l.tried > maxTried {
		l.adviseOnCase(c, e)
		return
	}
	if instead, known := operators[firstWord(e.resolved[offset:])]; known {
		e.advice = append(e.advice, fmt.Sprintf("did you mean `%s`?", instead))
		return
	}
	var wrong pricing.Name
	for _, name := range pricing.Names(pricing.Tokenize(e.resolved)) {
		if name.Start == offset {
			wrong = name
		}
	}
	if wrong.Text == "" {
		l.adviseOnCase(c, e)
		return
	}
	if known := history.Function(l.env.BuildInfo.Version, wrong.Text); wrong.Called && known != "" {
		e.advice = append(e.advice, known)
		return
	}
	for _, candidate := range nearest(wrong.Text, candidates(wrong.Called), maxSuggestions) {
		if err := l.instead(c, e, wrong, candidate); err == nil || offendingIn(e, wrong, candidate, err) > wrong.End {
			e.advice = append(e.advice, fmt.Sprintf("did you mean `%s`?", candidate))
			return
		}
	}
}

// adviseOnCase looks for a function in the wrong case. The grammar distinguishes editors, converters and paths by case,
// so the parser reports a different error, further on.
func (l *linter) adviseOnCase(c ottlComponent, e *expression) {
	for _, name := range pricing.Names(pricing.Tokenize(e.resolved)) {
		if !name.Called {
			continue
		}
		for _, function := range candidates(true) {
			if function != name.Text && strings.EqualFold(function, name.Text) && l.instead(c, e, name, function) == nil {
				e.advice = append(e.advice, fmt.Sprintf("did you mean `%s`?", function))
				return
			}
		}
	}
}

var errTried = errors.New("no more suggestions are tried in this request")

// instead probes the expression with another name in place of a wrong one.
func (l *linter) instead(c ottlComponent, e *expression, wrong pricing.Name, name string) error {
	if l.tried++; l.tried > maxTried {
		return errTried
	}
	attempt := *e
	attempt.resolved = e.resolved[:wrong.Start] + name + e.resolved[wrong.End:]
	return l.probe(c, []*expression{&attempt})
}

// offendingIn returns the offset of the error in such an expression, as an offset in the expression with the wrong
// name.
func offendingIn(e *expression, wrong pricing.Name, name string, err error) int {
	if errors.Is(err, errTried) {
		return 0
	}
	attempt := *e
	attempt.resolved = e.resolved[:wrong.Start] + name + e.resolved[wrong.End:]
	attempt.err = err
	return attempt.offending() - len(name) + len(wrong.Text)
}

// firstWord returns the name or operator that a text begins with.
func firstWord(text string) string {
	if width := pricing.Span(text, pricing.IsWord); width > 0 {
		return text[:width]
	}
	width := pricing.Span(text, func(c byte) bool { return strings.IndexByte("=<>", c) >= 0 })
	return text[:max(width, 1)]
}

// candidates returns what a wrong name may have been meant for: functions if it is called, else paths and enums.
func candidates(called bool) []string {
	if !called {
		names := vocabulary.Segments()
		for _, enum := range vocabulary.Enums {
			names = append(names, enum.Name)
		}
		return names
	}
	known := map[string]bool{"route": true}
	for _, f := range transformprocessor.DefaultMetricFunctions() {
		known[f.Name()] = true
	}
	for _, f := range transformprocessor.DefaultSpanFunctions() {
		known[f.Name()] = true
	}
	for _, f := range transformprocessor.DefaultLogFunctions() {
		known[f.Name()] = true
	}
	for _, f := range transformprocessor.DefaultDataPointFunctions() {
		known[f.Name()] = true
	}
	for _, f := range filterprocessor.DefaultMetricFunctions() {
		known[f.Name()] = true
	}
	functions := make([]string, 0, len(known))
	for function := range known {
		functions = append(functions, function)
	}
	return functions
}

// nearest returns the words most similar to a wrong one, the most similar first: those that differ only in case, then
// by the number of letters to change, up to a third of them.
func nearest(wrong string, words []string, most int) []string {
	type near struct {
		word     string
		distance int
	}
	var found []near
	for _, word := range words {
		if word == wrong {
			continue
		}
		distance := edits(strings.ToLower(wrong), strings.ToLower(word))
		if distance <= max(1, len(wrong)/3) {
			found = append(found, near{word, distance})
		}
	}
	slices.SortFunc(found, func(a, b near) int {
		if a.distance != b.distance {
			return a.distance - b.distance
		}
		return strings.Compare(a.word, b.word)
	})
	var nearest []string
	for _, n := range found[:min(most, len(found))] {
		nearest = append(nearest, n.word)
	}
	return nearest
}

// edits returns the number of letters to insert, drop, replace or swap with the next one to turn one word into the
// other.
func edits(a, b string) int {
	before, last := []int(nil), make([]int, len(b)+1)
	for i := range last {
		last[i] = i
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for k := 1; k <= len(b); k++ {
			cost := 1
			if a[i-1] == b[k-1] {
				cost = 0
			}
			row[k] = min(last[k]+1, row[k-1]+1, last[k-1]+cost)
			if i > 1 && k > 1 && a[i-1] == b[k-2] && a[i-2] == b[k-1] {
				row[k] = min(row[k], before[k-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
