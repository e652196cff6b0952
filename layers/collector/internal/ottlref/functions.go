package ottlref

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/headgate/headgate/layers/collector/internal/lint"
	"github.com/headgate/headgate/layers/collector/internal/vocabulary"
	"github.com/iancoleman/strcase"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/ottl"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/ottl/ottlfuncs"
	"github.com/open-telemetry/opentelemetry-collector-contrib/processor/filterprocessor"
	"github.com/open-telemetry/opentelemetry-collector-contrib/processor/transformprocessor"
)

// Function is a function that a component has in a context.
type Function struct {
	Name string `json:"name"`
	// Kind is `editor` or `converter`.
	Kind       string      `json:"kind"`
	Signature  string      `json:"signature"`
	Parameters []Parameter `json:"parameters"`
	// In are the kinds of expressions that may call it: `condition`, `statement`, `value_expression`. Some components
	// have functions in their conditions that their statements do not have, not even behind `where`.
	In          []string `json:"in"`
	Description string   `json:"description"`
}

// Parameter is a parameter of a function, under the name by which a call may give it (`name=value`).
type Parameter struct {
	Name     string `json:"name"`
	Type     string `json:"type"`
	Optional bool   `json:"optional"`
}

// withoutArguments are the functions of components that show their factories to nobody. They take no arguments.
var withoutArguments = []string{"AdjustedCount", "route"}

// knownFunctions are all functions that a component of this build may have, by name.
func knownFunctions() map[string]Function {
	known := map[string]Function{}
	for _, name := range withoutArguments {
		known[name] = newFunction(name, nil)
	}
	// A function has the same arguments in every context.
	addFunctions(known, slices.Collect(maps.Values(ottlfuncs.StandardFuncs[any]())))
	addFunctions(known, transformprocessor.DefaultLogFunctions())
	addFunctions(known, transformprocessor.DefaultSpanFunctions())
	addFunctions(known, transformprocessor.DefaultSpanEventFunctions())
	addFunctions(known, transformprocessor.DefaultMetricFunctions())
	addFunctions(known, transformprocessor.DefaultDataPointFunctions())
	addFunctions(known, transformprocessor.DefaultProfileFunctions())
	addFunctions(known, filterprocessor.DefaultMetricFunctions())
	return known
}

func addFunctions[K any](known map[string]Function, factories []ottl.Factory[K]) {
	for _, factory := range factories {
		known[factory.Name()] = newFunction(factory.Name(), factory.CreateDefaultArguments())
	}
}

// newFunction reads a function's parameters as the parser does: the fields of its arguments, in order.
func newFunction(name string, arguments ottl.Arguments) Function {
	function := Function{
		Name: name, Kind: "converter", Parameters: []Parameter{}, Description: vocabulary.Functions[name],
	}
	if isEditor(name) {
		function.Kind = "editor"
	}
	if arguments != nil {
		fields := reflect.TypeOf(arguments).Elem()
		for i := range fields.NumField() {
			field := fields.Field(i)
			parameter := Parameter{Name: strcase.ToSnake(field.Name), Type: typeName(field.Type)}
			if value, optional := optionalOf(field.Type); optional {
				parameter.Type, parameter.Optional = typeName(value), true
			}
			function.Parameters = append(function.Parameters, parameter)
		}
	}
	function.Signature = name + "(" + strings.Join(texts(function.Parameters), ", ") + ")"
	return function
}

// isEditor tells by the case of the first letter, as the grammar does.
func isEditor(name string) bool {
	first, _ := utf8.DecodeRuneInString(name)
	return unicode.IsLower(first)
}

func texts(parameters []Parameter) []string {
	var all []string
	for _, parameter := range parameters {
		text := parameter.Name + ": " + parameter.Type
		if parameter.Optional {
			text = parameter.Name + "?: " + parameter.Type
		}
		all = append(all, text)
	}
	return all
}

// optionalOf returns the type of an optional argument's value.
func optionalOf(argument reflect.Type) (reflect.Type, bool) {
	if get, has := argument.MethodByName("Get"); has && strings.HasPrefix(argument.Name(), "Optional[") {
		return get.Type.Out(0), true
	}
	return argument, false
}

// argumentTypes are the types of arguments by the name of their Go type, without its parameters. What ends in `-like` is
// converted; a path is written to.
var argumentTypes = map[string]string{
	"Getter": "any", "GetSetter": "path", "Setter": "path",
	"StringGetter": "string", "StringLikeGetter": "string-like", "IntGetter": "int", "IntLikeGetter": "int-like",
	"FloatGetter": "float", "FloatLikeGetter": "float-like", "BoolGetter": "bool", "BoolLikeGetter": "bool-like",
	"ByteSliceLikeGetter": "bytes-like", "TimeGetter": "time", "DurationGetter": "duration",
	"PMapGetter": "map", "PMapGetSetter": "path of a map", "PSliceGetter": "list", "PSliceGetSetter": "path of a list",
	"FunctionGetter": "function", "LambdaExpression": "lambda", "Enum": "enum",
	"string": "literal string", "int64": "literal int", "float64": "literal float", "bool": "literal bool",
}

// typeName returns the name of an argument's type: that of Go if OTTL has a new one.
func typeName(argument reflect.Type) string {
	switch argument.Kind() {
	case reflect.Slice:
		if argument.Elem().Kind() == reflect.Uint8 {
			return "literal bytes"
		}
		return "list of " + typeName(argument.Elem())
	case reflect.Pointer:
		return typeName(argument.Elem())
	}
	name, _, _ := strings.Cut(argument.Name(), "[")
	if plain, known := argumentTypes[name]; known {
		return plain
	}
	return name
}

// call is a call of the function with as many arguments as it requires. The parser reads them in order and stops at the
// first one of a wrong type, and the last one may be a lambda, which tells whether it has lambdas.
func (f Function) call() string {
	var arguments []string
	for _, parameter := range f.Parameters {
		if parameter.Optional {
			continue
		}
		text, known := examples[parameter.Type]
		if !known {
			text = `"a"`
		}
		arguments = append(arguments, text)
	}
	return f.Name + "(" + strings.Join(arguments, ", ") + ")"
}

// examples are arguments of the types that a text is not.
var examples = map[string]string{"map": "{}", "list": "[]", "lambda": "(a, b) => true", "int": "1", "bool": "true"}

// functions are those that the grammar has, in the order of their names.
func functions(grammar *lint.Grammar) []Function {
	all := []Function{}
	known := knownFunctions()
	callers := callersIn(grammar)
	for _, name := range slices.Sorted(maps.Keys(known)) {
		function := known[name]
		for _, one := range callers {
			text := one.converter
			if function.Kind == "editor" {
				text = one.editor
			}
			if text != "" && has(function, grammar.Try(one.kind, strings.Replace(text, "CALL", function.call(), 1))) {
				function.In = append(function.In, string(one.kind))
			}
		}
		if len(function.In) > 0 {
			all = append(all, function)
		}
	}
	return all
}

// caller is an expression of a kind with a call of a converter, and of an editor. It is empty if that cannot be.
type caller struct {
	kind              lint.Kind
	converter, editor string
}

func callersIn(grammar *lint.Grammar) []caller {
	all := []caller{{kind: lint.Condition, converter: "CALL == nil"}}
	if grammar.Reads(lint.Statement) {
		all = append(all, caller{kind: lint.Statement, converter: anyStatement(grammar) + " where CALL == nil", editor: "CALL"})
	}
	if grammar.Reads(lint.ValueExpression) {
		all = append(all, caller{kind: lint.ValueExpression, converter: "CALL"})
	}
	return all
}

// anyStatement is a statement that the component accepts, so that it goes on to read the condition behind it.
func anyStatement(grammar *lint.Grammar) string {
	statements := []string{"set(cache, cache)", "route()"}
	accepted := slices.IndexFunc(statements, func(text string) bool { return grammar.Try(lint.Statement, text) == nil })
	return statements[max(accepted, 0)]
}

// has reports whether the parser has the function that it was asked for. It may still refuse the arguments.
func has(function Function, refusal error) bool {
	if refusal == nil {
		return true
	}
	text := refusal.Error()
	return !strings.Contains(text, fmt.Sprintf("undefined function %q", function.Name)) && !strings.Contains(text, "enableLambda")
}
