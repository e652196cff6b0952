package lint

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/headgate/headgate/layers/collector/internal/operation"
)

// FuzzLintConfiguration looks for texts that make the linter panic, refuse without a known word, or point outside of
// the text.
func FuzzLintConfiguration(f *testing.F) {
	for _, text := range []string{
		onLogs(`body == "x"`, `body = 1`, `IsMatch(1, Foo())`),
		"processors:\n  transform: &t\n    error_mode: ignore\n    log_statements:\n      - context: log\n        statements: [\"set(body, 1) where body == nil\", 'keep_keys(attributes, [\"a\"])']\n  transform/b: *t\n",
		"processors:\n  transform:\n    trace_statements:\n      - set(span.name, \"x\")\n      - {conditions: ['span.kind == SPAN_KIND_SERVER'], statements: [\"limit(attributes, 3, [])\"]}\n",
		"processors:\n  tail_sampling:\n    policies:\n      - {name: a, type: ottl_condition, ottl_condition: {span: ['attributes[\"k\"] == 1'], spanevent: []}}\n",
		"connectors:\n  routing:\n    table:\n      - {context: log, condition: 'attributes[\"a\"] == \"${env:A:-b}\"', pipelines: [logs/a]}\n  count: {logs: {n: {conditions: ['body != \"\"']}}}\n",
		"processors:\n  filter: {metrics: {metric: [\"type == METRIC_DATA_TYPE_SUM\\x20\"], datapoint: [|\n    value_int > 3\n  ]}}\n",
		"processors:\n  attributes: {include: {match_type: expr}}\n  logdedup: {conditions: [true, 1, null, [a]]}\n  <<: {filter/x: {logs: {log_record: ['true']}}}\n",
		"a: &a [*a]\n", "processors: [filter]\n", "? {processors: x}\n: y\n", "\ufeffprocessors: {filter: }\n", ":::",
	} {
		f.Add(text)
	}
	f.Add("processors: {filter: {logs: {log_record: ['body == \"\xff\"']}}}\n")
	f.Fuzz(func(t *testing.T, text string) {
		text = inJSON(text)
		checkLint(t, text, Request{YAML: &text})
	})
}

// FuzzLintExpression does the same with one expression in a context.
func FuzzLintExpression(f *testing.F) {
	for _, one := range [][3]string{
		{"condition", "log", `IsMatch(body, "^a.*$") and not (severity_number > 9 or body == nil)`},
		{"statement", "span", `set(attributes["a"], Concat([name, "x"], ",")) where status.code == STATUS_CODE_ERROR`},
		{"value_expression", "datapoint", `value_double * 2.5e3 - 0x0a / -1`},
		{"statement", "metric", "replace_pattern(name, \"(?P<a>\\\\d+)\", \"$${1}\", SHA256)"},
		{"condition", "resource", `attributes["a"]["b"][0] == {"k": [1, 2.0, true, 0x00]}`},
		{"condition", "scope", `name == "\"\\" or ((((((((true))))))))`},
		{"condition", "spanevent", `event_index =! 1 && a || b`},
	} {
		f.Add(one[0], one[1], one[2])
	}
	f.Fuzz(func(t *testing.T, kind, context, expression string) {
		context, expression = inJSON(context), inJSON(expression)
		request := Request{Context: &context}
		switch kind {
		case "statement":
			request.Statements = []string{expression}
		case "value_expression":
			request.ValueExpressions = []string{expression}
		default:
			request.Conditions = []string{expression}
		}
		checkLint(t, expression, request)
	})
}

// inJSON is a text as it is in any request.
func inJSON(text string) string { return strings.ToValidUTF8(text, "\ufffd") }

var refusals = []string{"bad_request", "unknown_context", "yaml_syntax", "too_costly", "too_many_expressions"}

// checkLint holds what must be true of the answer to any request whose places lie in `text`.
func checkLint(t *testing.T, text string, request Request) {
	raw, err := json.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := Handle(context.Background(), collector(), raw)
	var refused *operation.Error
	if errors.As(err, &refused) {
		if !slices.Contains(refusals, refused.Code) || refused.Message == "" {
			t.Fatalf("refused with %+v", refused)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	result := answer.(*Result)
	if result.Checked != len(result.Items) {
		t.Fatalf("checked %d of %d", result.Checked, len(result.Items))
	}
	wrong := slices.ContainsFunc(result.Items, func(one Item) bool { return one.Error != nil }) ||
		slices.ContainsFunc(result.Skipped, func(one Skipped) bool { return strings.HasPrefix(one.Reason, "a string is expected") })
	if result.Valid == wrong {
		t.Fatalf("valid: %v with %+v", result.Valid, result.Items)
	}
	// YAML has line breaks that are none elsewhere, and never more lines than such characters.
	most := utf8.RuneCountInString(text) + 1
	places := []Location{}
	for _, one := range result.Items {
		if one.Error != nil && *one.Error == "" {
			t.Errorf("%+v says too little", one)
		}
		places = append(places, one.Location)
	}
	for _, one := range result.Skipped {
		if one.Reason == "" {
			t.Errorf("%+v says too little", one)
		}
		places = append(places, one.Location)
	}
	for _, place := range places {
		if place.Line < 1 || place.Column < 1 || place.Line > most || place.Column > most || place.Path == "" {
			t.Errorf("%+v is outside of the text", place)
		}
	}
}
