package mutants

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/headgate/headgate/layers/collector/internal/operation"
	"github.com/headgate/headgate/layers/collector/internal/prepare"
	"github.com/headgate/headgate/layers/collector/internal/source"
	"github.com/headgate/headgate/layers/collector/version/distribution"
	otel "go.opentelemetry.io/collector/component"
)

// collector is that of the version that the tests are run for.
func collector() *operation.Environment {
	return &operation.Environment{
		BuildInfo: distribution.Settings().BuildInfo, Factories: distribution.Factories, Lacking: distribution.Lacking,
	}
}

func answer(t *testing.T, request Request) (*Result, error) {
	t.Helper()
	raw, err := json.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	result, err := Handle(context.Background(), collector(), raw)
	if err != nil {
		return nil, err
	}
	return result.(*Result), nil
}

func ask(t *testing.T, request Request) *Result {
	t.Helper()
	result, err := answer(t, request)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

const outer = "receivers: {otlp: {protocols: {grpc: {endpoint: \"127.0.0.1:0\"}}}}\nexporters: {debug: {}}\n"

// logs is a text with these processors, and a pipeline that has them.
func logs(processors, list string) string {
	return outer + "processors:\n" + processors + "service: {pipelines: {logs: {receivers: [otlp], processors: [" + list +
		"], exporters: [debug]}}}\n"
}

// edit is what a mutant replaces, once, by what.
type edit struct {
	kind     Kind
	old, new string
}

func TestAMutantIsOneEditOfTheText(t *testing.T) {
	for name, row := range map[string]struct {
		processors, list string
		expected         []edit
	}{
		"statements of a list": {
			"  transform:\n    log_statements:\n      - set(log.attributes[\"x\"], \"y\") # the first\n      # about b\n      - delete_key(log.attributes, \"b\")\n",
			"transform",
			[]edit{
				{Statement, "      - set(log.attributes[\"x\"], \"y\") # the first\n", ""},
				{Statement, "      - delete_key(log.attributes, \"b\")\n", ""},
				{Processor, "[transform]", "[]"},
			},
		},
		"the only statement, with a where": {
			"  transform:\n    log_statements:\n    - set(log.attributes[\"x\"], 1) where log.body == \"a\" and log.severity_number < 9\n",
			"transform",
			[]edit{
				{Statement, "- set(log.attributes[\"x\"], 1) where log.body == \"a\" and log.severity_number < 9", "  []"},
				{Number, "1)", "2)"},
				{Where, ` where log.body == "a" and log.severity_number < 9`, ""},
				{Operand, `log.body == "a" and `, ""},
				{Operand, ` and log.severity_number < 9`, ""},
				{Comparison, "<", "<="},
				{Number, "9", "18"},
				{Processor, "[transform]", "[]"},
			},
		},
		"a folded text and a quoted one": {
			"  transform:\n    log_statements:\n      - >-\n        set(log.attributes[\"x\"], true)\n        where log.body == nil\n      - 'set(log.body, \"it''s\") where log.body == \"''\"'\n",
			"transform",
			[]edit{
				{Statement, "      - >-\n        set(log.attributes[\"x\"], true)\n        where log.body == nil\n", ""},
				{Where, "\n        where log.body == nil", ""},
				{Statement, "      - 'set(log.body, \"it''s\") where log.body == \"''\"'\n", ""},
				{Where, ` where log.body == "''"`, ""},
				{Processor, "[transform]", "[]"},
			},
		},
		"conditions in brackets": {
			"  filter: {logs: {log_record: ['body == \"a\" or body == \"b\"', 'body == \"c\"']}}\n", "filter",
			[]edit{
				{Condition, "'body == \"a\" or body == \"b\"', ", ""},
				{Operand, `body == "a" or `, ""},
				{Operand, ` or body == "b"`, ""},
				{Condition, ", 'body == \"c\"'", ""},
				{Processor, "[filter]", "[]"},
			},
		},
		"actions": {
			"  resource/r:\n    attributes:\n      - {key: a, value: x, action: insert}\n      - key: b\n        value: ${env:B:-4}\n        action: upsert\n",
			"resource/r",
			[]edit{
				{Action, "      - {key: a, value: x, action: insert}\n", ""},
				{ActionKind, "insert", "upsert"},
				{Action, "      - key: b\n        value: ${env:B:-4}\n        action: upsert\n", ""},
				{Number, "4}", "8}"},
				{ActionKind, "upsert", "insert"},
				{Processor, "[resource/r]", "[]"},
			},
		},
		"flags, numbers and entries": {
			"  probabilistic_sampler: {sampling_percentage: 60, fail_closed: true}\n  groupbyattrs: {keys: [a, b]}\n",
			"probabilistic_sampler, groupbyattrs",
			[]edit{
				{Number, "60", "30"},
				{Flag, "true", "false"},
				{Entry, "a, b", "b"},
				{Entry, "a, b", "a"},
				{Processor, "probabilistic_sampler, g", "g"},
				{Processor, ", groupbyattrs]", "]"},
			},
		},
		"what changes no record": {
			"  memory_limiter: {check_interval: 1s, limit_mib: 100}\n  batch: {send_batch_size: 5}\n", "memory_limiter, batch", nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			text := logs(row.processors, row.list)
			result := ask(t, Request{YAML: text, Pipelines: []string{"logs"}, Max: 100})
			var found, expected []string
			for _, one := range result.Mutants {
				found = append(found, string(one.Kind)+"\n"+one.YAML)
				if one.Description == "" || one.WouldNotice == "" || !slices.Equal(one.Pipelines, []string{"logs"}) {
					t.Errorf("%+v", one)
				}
			}
			for _, one := range row.expected {
				before, after, _ := strings.Cut(text, one.old)
				expected = append(expected, string(one.kind)+"\n"+before+one.new+after)
			}
			slices.Sort(found)
			slices.Sort(expected)
			if !slices.Equal(found, expected) {
				t.Errorf("\n%s\nnot\n%s", strings.Join(found, "\n"), strings.Join(expected, "\n"))
			}
			if result.LeftOut != 0 || result.Next != nil || result.Refused != 0 {
				t.Errorf("%+v", result)
			}
		})
	}
}

const forwarded = outer + `connectors: {forward: {}, forward/b: {}}
processors:
  transform/both:
    log_statements: ['set(log.attributes["x"], 1)']
    trace_statements: ['set(span.attributes["x"], 1)']
service:
  pipelines:
    logs/in: {receivers: [otlp], exporters: [forward, forward/b]}
    logs/a: {receivers: [forward], processors: [transform/both], exporters: [debug]}
    logs/rest: {receivers: [forward/b], exporters: [debug]}
    traces: {receivers: [otlp], processors: [transform/both], exporters: [debug]}
`

// found are the mutants of a text by kind, component and pipelines, and the pipelines that nothing tests.
func found(t *testing.T, text string, pipelines ...string) (mutants, untested []string) {
	t.Helper()
	result := ask(t, Request{YAML: text, Pipelines: pipelines, Max: 100})
	for _, one := range result.Mutants {
		mutants = append(mutants, string(one.Kind)+" "+one.Component+" "+strings.Join(one.Pipelines, "+"))
	}
	return mutants, result.Untested
}

func TestOnlyWhatARunReachesIsChanged(t *testing.T) {
	mutants, untested := found(t, forwarded, "logs/in", "nothing")
	expected := []string{
		"statement processors::transform/both logs/in", "number processors::transform/both logs/in",
		"processor service::pipelines::logs/a logs/in",
	}
	if !slices.Equal(mutants, expected) || !slices.Equal(untested, []string{"traces"}) {
		t.Error(mutants, untested)
	}
	mutants, untested = found(t, forwarded, "traces", "logs/a", "logs/a")
	expected = []string{
		"statement processors::transform/both logs/a", "number processors::transform/both logs/a",
		"statement processors::transform/both traces", "number processors::transform/both traces",
		"processor service::pipelines::logs/a logs/a", "processor service::pipelines::traces traces",
	}
	if !slices.Equal(mutants, expected) || !slices.Equal(untested, []string{"logs/in", "logs/rest"}) {
		t.Error(mutants, untested)
	}
}

const routed = outer + `connectors:
  routing:
    default_pipelines: [logs/rest]
    table:
      - {context: log, condition: 'attributes["a"] == 1', pipelines: [logs/a]}
      - {context: log, condition: 'attributes["b"] == nil', pipelines: [logs/a]}
service:
  pipelines:
    logs/in: {receivers: [otlp], exporters: [routing]}
    logs/a: {receivers: [routing], exporters: [debug]}
    logs/rest: {receivers: [routing], exporters: [debug]}
`

func TestRoutesAreChangedByABuildThatRoutes(t *testing.T) {
	if _, lacks := collector().Lacks("connectors", otel.MustNewType("routing")); lacks {
		if _, err := answer(t, Request{YAML: routed, Pipelines: []string{"logs/in"}, Max: 100}); err == nil || !strings.Contains(err.Error(), "routing") {
			t.Errorf("this build lacks the routing connector, and says %v", err)
		}
		return
	}
	mutants, untested := found(t, routed, "logs/in")
	expected := []string{
		"entry connectors::routing logs/in", "route connectors::routing logs/in",
		"number connectors::routing logs/in", "route connectors::routing logs/in",
	}
	if !slices.Equal(mutants, expected) || len(untested) != 0 {
		t.Error(mutants, untested)
	}
}

func TestWhatTheCollectorWouldNotLoadIsNoMutant(t *testing.T) {
	text := outer + "connectors: {forward: {}}\nservice:\n  pipelines:\n" +
		"    logs: {receivers: [otlp], exporters: [forward]}\n    logs/b: {receivers: [forward], exporters: [debug]}\n"
	if result := ask(t, Request{YAML: text, Pipelines: []string{"logs"}, Max: 100}); len(result.Mutants) != 0 || result.Refused != 1 {
		t.Errorf("%+v", result)
	}
}

func TestAnchorsAndLineBreaksOfAnyKind(t *testing.T) {
	text := "\ufeff" + outer + "processors:\n  groupbyattrs: &g {keys: [a, b]}\n  groupbyattrs/b: *g\n" +
		"  groupbyattrs/c:\n    keys:\n    - a\n    -\n      # - two\n      b\n" +
		"service: {pipelines: {logs: {receivers: [otlp], processors: &p [groupbyattrs, groupbyattrs/b, groupbyattrs/c], exporters: [debug]},\n" +
		"  logs/b: {receivers: [otlp], processors: *p , exporters: [debug]}}}\n"
	for _, lineBreak := range []string{"\n", "\r\n", "\r"} {
		text := strings.ReplaceAll(text, "\n", lineBreak)
		result := ask(t, Request{YAML: text, Pipelines: []string{"logs", "logs/b"}, Max: 100})
		var found []string
		for _, one := range result.Mutants {
			found = append(found, fmt.Sprintf("%d:%d %s", one.Line, one.Column, strings.Join(one.Pipelines, "+")))
		}
		expected := []string{
			"4:28 logs+logs/b", "4:31 logs+logs/b", "8:7 logs+logs/b", "11:7 logs+logs/b",
			"12:65 logs+logs/b", "12:79 logs+logs/b", "12:95 logs+logs/b",
		}
		if !slices.Equal(found, expected) || result.Refused != 0 {
			t.Errorf("%q: %q", lineBreak, found)
		}
	}
}

func TestHundredsOfStatementsAreSpreadAndBounded(t *testing.T) {
	many := strings.Repeat("      - set(log.attributes[\"x\"], \"y\") where log.body == nil\n", 300)
	text := logs("  transform:\n    log_statements:\n"+many+"  groupbyattrs: {keys: [a, b]}\n", "transform, groupbyattrs")
	request := Request{YAML: text, Pipelines: []string{"logs"}, Max: 4}
	result := ask(t, request)
	last := result.Mutants[len(result.Mutants)-1]
	if last.Component != "service::pipelines::logs" || result.Next == nil || result.Places != 604 ||
		result.LeftOut != result.Places-len(result.Mutants)-result.Refused {
		t.Fatalf("%d mutants of %d places, %d left out, next %v", len(result.Mutants), result.Places, result.LeftOut, result.Next)
	}
	request.After = *result.Next
	again := ask(t, request)
	if again.Mutants[0].ID == result.Mutants[0].ID {
		t.Error("the next request begins anew")
	}
}

func TestAnOrderOfSecondsForATextInOneLine(t *testing.T) {
	many := strings.Repeat("'set(log.attributes[\"x\"], 1)', ", 3_000)
	text := logs("  transform: {log_statements: ["+many+"]}\n", "transform")
	document, err := source.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	reaches := map[string]prepare.Reach{"logs": {Pipelines: map[string][]string{"logs": {"transform"}}}}
	f := newFinder(document, reaches)
	f.find()
	if f.looking < maxLooking || f.looking > maxLooking+len(text)*3_001 || len(f.candidates) < 3_001 || len(f.candidates) > 5_000 {
		t.Errorf("%d looked at for %d candidates", f.looking, len(f.candidates))
	}
}

func TestAConfigurationThatIsNotOneIsRefused(t *testing.T) {
	for text, code := range map[string]string{
		"a: [":                "invalid_configuration",
		"":                    "invalid_configuration",
		outer + "service: {}": "invalid_configuration",
		outer + "a: &a [" + strings.Repeat("*a,", 10) + "]\nservice: {}": "invalid_configuration",
		"receivers: {" + strings.Repeat("otlp/a: ,", 1) + "}":            "invalid_configuration",
		strings.Repeat("{a: ", 500) + strings.Repeat("}", 500):           "too_costly",
	} {
		_, err := answer(t, Request{YAML: text, Pipelines: []string{"logs"}, Max: 1})
		var refused *operation.Error
		if !errors.As(err, &refused) || refused.Code != code {
			t.Errorf("%.40q: %v", text, err)
		}
	}
	_, err := answer(t, Request{YAML: logs("  nothing: {}\n", "nothing"), Pipelines: []string{"logs"}, Max: 1})
	if err == nil || !strings.Contains(err.Error(), "line 4: ") {
		t.Error(err)
	}
	for _, request := range []Request{{Max: 0}, {Max: 101}, {Max: 1, After: -1}} {
		if _, err := answer(t, request); err == nil {
			t.Error(request)
		}
	}
}
