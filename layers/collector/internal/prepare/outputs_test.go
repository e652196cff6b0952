package prepare

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func withOutputs(pipelines ...string) Request {
	request := logsOf(whole, "logs/app", "a line\n")
	request.OutputPipelines = pipelines
	return request
}

func TestOnlyWhatTheNamedPipelinesExportIsRecorded(t *testing.T) {
	result := prepared(t, withOutputs("logs/b"))

	for path, expected := range map[string]string{
		"logs/app": "[count, forward, nop/headgate_not_recorded]",
		"logs/b":   "[file/headgate_logs]",
		"metrics":  "[nop/headgate_not_recorded]",
	} {
		if found := value(t, result, "service", "pipelines", path, "exporters"); found != expected {
			t.Errorf("%s: %s", path, found)
		}
	}
	if found := value(t, result, "exporters", NotRecordedID); found != "{}" {
		t.Errorf("%s: %s", NotRecordedID, found)
	}
	if !slices.Equal(result.Signals, []string{"logs"}) {
		t.Errorf("signals: %v", result.Signals)
	}
	if note := "output_pipelines: the output has only what logs/b put out"; !slices.Contains(result.Notes, note) {
		t.Errorf("notes: %q", result.Notes)
	}
}

func TestTheSignalsAreThoseOfTheNamedPipelines(t *testing.T) {
	result := prepared(t, withOutputs("metrics"))

	if !slices.Equal(result.Signals, []string{"logs", "metrics"}) {
		t.Errorf("signals: %v", result.Signals)
	}
	if found := value(t, result, "service", "pipelines", "metrics", "exporters"); found != "[file/headgate_metrics]" {
		t.Error(found)
	}
}

func TestWithoutNamesOrWithAllOfThemEverythingIsRecorded(t *testing.T) {
	plain := prepared(t, withOutputs())
	all := prepared(t, withOutputs("metrics", "logs/b", "logs/app"))

	if plain.CollectorYAML != all.CollectorYAML || strings.Contains(all.CollectorYAML, "nop/") {
		t.Error(all.CollectorYAML)
	}
}

func TestAPipelineOfWhichNothingCanBeRecordedIsAProblem(t *testing.T) {
	many := make([]string, mostOutputPipelines+1)
	for i := range many {
		many[i] = fmt.Sprint("logs/", i)
	}
	for message, pipelines := range map[string][]string{
		`the run does not reach a pipeline "traces/b"; it reaches "logs/app", "metrics", "logs/b"`: {"logs/b", "traces/b"},
		`the run does not reach a pipeline "` + strings.Repeat("x", 60) + `…"; it reaches `:        {strings.Repeat("x", 100_000)},
		`it names "logs/b" twice`:               {"logs/b", "logs/b"},
		`it names 21 pipelines: use at most 20`: many,
	} {
		_, err := Prepare(context.Background(), withOutputs(pipelines...), collector)
		var problem *Problem
		if !errors.As(err, &problem) || problem.Field != "output_pipelines" || !strings.HasPrefix(problem.Message, message) {
			t.Errorf("%v", err)
		}
	}
	request := logsOf(strings.Replace(whole, "exporters: [otlphttp, count, forward]", "exporters: [forward]", 1), "logs/app", "a")
	request.OutputPipelines = []string{"logs/app"}
	if _, err := Prepare(context.Background(), request, collector); err == nil ||
		err.Error() != `the pipeline "logs/app" exports to connectors only: name the pipelines that they feed` {
		t.Error(err)
	}
}
