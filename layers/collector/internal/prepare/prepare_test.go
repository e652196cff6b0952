package prepare

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/headgate/headgate/layers/collector/internal/validate"
	"go.yaml.in/yaml/v3"
)

const whole = `
x-common: &common {timeout: 1s}
receivers:
  otlp: {protocols: {grpc: {}}}
  filelog/app:
    include: [/var/log/app.log]
    exclude: [/var/log/old.log]
    start_at: end
    storage: file_storage
    encoding: utf-16
    multiline: {line_start_pattern: '^\d'}
    operators: [{type: json_parser}]
  filelog/second: {include: [/x]}
extensions:
  file_storage: {directory: /var/lib/otelcol}
  health_check: {}
processors:
  batch: {<<: *common, send_batch_size: 1000}
  attributes:
    actions: [{key: double, value: 1.0, action: insert}, {key: text, value: "1.0", action: insert}]
  unused: {}
connectors:
  count: {}
  forward: {}
  spare: {}
exporters: {otlphttp: {endpoint: x}, debug: {}}
service:
  extensions: [health_check, file_storage]
  telemetry: {logs: {level: error, output_paths: [/var/log/otelcol.log]}, traces: {processors: []}}
  pipelines:
    logs/app: {receivers: [filelog/app, filelog/second, spare], processors: [attributes, batch], exporters: [otlphttp, count, forward]}
    logs/b: {receivers: [forward], exporters: [debug]}
    logs/up: {receivers: [otlp], exporters: [spare]}
    traces: {receivers: [otlp], exporters: [forward]}
    traces/b: {receivers: [forward], exporters: [debug]}
    metrics: {receivers: [count, otlp], exporters: [otlphttp]}
`

// connects knows `forward` and `spare`, which keep the signal, and `count`, which makes metrics.
func connects(id, from, to string) bool {
	return (id == "count" && to == "metrics") || (id != "count" && from == to)
}

var collector = Collector{
	Connects: connects,
	Readers:  Readers{Lines: []string{"filelog"}, OTLP: []string{"otlpjsonfile"}},
	Requires: func(string, string) error { return nil },
	Unknown:  func(string, string) (string, bool) { return "", false },
	Changed:  func(string, map[string]string) []validate.ChangedVariable { return nil },
}

func prepared(t *testing.T, request Request) *Prepared {
	t.Helper()
	result, err := Prepare(context.Background(), request, collector)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func logsOf(text, pipeline, sample string) Request {
	return Request{YAML: text, TargetPipeline: pipeline, SignalType: "logs", Sample: &sample}
}

// value is what a path of the prepared configuration holds, written as YAML in one line.
func value(t *testing.T, result *Prepared, path ...string) string {
	t.Helper()
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(result.CollectorYAML), &document); err != nil {
		t.Fatal(err)
	}
	node := at(document.Content[0], path...)
	if node == nil {
		return "nothing"
	}
	node.Style = yaml.FlowStyle
	text, err := yaml.Marshal(node)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

func TestAPipelineIsLiftedWithWhatItsConnectorsFeed(t *testing.T) {
	result := prepared(t, logsOf(whole, "logs/app", "a line"))
	for path, expected := range map[string]string{
		"receivers":                   "{filelog/app: {include: [sample], start_at: beginning, multiline: {line_start_pattern: '^\\d'}, operators: [{type: json_parser}]}}",
		"processors/batch":            "{send_batch_size: 1000, timeout: 1s}",
		"processors/attributes":       `{actions: [{key: double, value: 1.0, action: insert}, {key: text, value: "1.0", action: insert}]}`,
		"processors/unused":           "nothing",
		"connectors":                  "{count: {}, forward: {}}",
		"extensions":                  "nothing",
		"service/extensions":          "nothing",
		"service/telemetry":           "{logs: {level: info, encoding: console}, metrics: {level: none}}",
		"service/pipelines/logs~1app": "{receivers: [filelog/app], processors: [attributes, batch], exporters: [count, forward, file/headgate_logs]}",
		"service/pipelines/logs~1b":   "{receivers: [forward], exporters: [file/headgate_logs]}",
		"service/pipelines/metrics":   "{receivers: [count], exporters: [file/headgate_metrics]}",
		"service/pipelines/traces":    "nothing",
		"service/pipelines/traces~1b": "nothing",
		"service/pipelines/logs~1up":  "nothing",
		"exporters/otlphttp":          "nothing",
		"exporters":                   "{file/headgate_logs: {path: output, flush_interval: 200ms}, file/headgate_metrics: {path: output.1, flush_interval: 200ms}}",
	} {
		parts := strings.Split(path, "/")
		for i := range parts {
			parts[i] = strings.ReplaceAll(parts[i], "~1", "/")
		}
		if got := value(t, result, parts...); got != expected {
			t.Errorf("%s is\n%s, not\n%s", path, got, expected)
		}
	}
	if got := strings.Join(result.Signals, " "); got != "logs metrics" {
		t.Errorf("signals %s", got)
	}
	notes := strings.Join(result.Notes, "\n")
	if len(result.Notes) != 2 || !strings.Contains(notes, "filelog/second") || !strings.Contains(notes, "connectors::count") {
		t.Errorf("notes %q", result.Notes)
	}
	if result.Input != "a line" || result.Records != 1 {
		t.Errorf("input %q", result.Input)
	}
}

func TestASampleEntersWhereItFits(t *testing.T) {
	otlp := `{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":{"stringValue":"x"}}]}]}]}`
	for name, one := range map[string]struct{ pipeline, sample, receivers string }{
		"OTLP, though there is a filelog": {"logs/app", otlp, "{otlpjsonfile/sample: {include: [sample], start_at: beginning, max_log_size: 8MiB, include_file_name: false}}"},
		"lines, without a filelog":        {"logs/up", "x", "{filelog/sample: {include: [sample], start_at: beginning, max_log_size: 8MiB, include_file_name: false}}"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := value(t, prepared(t, logsOf(whole, one.pipeline, one.sample)), "receivers"); got != one.receivers {
				t.Errorf("receivers %s", got)
			}
		})
	}
}

func TestSamplesAreReadAndFaultsAreTold(t *testing.T) {
	logs := `{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":{"stringValue":"x"}}]}]}]}`
	spread := "{\n \"resourceLogs\": [{\"scopeLogs\": [{\"logRecords\": [\n{\"body\": {\"stringValue\": \"x\"}}]}]}]}\n"
	for name, one := range map[string]struct {
		signal, text string
		mustBeOTLP   bool
		input, fault string
		line         int
	}{
		"one document":                 {"logs", logs, false, logs + "\n", "", 0},
		"one over several lines":       {"logs", spread, false, logs + "\n", "", 0},
		"one a line":                   {"logs", logs + "\n\n" + logs, false, logs + "\n" + logs + "\n", "", 0},
		"snake case":                   {"logs", `{"resource_logs":[{"scope_logs":[{"log_records":[{}]}]}]}`, false, `{"resource_logs":[{"scope_logs":[{"log_records":[{}]}]}]}` + "\n", "", 0},
		"lines":                        {"logs", "a\nb", false, "a\nb\n", "", 0},
		"lines of JSON":                {"logs", `{"msg":"x"}`, false, `{"msg":"x"}` + "\n", "", 0},
		"a document cut short":         {"logs", logs[:20], false, logs[:20] + "\n", "", 0},
		"lines where OTLP has to be":   {"logs", "a", true, "", "it is not OTLP/JSON", 1},
		"lines for traces":             {"traces", "a\nb", false, "", "it is not OTLP/JSON", 1},
		"a second document that fails": {"logs", logs + "\n{\"resourceLogs\": [}", false, "", "it is not OTLP/JSON", 2},
		"another signal":               {"traces", logs, false, "", "it contains logs, but the run is for traces", 1},
		"the second is of another":     {"logs", logs + "\n" + `{"resourceSpans":[]}`, false, "", "it contains traces, but the run is for logs", 2},
		"nothing in it":                {"metrics", `{"resourceMetrics":[]}`, false, "", "the sample contains no metrics", 1},
		"a member of the wrong kind":   {"logs", `{"resourceLogs":5}`, false, "", "it is not OTLP/JSON for logs", 1},
		"an id of the wrong length":    {"traces", `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"ab"}]}]}]}`, false, "", "it is not OTLP/JSON for traces", 1},
		"nothing at all":               {"logs", " \n", false, "", "the sample is empty", 1},
	} {
		t.Run(name, func(t *testing.T) {
			read, err := readSample(Request{Sample: &one.text, SignalType: one.signal, SampleIsOTLP: one.mustBeOTLP})
			var problem *Problem
			switch {
			case one.fault == "" && (err != nil || read.inputFor(sampleReceiver{}) != one.input):
				t.Errorf("%v, %+v", err, read)
			case one.fault != "" && (!errors.As(err, &problem) || !strings.Contains(problem.Message, one.fault) || problem.Line != one.line):
				t.Errorf("%v", err)
			}
		})
	}
}

func TestWhatCannotBePreparedIsTold(t *testing.T) {
	for name, one := range map[string]struct{ text, pipeline, field, message string }{
		"no such pipeline":      {whole, "logs", "target_pipeline", `no pipeline "logs"; it has "logs/app", "logs/b"`},
		"no pipelines":          {"a: b", "logs", "target_pipeline", "it has none"},
		"nothing":               {"", "logs", "target_pipeline", "it has none"},
		"another signal":        {whole, "metrics", "signal_type", `"metrics" holds metrics, not logs`},
		"no YAML":               {"a: [", "logs", "yaml", "it is not a collector configuration"},
		"a list":                {"- a", "logs", "yaml", "it is not a collector configuration"},
		"a key twice":           {"a: 1\na: 2", "logs", "yaml", `"a" already defined`},
		"aliases that blow up":  {bomb(), "logs", "yaml", "aliasing"},
		"an alias in itself":    {"a: &a [*a]", "logs", "yaml", "contains itself"},
		"a pipeline of scalars": {"service: {pipelines: {logs: 5}}", "traces", "target_pipeline", `it has "logs"`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Prepare(context.Background(), logsOf(one.text, one.pipeline, "x"), collector)
			var problem *Problem
			if !errors.As(err, &problem) || problem.Field != one.field || !strings.Contains(problem.Message, one.message) {
				t.Errorf("%v", err)
			}
		})
	}
}

func bomb() string {
	text := "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
	for i := 1; i < 9; i++ {
		before := string(rune('0' + i - 1))
		text += "a" + string(rune('0'+i)) + ": &a" + string(rune('0'+i)) + " [" + strings.Repeat("*a"+before+", ", 9) + "*a" + before + "]\n"
	}
	return text
}

func TestWhatReadsOutsideTheConfigurationIsRefusedWhereItIsKept(t *testing.T) {
	for name, one := range map[string]struct {
		processors string
		refused    bool
	}{
		"a file":              {"{batch: {timeout: '${file:/etc/passwd}'}}", true},
		"a URL":               {"{batch: {timeout: '${https://x/y}'}}", true},
		"a secret manager":    {"{batch: {timeout: '${secretsmanager:x}'}}", true},
		"a variable":          {"{batch: {timeout: '${env:T:-1s}'}}", false},
		"YAML":                {"{batch: {timeout: '${yaml:1s}'}}", false},
		"an escaped one":      {"{batch: {metadata_keys: ['$${file:x}']}}", false},
		"an organization's":   {"{batch: {metadata_keys: ['$orgvar:X']}}", false},
		"a file in what goes": {"{batch: {}, other: {a: '${file:/etc/passwd}'}}", false},
	} {
		t.Run(name, func(t *testing.T) {
			text := "processors: " + one.processors + "\nservice: {pipelines: {logs: {receivers: [otlp], processors: [batch], exporters: [debug]}}}"
			_, err := Prepare(context.Background(), logsOf(text, "logs", "x"), collector)
			var refusal *Refusal
			if errors.As(err, &refusal) != one.refused {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestOperatorsThatOpenSomethingAreRefusedWhereverTheyStand(t *testing.T) {
	for operators, refused := range map[string]string{
		"[{type: json_parser}, {type: file_output, path: /outside1}]": "file_output",
		"[{path: x, type: 'stdout'}]":                                 "stdout",
		"[{type: tcp_input, listen_address: '0.0.0.0:1'}]":            "tcp_input",
		"[{type: stdin}]":                            "stdin",
		"[{type: namedpipe}]":                        "namedpipe",
		"[{type: '${env:X:-file_output}', path: x}]": "file_output",
		"'${env:X:-[type: file_output]}'":            "file_output",
		"['${yaml:type: file_output}']":              "file_output",
		"[*writing]":                                 "file_output",
		"[{<<: *writing, path: y}]":                  "file_output",
		"{type: file_output}":                        "file_output",
		"[[{type: file_output}]]":                    "file_output",
		"[{type: json_parser}, {type: add, field: attributes.type, value: stdout}]":        "",
		"[{type: add, field: body, value: {type: file_output}}, {type: noop, id: stdout}]": "",
	} {
		text := "x: &writing {type: file_output, path: x}\n" +
			"receivers: {filelog: {include: [/x], attributes: {type: stdout}, operators: " + operators + "}}\n" +
			"service: {pipelines: {logs: {receivers: [filelog], exporters: [debug]}}}"
		_, err := Prepare(context.Background(), logsOf(text, "logs", "x"), collector)
		var refusal *Refusal
		switch {
		case refused == "" && err != nil:
			t.Errorf("%s: %v", operators, err)
		case refused != "" && (!errors.As(err, &refusal) || !strings.HasSuffix(refusal.Reason, "remove the operator "+refused+" from receivers::filelog")):
			t.Errorf("%s: %v", operators, err)
		}
	}
}

func TestAnExtensionThatAProcessorUsesIsStartedToo(t *testing.T) {
	text := `
extensions: {file_storage/a: {directory: /var/lib/x}, my_sampler: {x: 1}, zpages: {}}
processors: {tail_sampling: {policies: [{name: p, type: my_sampler}]}, other: {storage: file_storage/a, note: zpages}}
service: {extensions: [zpages], pipelines: {logs: {receivers: [otlp], processors: [tail_sampling, other], exporters: [debug]}}}`
	result := prepared(t, logsOf(text, "logs", "x"))
	if got := value(t, result, "extensions"); got != "{file_storage/a: {directory: storage, create_directory: true}, my_sampler: {x: 1}}" {
		t.Errorf("extensions %s", got)
	}
	if got := value(t, result, "service", "extensions"); got != "[file_storage/a, my_sampler]" || len(result.Notes) != 2 {
		t.Errorf("service.extensions %s, notes %q", got, result.Notes)
	}
}

func TestNamesOfPipelinesMayStandInVariables(t *testing.T) {
	text := `
connectors: {forward: {}}
service:
  pipelines:
    logs: {receivers: [otlp], exporters: ["${env:TO:-forward}"]}
    logs/b: {receivers: [forward], exporters: [debug]}`
	if got := value(t, prepared(t, logsOf(text, "logs", "x")), "service", "pipelines", "logs", "exporters"); got != "[forward]" {
		t.Errorf("exporters %s", got)
	}
}

func TestWithoutASampleOnlyTheSignalsAreTold(t *testing.T) {
	result := prepared(t, Request{YAML: whole, TargetPipeline: "logs/app", SignalType: "logs"})
	if result.CollectorYAML != "" || strings.Join(result.Signals, " ") != "logs metrics" {
		t.Errorf("%+v", result)
	}
}

func TestAReplacedComponentThatTheCollectorRefusesIsNoted(t *testing.T) {
	refusing := collector
	refusing.Unknown = func(section, id string) (string, bool) { return "it is unknown", section+id == "receiversfile_log" }
	text := "receivers: {file_log: {include: [x]}}\nexporters: {debug: }\n" +
		"service: {pipelines: {logs: {receivers: [file_log], exporters: [debug]}}}"

	result, err := Prepare(context.Background(), logsOf(text, "logs", "a"), refusing)
	if err != nil {
		t.Fatal(err)
	}
	if want := "receivers::file_log is replaced in the run, but it is unknown"; !slices.Contains(result.Notes, want) {
		t.Errorf("%q", result.Notes)
	}
}
