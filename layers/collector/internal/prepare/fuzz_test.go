package prepare

import (
	"context"
	"errors"
	"strings"
	"testing"

	places "github.com/headgate/headgate/layers/collector/internal/source"
	"github.com/headgate/headgate/layers/collector/internal/validate"
)

// FuzzPrepare looks for requests that make the preparation panic, fail without a word for the caller, or start anything
// but the lifted part of the configuration.
func FuzzPrepare(f *testing.F) {
	otlp := `{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":{"stringValue":"x"}}]}]}]}`
	for _, one := range []struct{ yaml, target, signal, sample string }{
		{whole, "logs/app", "logs", "a line\nanother"},
		{whole, "logs/b", "logs", otlp + "\n" + otlp},
		{whole, "traces", "traces", `{"resourceSpans":[{"scopeSpans":[{"spans":[{"name":"x"}]}]}]}`},
		{whole, "metrics", "metrics", `{"resource_metrics":[{"scope_metrics":[{"metrics":[{"sum":{"data_points":[{"as_int":"1"}]}}]}]}]}`},
		{"extensions: {a: &x {directory: /x}}\nprocessors: {p: {storage: a, <<: *x}}\nservice: {pipelines: {logs: {receivers: [otlp], processors: [p], exporters: [debug]}}}", "logs", "logs", "x"},
		{"connectors: {forward: }\nservice: {pipelines: {logs: {receivers: [forward], exporters: [forward]}, ? logs/${env:X:-y} : {receivers: ['${env:F:-forward}'], exporters: [e]}}}", "logs", "logs", "x"},
		{"service: &s {pipelines: &p {logs: {receivers: [a], processors: ['${file:/etc/passwd}', '${yaml:b}'], exporters: [c]}, <<: *p}}", "logs", "logs", "x"},
		{"receivers: {filelog: [a]}\nprocessors: !!binary x\nservice: {pipelines: {logs: {receivers: [filelog], exporters: [x, x]}}}", "logs", "logs", "\x00"},
	} {
		f.Add(one.yaml, one.target, one.signal, one.sample, false)
	}
	f.Add(whole, "logs/app", "logs", "a \xff line", false)
	f.Fuzz(func(t *testing.T, yaml, target, signal, sample string, isOTLP bool) {
		for _, text := range []*string{&yaml, &target, &signal, &sample} {
			*text = strings.ToValidUTF8(*text, "\ufffd") // as in any request, which is JSON
		}
		switch signal {
		case "logs", "traces", "metrics", "profiles":
		default:
			t.Skip("requests name one of the four signals")
		}
		result, err := Prepare(context.Background(), Request{
			YAML: yaml, TargetPipeline: target, SignalType: signal, Sample: &sample, SampleIsOTLP: isOTLP,
		}, collector)
		var problem *Problem
		var refusal *Refusal
		var cost *places.Cost
		switch {
		case errors.As(err, &cost):
			if cost.Message == "" {
				t.Fatal("a text is too costly without a reason")
			}
		case errors.As(err, &problem):
			if problem.Message == "" || problem.Field == "" {
				t.Fatalf("%+v says too little", problem)
			}
		case errors.As(err, &refusal):
			if refusal.Reason == "" {
				t.Fatal("a refusal without a reason")
			}
		case err != nil:
			t.Fatal(err)
		default:
			checkPrepared(t, result)
		}
	})
}

// checkPrepared reads the run's configuration as the collector will, and looks at what would be started.
func checkPrepared(t *testing.T, result *Prepared) {
	if strings.TrimSpace(result.Input) == "" {
		t.Error("there is no input")
	}
	conf, err := validate.Resolved(context.Background(), result.CollectorYAML, nil)
	if err != nil {
		t.Fatalf("the collector cannot read it: %v\n%s", err, result.CollectorYAML)
	}
	run := conf.ToStringMap()
	for id, body := range section(run, "receivers") {
		settings, _ := body.(map[string]any)
		include, _ := settings["include"].([]any)
		if kind := typeOf(id); (kind != "filelog" && kind != "otlpjsonfile") || len(include) != 1 || include[0] != InputFile {
			t.Errorf("the receiver %s reads %v", id, include)
		}
	}
	if count := len(section(run, "receivers")); count != 1 {
		t.Errorf("%d receivers", count)
	}
	for id, body := range section(run, "exporters") {
		settings, _ := body.(map[string]any)
		path, _ := settings["path"].(string)
		if !strings.HasPrefix(id, "file/headgate_") || (path != OutputFile && !strings.HasPrefix(path, OutputFile+".")) {
			t.Errorf("the exporter %s writes to %q", id, path)
		}
	}
	service := section(run, "service")
	telemetry := section(section(service, "telemetry"), "metrics")
	if telemetry["level"] != "none" {
		t.Errorf("the collector's own metrics are at %v", telemetry["level"])
	}
}
