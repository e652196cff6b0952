package lint

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/headgate/headgate/layers/collector/internal/history"
	"github.com/headgate/headgate/layers/collector/internal/nearest"
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

// waysOut are words for errors of OTTL whose cause is certain. All symbols of enums have an underscore.
var waysOut = []struct {
	message *regexp.Regexp
	words   string
}{
	{regexp.MustCompile(`enum symbol, ([A-Z0-9]+), not found`), `a text is written in quotes: "$1"`},
	{regexp.MustCompile(`lexer: invalid input text "[“”„‘’]`), "these are typographic quotes: write straight ones"},
	{regexp.MustCompile(`unexpected token "in"`), "OTTL has no in: join comparisons with or, or use IsMatch"},
	{regexp.MustCompile(`unexpected token "if"`), "OTTL has no if: write the condition behind where"},
	{regexp.MustCompile(`unexpected token "[.=\[]" \(expected "\("`), "a statement is a call of a function: set(target, value)"},
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
	message := parserError(e.err).Error()
	for _, way := range waysOut {
		if match := way.message.FindStringSubmatchIndex(message); match != nil {
			e.advice = append(e.advice, string(way.message.ExpandString(nil, way.words, message, match)))
			return
		}
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
	if contexts := l.contextsOf(c, e, wrong); len(contexts) > 0 {
		e.advice = append(e.advice, wrong.Text+" is a function of the context "+strings.Join(contexts, " or "))
		return
	}
	for _, candidate := range nearest.Words(wrong.Text, candidates(wrong.Called), maxSuggestions) {
		if err := l.instead(c, e, wrong, candidate); err == nil || offendingIn(e, wrong, candidate, err) > wrong.End {
			e.advice = append(e.advice, fmt.Sprintf("did you mean `%s`?", candidate))
			return
		}
	}
}

// contextsOf returns the contexts in which the component has a function that it lacks in the expression's own.
func (l *linter) contextsOf(c ottlComponent, e *expression, function pricing.Name) []string {
	if !function.Called || c.parse != nil || !strings.Contains(e.err.Error(), "undefined function") {
		return nil
	}
	call := function.Text + "()"
	if e.kind() == Statement && strings.TrimSpace(e.resolved[:function.Start]) != "" {
		call = `set(resource.attributes["a"], ` + call + ")"
	}
	var having []string
	for _, field := range c.fields {
		contexts := []string{field.context}
		if field.contextKey != "" {
			contexts = transformContexts[field.pattern[0]]
		}
		for _, context := range contexts {
			if field.kind != e.kind() || context == "" || context == e.context || slices.Contains(having, context) {
				continue
			}
			attempt := standIn{c, field}.expression(0, context)
			attempt.resolved = call
			if l.tried++; l.tried > maxTried {
				return having
			}
			// It has the function if it accepts the call or refuses its arguments.
			refusal := l.probe(c, []*expression{attempt})
			if refusal == nil || strings.Contains(refusal.Error(), fmt.Sprintf("call to %q", function.Text)) {
				having = append(having, context)
			}
		}
	}
	return having
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
