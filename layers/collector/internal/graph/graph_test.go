package graph

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/headgate/headgate/layers/collector/internal/operation"
)

func ask(t *testing.T, yaml string, env map[string]string) (*Result, error) {
	t.Helper()
	request, err := json.Marshal(map[string]any{"yaml": yaml, "env": env})
	if err != nil {
		t.Fatal(err)
	}
	answer, err := Handle(context.Background(), &operation.Environment{}, request)
	if err != nil {
		return nil, err
	}
	return answer.(*Result), nil
}

func TestPipelinesAreThoseOfTheResolvedConfiguration(t *testing.T) {
	result, err := ask(t, `
receivers: {otlp: {}}
processors: &all {batch: {}}
exporters: {debug: {}}
connectors: {count: }
service:
  pipelines:
    logs/a: &logs
      receivers: [otlp]
      processors: ["${env:FIRST}", batch]
      exporters: [debug, count]
    logs/b: {<<: *logs, processors: []}
    metrics: {receivers: [count], exporters: [debug, gone]}
`, map[string]string{"FIRST": "batch"})
	if err != nil {
		t.Fatal(err)
	}
	otlp, batch := Name{"otlp", "receivers"}, Name{"batch", "processors"}
	debug, count := Name{"debug", "exporters"}, Name{"count", "connectors"}
	want := []Pipeline{
		{"logs/a", "logs", 8, 5, []Name{otlp}, []Name{batch, batch}, []Name{debug, count}},
		{"logs/b", "logs", 12, 5, []Name{otlp}, []Name{}, []Name{debug, count}},
		{"metrics", "metrics", 13, 5, []Name{count}, []Name{}, []Name{debug, {"gone", ""}}},
	}
	if !reflect.DeepEqual(result.Pipelines, want) {
		t.Errorf("got %+v", result.Pipelines)
	}
	components := []Component{
		{"receivers", "otlp", 2, 13}, {"processors", "batch", 3, 19}, {"exporters", "debug", 4, 13}, {"connectors", "count", 5, 14},
	}
	for _, one := range components {
		found := false
		for _, other := range result.Components {
			found = found || other == one
		}
		if !found {
			t.Errorf("no %+v in %+v", one, result.Components)
		}
	}
	if len(result.Components) != len(components) || result.Incomplete {
		t.Errorf("got %+v", result)
	}
}

func TestATextThatTheCollectorCannotReadHasNoGraph(t *testing.T) {
	for _, yaml := range []string{"a: [", "- a"} {
		_, err := ask(t, yaml, nil)
		var refused *operation.Error
		if !errors.As(err, &refused) || refused.Code != "unresolvable" {
			t.Errorf("%s: %v", yaml, err)
		}
	}
}

func TestAnOddShapeHasNoNames(t *testing.T) {
	for _, yaml := range []string{"service: {pipelines: []}", "service: {pipelines: {logs: {receivers: {a: b}}}}", "service: {pipelines: {logs: {receivers: [1, [otlp]]}}}", "receivers: 1"} {
		result, err := ask(t, yaml, nil)
		if err != nil {
			t.Errorf("%s: %v", yaml, err)
			continue
		}
		for _, one := range result.Pipelines {
			if len(one.Receivers) != 0 {
				t.Errorf("%s: %+v", yaml, one)
			}
		}
	}
}

func TestListsThatAreNamedAgainAndAgainEnd(t *testing.T) {
	var text strings.Builder
	text.WriteString("x: &x [" + strings.Repeat("otlp,", 500) + "]\nservice: {pipelines: {")
	for n := range 60 {
		fmt.Fprintf(&text, "logs/%d: {receivers: *x}, ", n)
	}
	result, err := ask(t, text.String()+"}}", nil)
	if err != nil {
		var refused *operation.Error
		if !errors.As(err, &refused) || refused.Code != "too_costly" {
			t.Fatal(err)
		}
		return
	}
	told := 0
	for _, one := range result.Pipelines {
		told += len(one.Receivers)
	}
	if told != maxNames || !result.Incomplete {
		t.Errorf("%d names, incomplete: %v", told, result.Incomplete)
	}
}
