package policies

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/headgate/headgate/layers/collector/internal/pricing"
)

// Limits of CEL. costLimit is some 30 ms of evaluation.
const (
	costLimit      = 200_000
	recursionLimit = 40
	// maxPatterns bounds the price of an expression's patterns together, as that of all patterns of a configuration.
	maxPatterns = pricing.RequestEffort / 10
	maxCompiled = 500
)

// environment is CEL's standard library without extensions: a function that it does not price, such as the replacing of
// texts, could make any amount of text. It is made on first use, for most configurations have no rules.
var environment = sync.OnceValues(func() (*cel.Env, error) {
	anything := cel.MapType(cel.StringType, cel.DynType)
	return cel.NewEnv(
		cel.OptionalTypes(),
		cel.CrossTypeNumericComparisons(true),
		cel.DefaultUTCTimeZone(true),
		cel.ParserRecursionLimit(recursionLimit),
		cel.ParserExpressionSizeLimit(maxExpression),
		cel.Variable("config", anything),
		cel.Variable("components", cel.ListType(anything)),
		cel.Variable("pipelines", cel.ListType(anything)),
	)
})

// expression is a compiled expression.
type expression struct{ program cel.Program }

// compiledBefore holds compiled expressions: compiling one takes longer than evaluating it.
var compiledBefore = struct {
	sync.Mutex
	byText map[string]*expression
}{byText: map[string]*expression{}}

func compile(text string) (*expression, error) {
	compiledBefore.Lock()
	defer compiledBefore.Unlock()
	if known, is := compiledBefore.byText[text]; is {
		return known, nil
	}
	made, err := newExpression(text)
	if err != nil {
		return nil, err
	}
	if len(compiledBefore.byText) >= maxCompiled {
		clear(compiledBefore.byText)
	}
	compiledBefore.byText[text] = made
	return made, nil
}

func newExpression(text string) (*expression, error) {
	if len(text) > maxExpression {
		return nil, fmt.Errorf("expression: it has %d bytes; the limit is %d", len(text), maxExpression)
	}
	env, err := environment()
	if err != nil {
		return nil, fmt.Errorf("making the CEL environment: %w", err)
	}
	checked, issues := env.Compile(text)
	if issues != nil && issues.Err() != nil {
		return nil, fmt.Errorf("expression: %s", firstIssues(issues))
	}
	if kind := checked.OutputType(); !kind.IsExactType(cel.BoolType) && !kind.IsExactType(cel.DynType) &&
		kind.Kind() != types.ListKind {
		return nil, fmt.Errorf("expression: it gives %s; it must give true, false or a list of component paths", kind)
	}
	if err := affordablePatterns(checked.NativeRep()); err != nil {
		return nil, err
	}
	program, err := env.Program(checked, cel.EvalOptions(cel.OptOptimize), cel.CostTracking(deepCost{}), cel.CostLimit(costLimit),
		cel.InterruptCheckFrequency(10))
	if err != nil {
		return nil, fmt.Errorf("expression: %w", err)
	}
	return &expression{program}, nil
}

// firstIssues returns the positions and messages of the first errors, without the picture of the text that CEL adds.
func firstIssues(issues *cel.Issues) string {
	const most = 3
	var messages []string
	for _, one := range issues.Errors()[:min(most, len(issues.Errors()))] {
		message := fmt.Sprintf("%d:%d: %s", one.Location.Line(), one.Location.Column()+1, one.Message)
		messages = append(messages, message)
	}
	return strings.Join(messages, "; ")
}

// affordablePatterns refuses patterns that are computed, whose price is not known before, and costly ones.
func affordablePatterns(checked *ast.AST) error {
	var refusal error
	total := 0.0
	visit := func(e ast.Expr) {
		if e.Kind() != ast.CallKind || e.AsCall().FunctionName() != overloads.Matches {
			return
		}
		arguments := e.AsCall().Args()
		pattern := arguments[len(arguments)-1]
		if pattern.Kind() != ast.LiteralKind {
			refusal = errors.New("expression: the pattern of matches must be a literal text")
			return
		}
		text, _ := pattern.AsLiteral().Value().(string)
		if total += pricing.Pattern(text); total > maxPatterns {
			refusal = errors.New("expression: its patterns take too long to compile; write shorter repetitions")
		}
	}
	ast.PostOrderVisit(checked.Expr(), ast.NewExprVisitor(visit))
	return refusal
}

// evaluate returns a boolean or a list of texts.
func (x *expression) evaluate(ctx context.Context, c *configuration) (result any, err error) {
	activation, err := cel.NewActivation(map[string]any{
		"config":     c.plain,
		"components": func() any { return c.componentValues() },
		"pipelines":  func() any { return c.pipelineValues() },
	})
	if err != nil {
		return nil, err
	}
	value, _, err := x.program.ContextEval(ctx, activation)
	switch {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("the expression takes more than %v", ruleTime)
	case err != nil && strings.Contains(err.Error(), "cost limit exceeded"):
		return nil, errors.New("the expression costs too much: it visits too many combinations of values")
	case err != nil:
		return nil, withWayOut(err)
	}
	if list, isList := value.(traits.Lister); isList {
		native, err := list.ConvertToNative(reflect.TypeFor[[]string]())
		if err != nil {
			return nil, errors.New("the expression gives a list with something else than component paths")
		}
		return native, nil
	}
	return value.Value(), nil
}

// missingKey is how CEL names a field that is not there, missingField one whose name stands behind a dot.
var (
	missingKey   = regexp.MustCompile(`^no such key: (.*)$`)
	missingField = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`)
)

// withWayOut says beside a missing field how an expression asks for one that a configuration may lack.
func withWayOut(err error) error {
	missing := missingKey.FindStringSubmatch(err.Error())
	switch {
	case missing == nil:
		return err
	case missingField.MatchString(missing[1]):
		return fmt.Errorf(`%w; ask for it with has(x.%s), or read it with x.?%[2]s.orValue("")`, err, missing[1])
	default:
		return fmt.Errorf(`%w; ask for it with "key" in x, or read it with x[?"key"].orValue("")`, err)
	}
}

// deepCost prices comparisons by everything that they may visit. CEL counts only the outermost entries.
type deepCost struct{}

// CallCost returns nil for calls that CEL prices itself.
func (deepCost) CallCost(function, _ string, arguments []ref.Val, _ ref.Val) *uint64 {
	if function != operators.Equals && function != operators.NotEquals && function != operators.In {
		return nil
	}
	left := costLimit
	for _, one := range arguments {
		count(one, &left)
	}
	cost := uint64(costLimit-left)/4 + 1
	return &cost
}

// count takes the number of values within a value off what is left.
func count(value ref.Val, left *int) {
	if *left--; *left <= 0 {
		return
	}
	switch content := value.(type) {
	case types.String:
		*left -= len(content) / 16
	case traits.Mapper:
		for each := content.Iterator(); each.HasNext() == types.True && *left > 0; {
			count(content.Get(each.Next()), left)
		}
	case traits.Lister:
		for each := content.Iterator(); each.HasNext() == types.True && *left > 0; {
			count(each.Next(), left)
		}
	}
}
