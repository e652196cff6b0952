package prepare

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/headgate/headgate/layers/collector/internal/operation"
	"github.com/headgate/headgate/layers/collector/internal/validate"
)

const enriched = `
receivers: {otlp: {protocols: {grpc: {}}}}
extensions: {oidc/a: {}, unused_extension: {}}
processors:
  k8sattributes/prod: {extract: {metadata: [k8s.pod.name]}}
  resourcedetection: {detectors: [ec2]}
  resource/headgate_instead_of_resourcedetection: {attributes: [{key: own, value: x, action: insert}]}
  lookup: {source: {authenticator: oidc/a}}
  batch: {}
  elsewhere: {}
connectors: {forward: {}}
exporters: {otlphttp: {endpoint: x}, debug: {}}
service:
  pipelines:
    traces: {receivers: [otlp], processors: [k8sattributes/prod, resourcedetection, lookup, batch, undeclared], exporters: [forward]}
    traces/b: {receivers: [forward], processors: [k8sattributes/prod, resource/headgate_instead_of_resourcedetection], exporters: [otlphttp]}
    logs: {receivers: [otlp], processors: [elsewhere], exporters: [debug]}
`

func enrichedRun() Request {
	sample := `{"resourceSpans":[{"scopeSpans":[{"spans":[{"name":"x"}]}]}]}`
	return Request{YAML: enriched, TargetPipeline: "traces", SignalType: "traces", Sample: &sample}
}

func attributesOf(id string, pairs ...string) map[string]map[string]json.RawMessage {
	values := map[string]json.RawMessage{}
	for i := 0; i < len(pairs); i += 2 {
		values[pairs[i]] = json.RawMessage(pairs[i+1])
	}
	return map[string]map[string]json.RawMessage{id: values}
}

func TestSkippedProcessorsAreInNoPipelineOfTheRun(t *testing.T) {
	request := enrichedRun()
	request.Skip = []string{"k8sattributes/prod", "undeclared", "lookup", "resource/headgate_instead_of_resourcedetection"}
	result := prepared(t, request)
	for path, expected := range map[string]string{
		"processors": "{resourcedetection: {detectors: [ec2]}, batch: {}}",
		"extensions": "nothing",
	} {
		if got := value(t, result, path); got != expected {
			t.Errorf("%s is %s, not %s", path, got, expected)
		}
	}
	if got := value(t, result, "service", "pipelines", "traces", "processors"); got != "[resourcedetection, batch]" {
		t.Errorf("the pipeline has %s", got)
	}
	if got := value(t, result, "service", "pipelines", "traces/b", "processors"); got != "nothing" {
		t.Errorf("the second pipeline has %s", got)
	}
	if note := strings.Join(result.Notes, "; "); !strings.Contains(note, "skip leaves out processors::k8sattributes/prod, processors::undeclared") {
		t.Error(note)
	}
}

func TestAttributesAreSetInTheProcessorsPlace(t *testing.T) {
	request := enrichedRun()
	request.Attributes = attributesOf("k8sattributes/prod",
		"text", `"a$b ${env:X} $$ é"`, "number", `5`, "zero", `-0`, "double", `1.0`, "large", `1e3`, "on", `true`, "digits", `"007"`)
	request.Attributes["resourcedetection"] = map[string]json.RawMessage{"host.name": json.RawMessage(`"h"`)}
	result := prepared(t, request)
	standIn := "resource/headgate_instead_of_k8sattributes/prod"
	for path, expected := range map[string]string{
		"traces":   "[" + standIn + ", resource/headgate_instead_of_resourcedetection_, lookup, batch, undeclared]",
		"traces/b": "[" + standIn + ", resource/headgate_instead_of_resourcedetection]",
	} {
		if got := value(t, result, "service", "pipelines", path, "processors"); got != expected {
			t.Errorf("%s has %s, not %s", path, got, expected)
		}
	}
	conf, err := validate.Resolved(context.Background(), result.CollectorYAML, map[string]string{"X": "never"})
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprintf("%#v", conf.Get("processors::"+standIn))
	expected := `map[string]interface {}{"attributes":[]interface {}{` +
		`map[string]interface {}{"action":"upsert", "key":"digits", "value":"007"}, ` +
		`map[string]interface {}{"action":"upsert", "key":"double", "value":1}, ` +
		`map[string]interface {}{"action":"upsert", "key":"large", "value":1000}, ` +
		`map[string]interface {}{"action":"upsert", "key":"number", "value":5}, ` +
		`map[string]interface {}{"action":"upsert", "key":"on", "value":true}, ` +
		`map[string]interface {}{"action":"upsert", "key":"text", "value":"a$b ${env:X} $$ é"}, ` +
		`map[string]interface {}{"action":"upsert", "key":"zero", "value":0}}}`
	if got != expected {
		t.Errorf("the stand-in is\n%s, not\n%s", got, expected)
	}
	settings, _ := conf.Get("processors::" + standIn).(map[string]any)
	if double := settings["attributes"].([]any)[1].(map[string]any)["value"]; fmt.Sprintf("%T", double) != "float64" {
		t.Errorf("1.0 is a %T", double)
	}
	if value(t, result, "processors", "resourcedetection") != "nothing" {
		t.Error("the replaced processor is started")
	}
}

func TestWhatCannotBeLeftOutOrReplacedIsRefused(t *testing.T) {
	many := make([]string, 51)
	for i := range many {
		many[i] = fmt.Sprint("p", i)
	}
	for id, expected := range map[string]string{
		"forward":          `"forward" is a connector, without which`,
		"otlp":             `"otlp" is a receiver, which the sample replaces anyway`,
		"otlphttp":         `"otlphttp" is an exporter, which a recorder replaces anyway`,
		"debug":            `"debug" is a component of no pipeline that this run starts`,
		"elsewhere":        `"elsewhere" is a processor of no pipeline that this run starts`,
		"oidc/a":           `name lookup instead`,
		"unused_extension": `"unused_extension" is an extension`,
		"bathc":            `did you mean "batch"?; the run's processors are k8sattributes/prod, resourcedetection, lookup, batch`,
		"":                 `"" is not a component of the configuration`,
	} {
		request := enrichedRun()
		request.Skip = []string{id}
		requireProblem(t, request, "skip", expected)
		request = enrichedRun()
		request.Attributes = attributesOf(id, "a", `"b"`)
		requireProblem(t, request, "attributes", expected)
	}
	for _, one := range []struct {
		skip            []string
		attributes      map[string]map[string]json.RawMessage
		field, expected string
	}{
		{many, nil, "skip", "it names 51 components: a run leaves out at most 50"},
		{[]string{"batch", "batch"}, nil, "skip", `it names "batch" twice`},
		{[]string{"batch"}, attributesOf("batch", "a", `1`), "skip", "choose one of the two"},
		{nil, attributesOf("batch"), "attributes", `"batch" has no attributes`},
		{nil, attributesOf("batch", "", `1`), "attributes", "has 0 bytes; 1 to 256"},
		{nil, attributesOf("batch", "a", `null`), "attributes", `the value of "a" is not a text, a number or a boolean`},
		{nil, attributesOf("batch", "a", `[1.5]`), "attributes", "is not a text, a number or a boolean"},
		{nil, attributesOf("batch", "a", `{}`), "attributes", "is not a text, a number or a boolean"},
		{nil, attributesOf("batch", "a", `1e999`), "attributes", "is not a text, a number or a boolean"},
		{nil, attributesOf("batch", "a", `9223372036854775808`), "attributes", "is not a 64-bit integer"},
		{nil, attributesOf("batch", "a", `"`+strings.Repeat("x", 4_097)+`"`), "attributes", "has 4097 bytes"},
	} {
		request := enrichedRun()
		request.Skip, request.Attributes = one.skip, one.attributes
		requireProblem(t, request, one.field, one.expected)
	}
}

func TestAnEnvironmentThatACollectorCannotHaveIsRefused(t *testing.T) {
	many := map[string]string{}
	for i := range 101 {
		many[fmt.Sprint("V", i)] = ""
	}
	for _, one := range []struct {
		env      map[string]string
		expected string
	}{
		{many, "it has 101 variables"},
		{map[string]string{"A B": "x"}, `"A B" is not the name of a variable`},
		{map[string]string{"": "x"}, `"" is not the name of a variable`},
		{map[string]string{"LD_PRELOAD": "x"}, "LD_PRELOAD changes the collector's program"},
		{map[string]string{"GODEBUG": "x"}, "GODEBUG changes the collector's program"},
		{map[string]string{"NUL": "a\x00b"}, "the value of NUL has a NUL character"},
		{map[string]string{"LARGE": strings.Repeat("x", 131_066)}, "take 131073 bytes: a run takes at most 131072"},
	} {
		request := enrichedRun()
		request.Env = one.env
		requireProblem(t, request, "env", one.expected)
	}
	request := enrichedRun()
	request.Env = map[string]string{"GODEBUGGER": "1", "PATH": "/x", "LARGE": strings.Repeat("x", 100_000)}
	prepared(t, request)
}

func TestNoValueOfAVariableIsInWhatARunTells(t *testing.T) {
	const secret = "a-secret-of-some-length"
	env := map[string]string{"SECRET": secret, "WAIT": "1h17m", "LIST": "[batch/in-a-list]"}
	for text, expected := range map[string]string{
		"processors: {batch/in-a-list: {timeout: 2h}, batch/x: {timeout: '${env:WAIT}'}}\nservice: {pipelines: {logs: {receivers: [a], processors: '${env:LIST}', exporters: [b]}}}": "note: processors::${env:LIST} waits 2h0m0s",
		"processors: {x: '${file:${env:SECRET}}'}\nservice: {pipelines: {logs: {receivers: [a], processors: [x], exporters: [b]}}}":                                                  "scheme \"file\" is not supported",
		"processors: {x: {operators: [{type: '${env:SECRET}_input'}]}}\nservice: {pipelines: {logs: {receivers: [a], processors: [x], exporters: [b]}}}":                             "remove the operator ${env:SECRET}_input",
		"service: {pipelines: {logs: {receivers: [a], processors: [], exporters: ['${env:${env:SECRET}}']}}}":                                                                        "environment variable \"${env:SECRET}\" has invalid name",
		"processors: {x: {a: 1}}\nservice: {pipelines: {'logs/${env:SECRET}': {receivers: [a], processors: [x], exporters: [b]}}}":                                                   "has no pipeline \"logs\"",
	} {
		request := logsOf(text, "logs", "a line")
		request.Env, request.DurationSeconds = env, 5
		result, err := Prepare(context.Background(), request, collector)
		told := fmt.Sprint(err)
		if err == nil {
			told = "note: " + strings.Join(result.Notes, "\n")
		}
		if strings.Contains(told, secret) || strings.Contains(told, "in-a-list") || !strings.Contains(told, expected) {
			t.Errorf("%s\ntells %s, not %s", text, told, expected)
		}
	}
}

func TestValuesOfVariablesCostNoMoreThanAText(t *testing.T) {
	env := map[string]string{}
	for i := range 40 {
		env[fmt.Sprintf("V%d", i)] = fmt.Sprintf("${env:V%d}${env:V%d}", i+1, i+1)
	}
	env["V40"] = "x"
	request := logsOf("processors: {x: {a: '${env:V0}'}}\nservice: {pipelines: {logs: {receivers: [a], processors: [x], exporters: [b]}}}", "logs", "a line")
	request.Env = env
	if _, err := Prepare(context.Background(), request, collector); err == nil || !strings.Contains(err.Error(), "nothing was checked") {
		t.Error(err)
	}
}

func requireProblem(t *testing.T, request Request, field, expected string) {
	t.Helper()
	_, err := Prepare(context.Background(), request, collector)
	var problem *Problem
	if !errors.As(err, &problem) || problem.Field != field || !strings.Contains(problem.Message, expected) {
		t.Errorf("the problem is %v, not with %s: %s", err, field, expected)
	}
}

func TestNoValueIsInAnErrorOfTheBuild(t *testing.T) {
	reduced := collector
	reduced.Requires = func(section, id string) error {
		return &operation.Error{Code: "component_not_in_build", Message: section + "::" + id + ": this build lacks it"}
	}
	broken := collector
	broken.Requires = func(_, id string) error { return errors.New("cannot ask for " + id) }
	for told, one := range map[string]Collector{
		"component_not_in_build: processors::${env:ID}: this build lacks it": reduced, "cannot ask for ${env:ID}": broken,
	} {
		request := logsOf("service: {pipelines: {logs: {receivers: [a], processors: ['${env:ID}'], exporters: [b]}}}", "logs", "a line")
		request.Env = map[string]string{"ID": "s3cret/id"}
		if _, err := Prepare(context.Background(), request, one); err == nil || err.Error() != told {
			t.Errorf("%v, not %s", err, told)
		}
	}
}
