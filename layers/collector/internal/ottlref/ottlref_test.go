package ottlref

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/headgate/headgate/layers/collector/internal/lint"
	"github.com/headgate/headgate/layers/collector/internal/operation"
	"github.com/headgate/headgate/layers/collector/version/distribution"
)

var (
	environment = &operation.Environment{
		BuildInfo: distribution.Settings().BuildInfo, Factories: distribution.Factories, Lacking: distribution.Lacking,
	}
	handle = Handler()
)

// ask returns the answer to a request, or the code and message of its error.
func ask[A any](t *testing.T, request Request) (A, *operation.Error) {
	t.Helper()
	raw, err := json.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := handle(context.Background(), environment, raw)
	var refused *operation.Error
	if err != nil && !errors.As(err, &refused) {
		t.Fatal(err)
	}
	typed, _ := answer.(A)
	return typed, refused
}

func reference(t *testing.T, component, context string) *Reference {
	t.Helper()
	made, refused := ask[*Reference](t, Request{component, context})
	if refused != nil {
		t.Fatal(refused)
	}
	return made
}

func path(t *testing.T, r *Reference, name string) Path {
	t.Helper()
	index := slices.IndexFunc(r.Paths, func(p Path) bool { return p.Path == name })
	if index < 0 {
		t.Fatalf("%s in %s has no path %s", r.Context, r.Component, name)
	}
	return r.Paths[index]
}

func function(r *Reference, name string) (Function, bool) {
	index := slices.IndexFunc(r.Functions, func(f Function) bool { return f.Name == name })
	if index < 0 {
		return Function{}, false
	}
	return r.Functions[index], true
}

func TestTheListHasEveryComponentThatReadsOTTL(t *testing.T) {
	list, refused := ask[*List](t, Request{})
	if refused != nil {
		t.Fatal(refused)
	}
	contexts := map[string][]string{}
	for _, one := range list.Components {
		contexts[one.Component] = one.Contexts
	}
	want := []string{"resource", "scope", "log", "span", "spanevent", "metric", "datapoint", "profile"}
	for _, context := range want {
		if !slices.Contains(contexts["transform"], context) {
			t.Errorf("transform has %v, not %s", contexts["transform"], context)
		}
	}
	if got := contexts["tail_sampling"]; !slices.Equal(got, []string{"span", "spanevent"}) {
		t.Errorf("tail_sampling has %v", got)
	}
	if _, has := contexts["attributes"]; has {
		t.Error("attributes reads no OTTL, and is listed")
	}
}

func TestAPathHasItsTypeAndWhetherItIsWritten(t *testing.T) {
	log := reference(t, "transform", "log")

	if got := path(t, log, "severity_number"); got.Type != "int" || !got.Writable || got.Description == "" {
		t.Errorf("%+v", got)
	}
	if got := path(t, log, `resource.attributes[""]`); got.Type != "any" || !got.Writable {
		t.Errorf("%+v", got)
	}
	if got := path(t, reference(t, "transform", "metric"), "type"); got.Writable {
		t.Errorf("%+v is read-only", got)
	}
	if got := path(t, reference(t, "filter", "log"), "severity_number"); got.Writable {
		t.Errorf("%+v, but conditions write nothing", got)
	}
	if slices.ContainsFunc(log.Paths, func(p Path) bool { return strings.HasPrefix(p.Path, "span.") }) {
		t.Error("a log record has no span")
	}
}

func TestAFunctionHasTheParametersThatItIsCalledWith(t *testing.T) {
	log := reference(t, "transform", "log")

	got, _ := function(log, "replace_pattern")
	want := "replace_pattern(target: path, regex_pattern: string, replacement: string, function?: function, replacement_format?: string)"
	if got.Kind != "editor" || got.Signature != want || !got.Parameters[4].Optional || got.Description == "" {
		t.Errorf("%+v", got)
	}
	if got, _ := function(log, "Concat"); got.Kind != "converter" || got.Parameters[0].Type != "list of string-like" {
		t.Errorf("%+v", got)
	}
	if _, has := function(reference(t, "filter", "log"), "set"); has {
		t.Error("a condition calls no editor")
	}
}

func TestAFunctionIsOnlyWhereTheComponentHasIt(t *testing.T) {
	for _, row := range []struct {
		component, context, function string
		has                          bool
	}{
		{"transform", "span", "IsRootSpan", true}, {"transform", "log", "IsRootSpan", false},
		{"transform", "metric", "copy_metric", true}, {"transform", "datapoint", "copy_metric", false},
		{"filter", "metric", "HasAttrOnDatapoint", true}, {"transform", "log", "HasAttrOnDatapoint", false},
		{"signaltometrics", "span", "AdjustedCount", true}, {"count", "span", "AdjustedCount", false},
	} {
		if _, has := function(reference(t, row.component, row.context), row.function); has != row.has {
			t.Errorf("%+v", row)
		}
	}
}

func TestAFunctionTellsWhichExpressionsMayCallIt(t *testing.T) {
	transform, values := reference(t, "transform", "metric"), reference(t, "signaltometrics", "span")
	for _, row := range []struct {
		in       *Reference
		function string
		kinds    []string
	}{
		{transform, "set", []string{"statement"}},
		{transform, "Concat", []string{"condition", "statement"}},
		{transform, "HasAttrOnDatapoint", []string{"condition"}},
		{values, "AdjustedCount", []string{"condition", "value_expression"}},
	} {
		if got, _ := function(row.in, row.function); !slices.Equal(got.In, row.kinds) {
			t.Errorf("%s of %s is in %v", row.function, row.in.Component, got.In)
		}
	}
}

func TestAFunctionThatNeedsALambdaIsOnlyWhereThereAreLambdas(t *testing.T) {
	lambdas := lint.Parse("log", lint.ValueExpression, "Filter([1], (a, b) => true)") == nil
	log := reference(t, "transform", "log")
	for name, one := range knownFunctions() {
		needs := slices.ContainsFunc(one.Parameters, func(p Parameter) bool { return p.Type == "lambda" && !p.Optional })
		if _, has := function(log, name); needs && has != lambdas {
			t.Errorf("%s: %t, but lambdas: %t", name, has, lambdas)
		}
	}
}

func TestAnEnumIsOnlyInContextsThatHaveIt(t *testing.T) {
	log, span := reference(t, "transform", "log"), reference(t, "transform", "span")

	if !slices.Contains(log.Enums, Enum{"SEVERITY_NUMBER_WARN", 13, "Severity WARN."}) {
		t.Errorf("%+v", log.Enums)
	}
	if slices.ContainsFunc(span.Enums, func(e Enum) bool { return e.Name == "SEVERITY_NUMBER_WARN" }) {
		t.Errorf("%+v", span.Enums)
	}
}

func TestAnUnknownNameIsRefusedWithThoseThatThereAre(t *testing.T) {
	for _, row := range []struct {
		component, context string
		want               []string
	}{
		{"batch", "log", []string{"component", `"batch"`, "transform", "filter"}},
		{"transform", "logs", []string{"context", `"logs"`, "transform has", "log", "datapoint"}},
		{"transform", "", []string{"context", "datapoint"}},
		{"", "log", []string{"component is missing"}},
		{strings.Repeat("x", 1<<20), "log", []string{"xxx", "…", "transform"}},
		{"transform", strings.Repeat("\u00fc", 1<<20), []string{"…"}},
	} {
		_, refused := ask[*Reference](t, Request{row.component, row.context})
		if refused == nil || refused.Code != "bad_request" || len(refused.Message) > 1000 {
			t.Fatalf("%v", refused)
		}
		for _, want := range row.want {
			if !strings.Contains(refused.Message, want) {
				t.Errorf("%q does not say %q", refused.Message, want)
			}
		}
	}
}

func TestAnAnswerIsMadeOnce(t *testing.T) {
	if reference(t, "transform", "log") != reference(t, "transform", "log") {
		t.Error("the parser was asked again")
	}
}
