package prepare

import (
	"context"
	"errors"
	"strings"
	"testing"
)

func problemOf(t *testing.T, request Request) *Problem {
	t.Helper()
	_, err := Prepare(context.Background(), request, gated)
	var problem *Problem
	if !errors.As(err, &problem) {
		t.Fatalf("%v is not a problem", err)
	}
	return problem
}

var gated = func() Collector {
	with := collector
	with.Version = "0.1.0"
	with.Gates = []Gate{{ID: "exporter.fast"}, {ID: "old.one", Fixed: "it is stable", Enabled: true}, {ID: "bad.one", Fixed: "it is deprecated"}}
	return with
}()

func lined(receiver string) string {
	return "receivers: {filelog: {include: [/x]" + receiver + "}}\nexporters: {debug: {}}\n" +
		"service: {telemetry: {resource: {service.instance.id: one}}, pipelines: {logs: {receivers: [filelog], exporters: [debug]}}}\n"
}

func TestTheReceiversOwnLimitOfALineStays(t *testing.T) {
	given := prepared(t, logsOf(lined(", max_log_size: 64KiB"), "logs", "a line"))
	none := prepared(t, logsOf(lined(""), "logs", "a line"))
	if size := value(t, given, "receivers", "filelog", "max_log_size"); size != "64KiB" {
		t.Error(size)
	}
	if size := value(t, none, "receivers", "filelog", "max_log_size"); size != "nothing" {
		t.Error(size)
	}
}

func TestTheLastLineBreakIsThatOfTheSampleWhereItCounts(t *testing.T) {
	for _, one := range []struct{ receiver, sample, input string }{
		{"", "a", "a\n"},
		{"", "a\n", "a\n"},
		{"", "a\n\n", "a\n\n"},
		{", multiline: {line_end_pattern: ';'}", "a;b;", "a;b;"},
		{", multiline: {line_end_pattern: ';'}", "a;b;\n", "a;b;\n"},
	} {
		if result := prepared(t, logsOf(lined(one.receiver), "logs", one.sample)); result.Input != one.input {
			t.Errorf("%s %q: %q", one.receiver, one.sample, result.Input)
		}
	}
}

func TestTheConfiguredResourceOfTheCollectorStays(t *testing.T) {
	result := prepared(t, logsOf(lined(""), "logs", "a"))
	if resource := value(t, result, "service", "telemetry", "resource"); resource != "{service.instance.id: one}" {
		t.Error(resource)
	}
}

func TestMetricsWithoutDataPointsAreASample(t *testing.T) {
	sample := `{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"name":"bare"}]}]}]}`
	result := prepared(t, Request{YAML: whole, TargetPipeline: "metrics", SignalType: "metrics", Sample: &sample})
	if result.Records != 0 || !strings.Contains(result.Input, "bare") {
		t.Errorf("%d records of %q", result.Records, result.Input)
	}
	none := `{"resourceMetrics":[{}]}`
	problem := problemOf(t, Request{YAML: whole, TargetPipeline: "metrics", SignalType: "metrics", Sample: &none})
	if problem.Message != "line 1: the sample contains no metrics" {
		t.Error(problem.Message)
	}
}

const otlpLine = `{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":{"stringValue":"x"}}]}]}]}`

func TestTheFormatOfASampleIsTheCallersIfGiven(t *testing.T) {
	request := logsOf(lined(""), "logs", otlpLine)
	guessed := prepared(t, request)
	request.SampleFormat = "raw"
	raw := prepared(t, request)
	request.SampleFormat = "otlp"
	otlp := prepared(t, request)
	if value(t, guessed, "receivers", "otlpjsonfile/sample") == "nothing" || value(t, otlp, "receivers", "otlpjsonfile/sample") == "nothing" {
		t.Error("OTLP/JSON was not taken as such")
	}
	if value(t, raw, "receivers", "filelog", "include") != "[sample]" || raw.Input != otlpLine+"\n" {
		t.Errorf("%s %q", raw.CollectorYAML, raw.Input)
	}
	if !strings.Contains(guessed.NothingOut, "receivers::filelog; if") || otlp.NothingOut != "" || raw.NothingOut != "" {
		t.Errorf("%q, %q, %q", guessed.NothingOut, otlp.NothingOut, raw.NothingOut)
	}
}

func TestANamedSampleIsReadByItsName(t *testing.T) {
	request := logsOf(lined(", include_file_path: true"), "logs", "a line")
	request.SampleName = "/var/log/pods/ns_pod-0_uid/app/0.log"
	if include := value(t, prepared(t, request), "receivers", "filelog", "include"); include != "["+request.SampleName+"]" {
		t.Error(include)
	}
}

func TestWhatIsSaidWronglyOfASampleIsNamed(t *testing.T) {
	for _, one := range []struct {
		change      func(*Request)
		field, said string
	}{
		{func(r *Request) { r.SampleFormat = "xml" }, "sample_format", "use raw or otlp"},
		{func(r *Request) { r.SampleFormat = "otlp" }, "sample", "it is not OTLP/JSON"},
		{func(r *Request) { r.SampleFormat, r.SampleIsOTLP = "raw", true }, "sample_format", "send raw lines as text"},
		{func(r *Request) { r.SampleFormat, r.TargetPipeline, r.SignalType = "raw", "traces", "traces" }, "sample_format", "the run is for traces"},
		{func(r *Request) { r.SampleName = "/etc/passwd" }, "sample_name", "under /etc"},
		{func(r *Request) { text := otlpLine; r.SampleName, r.Sample = "/var/x", &text }, "sample_name", "has no file name"},
		{func(r *Request) { r.FeatureGates = []string{"+exporter.fats"} }, "feature_gates", `did you mean "exporter.fast"?`},
		{func(r *Request) { r.FeatureGates = []string{"-old.one"} }, "feature_gates", "cannot be disabled, because it is stable"},
		{func(r *Request) { r.FeatureGates = []string{"bad.one"} }, "feature_gates", "cannot be enabled, because it is deprecated"},
		{func(r *Request) { r.FeatureGates = []string{"a,--config=x"} }, "feature_gates", "is not a feature gate"},
		{func(r *Request) { r.FeatureGates = []string{"+-exporter.fast"} }, "feature_gates", "is not a feature gate"},
		{func(r *Request) { r.FeatureGates = []string{strings.Repeat("x", 1_000_000)} }, "feature_gates", "is not a feature gate"},
		{func(r *Request) { r.FeatureGates = []string{"exporter.fast", "-exporter.fast"} }, "feature_gates", "named twice"},
		{func(r *Request) { r.FeatureGates = make([]string, 21) }, "feature_gates", "at most 20"},
	} {
		request := logsOf(whole, "logs/app", "a line")
		one.change(&request)
		problem := problemOf(t, request)
		if problem.Field != one.field || !strings.Contains(problem.Message, one.said) || len(problem.Message) > 400 {
			t.Errorf("%s: %s", problem.Field, problem.Message)
		}
	}
}

func TestGatesThatTheCollectorHasAreTaken(t *testing.T) {
	request := logsOf(whole, "logs/app", "a line")
	request.FeatureGates = []string{"-exporter.fast", "+old.one", "-bad.one"}
	if _, err := Prepare(context.Background(), request, gated); err != nil {
		t.Error(err)
	}
}

func TestAWaitThatIsLongerThanTheRunIsNoted(t *testing.T) {
	for _, one := range []struct{ processors, note string }{
		{"interval: {}", "processors::interval waits 1m0s (interval), and the run lasts 5s: what it holds at the end may not come out; a run lasts 60 s at most"},
		{"interval/x: {interval: 20s}", "processors::interval/x waits 20s (interval), and the run lasts 5s: what it holds at the end may not come out; raise duration_seconds"},
		{"interval: {interval: '${env:WAIT:-20s}'}", "processors::interval waits 20s"},
		{"tail_sampling: {policies: []}", "processors::tail_sampling waits 30s (decision_wait)"},
		{"group_by_trace: {wait_duration: 6s}", "processors::group_by_trace waits 6s"},
		{"batch: {timeout: 1h}", "processors::batch waits 1h0m0s (timeout), and the run lasts 5s: what it holds comes out when the run stops"},
		{"interval: {interval: 1s}", ""},
		{"batch: {}", ""},
		{"interval: {interval: nonsense}", ""},
		{"resourcedetection: {detectors: [system, ec2, gcp]}", "processors::resourcedetection finds nothing in a run for ec2, gcp"},
		{"resourcedetection: {}", "finds nothing in a run for env"},
		{"resourcedetection: {detectors: [system]}", ""},
	} {
		name, _, _ := strings.Cut(one.processors, ":")
		request := logsOf("processors: {"+one.processors+"}\nservice: {pipelines: {logs: {receivers: [r], processors: ["+name+"], exporters: [e]}}}\n", "logs", "a")
		request.DurationSeconds = 5
		notes := strings.Join(prepared(t, request).Notes, "\n")
		if (one.note == "") != (notes == "") || !strings.Contains(notes, one.note) {
			t.Errorf("%s: %q", one.processors, notes)
		}
	}
}
