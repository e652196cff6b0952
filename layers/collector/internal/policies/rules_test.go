package policies

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/headgate/headgate/layers/collector/internal/validate"
)

const shop = `receivers:
  otlp: {protocols: {grpc: {endpoint: 'localhost:4317'}}}
processors:
  memory_limiter: {check_interval: 1s, limit_percentage: 75}
  batch: {timeout: 5s}
exporters:
  debug: {verbosity: detailed}
  otlp/backend:
    endpoint: backend.example.com:4317
    headers: {team: shop, token: '${env:TOKEN}'}
service:
  pipelines:
    traces: {receivers: [otlp], processors: [memory_limiter, batch], exporters: [otlp/backend, debug]}
    logs: {receivers: [otlp], processors: [memory_limiter], exporters: [otlp/backend]}
`

func ruled(t *testing.T, expression string) *Result {
	t.Helper()
	return asked(t, Request{
		Request: validate.Request{YAML: shop, Env: map[string]string{"TOKEN": "very-secret-word"}},
		Rules:   []Rule{{Name: "own-rule", Expression: expression, Message: "own message", Severity: Error}},
	})
}

func TestARuleIsACELExpressionOverTheConfiguration(t *testing.T) {
	for expression, want := range map[string][]string{
		`true`:                        {" 1"},
		`false`:                       {},
		`"debug" in config.exporters`: {" 1"},
		`config.processors.batch.timeout != "200ms"`:                                                                            {" 1"},
		`config.?exporters.?nope.?tls.?insecure.orValue(false)`:                                                                 {},
		`components.exists(c, c.kind == "exporter" && c.type == "kafka")`:                                                       {},
		`components.filter(c, "otlp" in c.types && c.kind == "exporter").map(c, c.path)`:                                        {"exporters::otlp/backend 8"},
		`components.filter(c, c.used && c.pipelines.size() == 2).map(c, c.path).size() > 3`:                                     {},
		`pipelines.filter(p, p.exporters.exists(e, e.type == "debug")).map(p, p.path)`:                                          {"service::pipelines::traces 13"},
		`pipelines.filter(p, p.signal == "logs" && !p.processors.exists(x, x.type == "batch")).map(p, p.path + "::processors")`: {"service::pipelines::logs::processors 14"},
		`components.filter(c, c.id == "otlp/backend" && c.settings.sending_queue.queue_size == 1000).map(c, c.path)`:            {"exporters::otlp/backend 8"},
		`components.filter(c, c.id == "batch" && c.settings.send_batch_size > 8000.5).map(c, c.path)`:                           {"processors::batch 5"},
		`config.exporters.exists(id, config.exporters[id].?headers.?team.orValue("") == "shop")`:                                {" 1"},
		`config.exporters["otlp/backend"].endpoint.matches("^backend[.]example[.]com:[0-9]+$")`:                                 {" 1"},
		`["exporters::debug::verbosity"]`:                                                                                       {"exporters::debug::verbosity 7"},
	} {
		result := ruled(t, expression)

		got := []string{}
		for _, one := range result.Findings {
			if one.Code == "own-rule" {
				got = append(got, fmt.Sprintf("%s %d", one.ComponentPath, one.Line))
				if one.Message != "own message" || one.Severity != Error {
					t.Errorf("%+v", one)
				}
			}
		}
		if len(result.FailedRules) != 0 || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %q %+v", expression, got, result.FailedRules)
		}
	}
}

func TestARuleThatCannotBeEvaluatedIsToldAndBlocksNothing(t *testing.T) {
	for expression, problem := range map[string]string{
		``:                           "expression",
		`1 +`:                        "expression: 1:4: ",
		`unknown > 1`:                "undeclared reference to 'unknown'",
		`1 + 1`:                      "it must give true, false or a list of component paths",
		`config.exporters.nope == 1`: `no such key: nope; ask for it with has(x.nope), or read it with x.?nope.orValue("")`,
		`config.exporters["otlp/b"].endpoint == ""`: `no such key: otlp/b; ask for it with "key" in x, or read it with x[?"key"].orValue("")`,
		`config.exporters.debug`:                    "must give true, false or a list",
		`[1]`:                                       "something else than component paths",
		`["nope"]`:                                  "not a component path",
		`[config.exporters["otlp/backend"].headers.token]`:        "not a component path",
		`int(config.exporters["otlp/backend"].headers.token) > 1`: "type conversion error",
		`"a".matches(config.exporters.debug.verbosity)`:           "must be a literal",
		`"a".matches("(")`:                   "error parsing regexp",
		strings.Repeat("a", maxExpression+1): "the limit is 4000",
	} {
		result := asked(t, Request{
			Request: validate.Request{YAML: shop, Env: map[string]string{"TOKEN": "very-secret-word"}},
			Rules: []Rule{
				{Name: "broken", Expression: expression, Message: "m", Severity: Error},
				{Name: "other", Expression: "true", Message: "m", Severity: Error},
			},
		})

		if len(result.FailedRules) != 1 || result.FailedRules[0].Name != "broken" ||
			!strings.Contains(result.FailedRules[0].Error, problem) || result.Findings[0].Code != "other" {
			t.Errorf("%q: %+v", expression, result.FailedRules)
		}
		told, err := json.Marshal(result)
		if err != nil || strings.Contains(string(told), "very-secret-word") {
			t.Errorf("%v %s", err, told)
		}
	}
}

func TestARulesNameMessageAndSeverityAreChecked(t *testing.T) {
	good := Rule{Name: "own", Expression: "true", Message: "m", Severity: Error}
	for problem, change := range map[string]func(*Rule){
		"name: it must be":           func(r *Rule) { r.Name = "Own Rule" },
		"name: insecure_tls is":      func(r *Rule) { r.Name = "insecure_tls" },
		"message: it is empty":       func(r *Rule) { r.Message = " " },
		"severity: it must be error": func(r *Rule) { r.Severity = "fatal" },
	} {
		rule := good
		change(&rule)
		result := asked(t, Request{Request: validate.Request{YAML: shop}, Rules: []Rule{rule}})
		if len(result.FailedRules) != 1 || !strings.Contains(result.FailedRules[0].Error, problem) {
			t.Errorf("%s: %+v", problem, result.FailedRules)
		}
	}
}

func TestRulesAreRunOverTheirExamples(t *testing.T) {
	raw := `{"rules": [
		{"name": "no-debug", "expression": "has(config.exporters) && 'debug' in config.exporters", "message": "m", "severity": "error",
		 "examples": [
			{"yaml": "exporters: {debug: }", "violated": true}, {"yaml": "exporters: {nop: }", "violated": true},
			{"yaml": "a: [", "violated": false}, {"yaml": "", "violated": false}]},
		{"name": "no-debug", "expression": "true", "message": "m", "severity": "error"},
		{"name": "broken", "expression": "1 +", "message": "m", "severity": "error", "examples": [{"yaml": "", "violated": true}]}]}`

	answer, err := HandleRules(context.Background(), collector(), json.RawMessage(raw))
	if err != nil {
		t.Fatal(err)
	}
	told, err := json.Marshal(answer)
	if err != nil {
		t.Fatal(err)
	}

	want := `{"rules":[{"name":"no-debug","error":null,"examples":[` +
		`{"violated":true,"as_expected":true,"error":null},{"violated":false,"as_expected":false,"error":null},` +
		`{"violated":false,"as_expected":false,"error":"yaml: yaml: line 1: did not find expected node content"},` +
		`{"violated":false,"as_expected":true,"error":null}]},` +
		`{"name":"no-debug","error":"name: another rule has the name no-debug","examples":[]},` +
		`{"name":"broken","error":"expression: 1:4: Syntax error: mismatched input '\u003cEOF\u003e' expecting `
	if !strings.HasPrefix(string(told), want) {
		t.Errorf("%s\nnot\n%s", told, want)
	}
}
