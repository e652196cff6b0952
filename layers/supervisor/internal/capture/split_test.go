package capture

import (
	"reflect"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

var whole = []string{"connector/forward", "exporter/otlphttp", "processor/batch", "processor/filter"}

const assignedText = `
receivers: {otlp: , hostmetrics: }
processors: {batch: , transform/a: }
exporters: {debug: , otlphttp: }
connectors: {count: }
service:
  pipelines:
    logs/main: &main {receivers: [otlp, hostmetrics], processors: [batch, transform/a], exporters: [debug, otlphttp]}
    logs/copy: *main
    logs/one: {receivers: [otlp], exporters: [debug]}
    logs/counted: {receivers: [otlp, count], exporters: [debug]}
    metrics: {receivers: [count], processors: [batch], exporters: [debug]}
    traces: {receivers: "${env:RECEIVERS}", exporters: [debug]}
`

func split(t *testing.T, pipeline, component string) (map[string]any, error) {
	t.Helper()
	signal, _, _ := strings.Cut(pipeline, "/")
	order := &Order{Signal: signal, Pipeline: pipeline, Component: component, Context: contexts[signal][0], Condition: `name == "$a"`}
	content, err := branch([]byte(assignedText), order, whole, "127.0.0.1:4", "s")
	if err != nil {
		return nil, err
	}
	var added map[string]any
	if err := yaml.Unmarshal(content, &added); err != nil {
		t.Fatal(err)
	}
	return added, nil
}

func TestThePipelineIsSplitAfterTheComponent(t *testing.T) {
	list := func(names ...string) []any {
		all := []any{}
		for _, one := range names {
			all = append(all, one)
		}
		return all
	}
	one := func(receivers, processors, exporters []any) map[string]any {
		return map[string]any{"receivers": receivers, "processors": processors, "exporters": exporters}
	}
	forward := list("forward/headgate_capture")
	branched := func(source []any) map[string]any {
		return one(source, list("filter/headgate_capture", "batch/headgate_capture"), list("otlphttp/headgate_capture"))
	}
	for _, row := range []struct {
		pipeline, component string
		want                map[string]any
	}{
		{"logs/main", "batch", map[string]any{
			"logs/main":                  one(list("otlp", "hostmetrics"), list("batch"), forward),
			"logs/headgate_capture_rest": one(forward, list("transform/a"), list("debug", "otlphttp")),
			"logs/headgate_capture":      branched(forward),
		}},
		{"logs/copy", "transform/a", map[string]any{
			"logs/copy":                  one(list("otlp", "hostmetrics"), list("batch", "transform/a"), forward),
			"logs/headgate_capture_rest": one(forward, list(), list("debug", "otlphttp")),
			"logs/headgate_capture":      branched(forward),
		}},
		{"logs/one", "otlp", map[string]any{
			"logs/one":                   one(list("otlp"), list(), forward),
			"logs/headgate_capture_rest": one(forward, list(), list("debug")),
			"logs/headgate_capture":      branched(forward),
		}},
		{"logs/main", "otlp", map[string]any{"logs/headgate_capture": branched(list("otlp"))}},
		{"metrics", "count", map[string]any{
			"metrics":                       one(list("count"), list(), forward),
			"metrics/headgate_capture_rest": one(forward, list("batch"), list("debug")),
			"metrics/headgate_capture":      branched(forward),
		}},
	} {
		added, err := split(t, row.pipeline, row.component)
		if err != nil {
			t.Errorf("%s after %s: %v", row.pipeline, row.component, err)
			continue
		}
		if got := added["service"].(map[string]any)["pipelines"]; !reflect.DeepEqual(got, row.want) {
			t.Errorf("%s after %s: %v", row.pipeline, row.component, got)
		}
	}
}

func TestTheFilterKeepsWhatTheConditionIsTrueFor(t *testing.T) {
	for pipeline, want := range map[string]map[string]any{
		"logs/one": {"error_mode": "silent", "logs": map[string]any{"log_record": []any{`not (name == "$$a")`}}},
		"metrics":  {"error_mode": "silent", "metrics": map[string]any{"datapoint": []any{`not (name == "$$a")`}}},
	} {
		added, err := split(t, pipeline, map[string]string{"logs/one": "otlp", "metrics": "count"}[pipeline])
		if err != nil {
			t.Fatal(err)
		}
		if got := added["processors"].(map[string]any)["filter/headgate_capture"]; !reflect.DeepEqual(got, any(want)) {
			t.Errorf("%s: %v", pipeline, got)
		}
	}
}

func TestWhatCannotBeSplitIsRefusedBeforeAnythingHappens(t *testing.T) {
	for _, row := range []struct{ pipeline, component, want string }{
		{"logs/none", "otlp", "has no pipeline logs/none"},
		{"logs/main", "debug", "logs/main has no receiver or processor debug"},
		{"logs/counted", "count", "other receivers beside the connector count: name a processor"},
		{"traces", "otlp", "the components of traces are not lists"},
	} {
		if _, err := split(t, row.pipeline, row.component); err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s after %s: %v", row.pipeline, row.component, err)
		}
	}
	order := &Order{Signal: "traces", Pipeline: "logs/one", Component: "otlp", Context: "span"}
	if _, err := branch([]byte(assignedText), order, whole, "", ""); err == nil {
		t.Error("a pipeline of logs is split for traces")
	}
}

func TestAHostCapturesOnlyIfItsCollectorHasWhatItTakes(t *testing.T) {
	if got := Ability(whole); !reflect.DeepEqual(got, []string{can}) {
		t.Errorf("%v", got)
	}
	newer := []string{"connector/forward", "exporter/otlp_http", "processor/batch", "processor/filter"}
	if got := Ability(newer); !reflect.DeepEqual(got, []string{can}) {
		t.Errorf("%v", got)
	}
	for i := range whole {
		if got := Ability(append(append([]string{}, whole[:i]...), whole[i+1:]...)); got != nil {
			t.Errorf("without %s: %v", whole[i], got)
		}
	}
}
