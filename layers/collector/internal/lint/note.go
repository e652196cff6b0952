package lint

import (
	"fmt"
	"strings"

	"github.com/headgate/headgate/layers/collector/internal/pricing"
)

// note is one kind of mistake in expressions that are valid. Noted and Silent are its examples, and its tests: the
// component accepts all of them, and only the first have a note of this code.
type note struct {
	code string
	// wayOut says what to write instead.
	wayOut string
	noted  []noteExample
	silent []noteExample
	// check returns the message, "" for none.
	check func(e *parsedExpression) string
	// once is set for a note that the first statement of a group has for all of them: the way out is the same.
	once bool
}

// noteExample is a list of statements (or conditions) in the place of an expression. The last one is judged.
type noteExample struct {
	// field is `log_statements` and the like of a transform processor, or the filter's `logs.log_record` and the like.
	field string
	texts []string
}

// inGroup is an example's text that is a group of a transform processor with one statement, and a condition if there is one.
func inGroup(context, condition, statement string) string {
	conditions := ""
	if condition != "" {
		conditions = fmt.Sprintf(", conditions: [%q]", condition)
	}
	return fmt.Sprintf("{context: %s%s, statements: [%q]}", context, conditions, statement)
}

// notes are the kinds. A new one is a file and a line here.
var notes = []*note{
	lastRecordWins,
	noData,
	missingGroup,
	keysNotAnchored,
	readAfterDelete,
	numberAsText,
	exclusive,
	keyLiteral,
}

// Note is what there is to say about a valid expression.
type Note struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	WayOut  string `json:"way_out"`
}

// parsedExpression is an accepted expression with its tokens.
type parsedExpression struct {
	text    string
	kind    Kind
	context string
	tokens  []pricing.Token
	// group is the same for the statements and conditions that stand together, and conditions are those of the group.
	group      string
	conditions []*parsedExpression
	// before are the statements that run before it, or the conditions before it in its list.
	before []*parsedExpression
}

func parsed(e *expression) *parsedExpression {
	return &parsedExpression{
		text: e.resolved, kind: e.kind(), context: e.context, tokens: pricing.Tokenize(e.resolved), group: e.holder(),
	}
}

// noteAll adds the notes on the accepted expressions of a component. One that flattens gives each log record a resource.
func noteAll(expressions []*expression, flattens bool) {
	all := map[*expression]*parsedExpression{}
	conditions := map[string][]*parsedExpression{}
	for _, e := range expressions {
		if e.err == nil {
			all[e] = parsed(e)
			if e.kind() == Condition {
				conditions[e.holder()] = append(conditions[e.holder()], all[e])
			}
		}
	}
	lists, ofGroup := map[string][]*parsedExpression{}, map[string]*firstOfGroup{}
	for _, e := range expressions {
		accepted := all[e]
		if accepted == nil {
			continue
		}
		if key := e.list(); key != "" {
			accepted.before = lists[key]
			lists[key] = append(lists[key], accepted)
		}
		if accepted.kind == Statement {
			accepted.conditions = conditions[accepted.group]
		}
		for _, kind := range notes {
			message := kind.check(accepted)
			if message == "" || flattens && kind == lastRecordWins && strings.Contains(accepted.group, "::log_statements") {
				continue
			}
			if first := ofGroup[kind.code+accepted.group]; kind.once && first != nil {
				first.more++
				continue
			}
			ofGroup[kind.code+accepted.group] = &firstOfGroup{of: e, at: len(e.findings)}
			e.findings = append(e.findings, Note{Code: kind.code, Message: message, WayOut: kind.wayOut})
		}
	}
	for _, first := range ofGroup {
		if first.more > 0 {
			first.of.findings[first.at].Message += fmt.Sprintf("; so it is in %d more of this group", first.more)
		}
	}
}

// firstOfGroup is the place of a note that stands for a group, and how many more it stands for.
type firstOfGroup struct {
	of       *expression
	at, more int
}

// list is the same for the statements that a component runs one after the other, in all groups of a field, and for the
// conditions of a list. It is empty for a condition that stands alone.
func (e *expression) list() string {
	if e.kind() != Condition {
		list, _, _ := strings.Cut(e.path, "[")
		return list
	}
	if !strings.HasSuffix(e.path, "]") {
		return ""
	}
	return e.path[:strings.LastIndexByte(e.path, '[')]
}

// holder is the same for the statements and conditions of a group.
func (e *expression) holder() string {
	if end := strings.LastIndex(e.path, "::"); end > strings.IndexByte(e.path, '[') {
		return e.path[:end]
	}
	return e.list()
}

// call is a function with its arguments.
type call struct {
	name      string
	arguments [][]pricing.Token
	// after is the index of the token behind it.
	after int
}

// calls returns the functions that are called among some tokens, inner ones as well.
func calls(tokens []pricing.Token) []call {
	var found []call
	for _, name := range pricing.Names(tokens) {
		if !name.Called {
			continue
		}
		closing := pricing.Closing(tokens, name.After)
		one := call{name: name.Text, after: closing + 1}
		if inner := tokens[min(name.After+1, len(tokens)):closing]; len(inner) > 0 {
			one.arguments = splitAtCommas(inner)
		}
		found = append(found, one)
	}
	return found
}

func splitAtCommas(tokens []pricing.Token) [][]pricing.Token {
	var parts [][]pricing.Token
	depth, from := 0, 0
	for i, t := range tokens {
		depth += pricing.Nesting(t)
		if depth == 0 && t.Kind == pricing.PunctuationToken && t.Text == "," {
			parts, from = append(parts, tokens[from:i]), i+1
		}
	}
	return append(parts, tokens[from:])
}

// paths returns the paths among some tokens: names that are not called, with what follows their dots and brackets.
func paths(tokens []pricing.Token) []string {
	var found []string
	for _, name := range pricing.Names(tokens) {
		if name.Called || name.Segment || isEnum(name.Text) || name.Text == "nil" || isLabel(tokens, name) {
			continue
		}
		var path strings.Builder
		for i := name.First; i < len(tokens); i++ {
			switch t := tokens[i]; {
			case i < name.After, t.Text == ".":
				path.WriteString(t.Text)
			case t.Text == "[":
				closing := pricing.Closing(tokens, i)
				for _, inner := range tokens[i:min(closing+1, len(tokens))] {
					path.WriteString(inner.Text)
				}
				i = closing
			case pricing.IsName(t) && (tokens[i-1].Text == "." || tokens[i-1].End == t.Start && pricing.IsName(tokens[i-1])):
				path.WriteString(t.Text)
			default:
				i = len(tokens)
			}
		}
		found = append(found, path.String())
	}
	return found
}

// isLabel tells whether a name is that of an argument, `mode="update"`, or of a lambda's parameter.
func isLabel(tokens []pricing.Token, name pricing.Name) bool {
	return name.After < len(tokens) && tokens[name.After].Text == "="
}

// isEnum tells whether a name is that of a constant, which are in upper case.
func isEnum(name string) bool { return name == strings.ToUpper(name) }

// where returns the tokens of a statement before its `where` and those behind it; of a condition, none and all.
func (e *parsedExpression) where() (statement, condition []pricing.Token) {
	if e.kind == Condition {
		return nil, e.tokens
	}
	for i, t := range e.tokens {
		if t.Kind == pricing.LowerToken && t.Text == "where" {
			return e.tokens[:i], e.tokens[i+1:]
		}
	}
	return e.tokens, nil
}

// text returns what some tokens stand for in the expression.
func (e *parsedExpression) textOf(tokens []pricing.Token) string {
	if len(tokens) == 0 {
		return ""
	}
	return e.text[tokens[0].Start:tokens[len(tokens)-1].End]
}
