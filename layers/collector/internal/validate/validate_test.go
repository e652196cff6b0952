package validate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/headgate/headgate/layers/collector/internal/operation"
	"github.com/headgate/headgate/layers/collector/internal/standin"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/connector"
	"go.opentelemetry.io/collector/connector/forwardconnector"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/debugexporter"
	"go.opentelemetry.io/collector/exporter/nopexporter"
	"go.opentelemetry.io/collector/exporter/otlpexporter"
	"go.opentelemetry.io/collector/extension"
	"go.opentelemetry.io/collector/extension/zpagesextension"
	"go.opentelemetry.io/collector/otelcol"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/collector/processor/batchprocessor"
	"go.opentelemetry.io/collector/processor/memorylimiterprocessor"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
	"go.opentelemetry.io/collector/service/telemetry/otelconftelemetry"
)

// fewFactories are real components, few so that this test links fast; the contract tests use all. Not every version has
// nopreceiver, so a stand-in has its name.
func fewFactories() (otelcol.Factories, error) {
	factories := otelcol.Factories{Telemetry: otelconftelemetry.NewFactory()}
	var err error
	if factories.Receivers, err = otelcol.MakeFactoryMap[receiver.Factory](
		standin.Receiver(component.MustNewType("nop")), otlpreceiver.NewFactory(), panickingReceiver()); err != nil {
		return factories, err
	}
	if factories.Processors, err = otelcol.MakeFactoryMap[processor.Factory](
		batchprocessor.NewFactory(), memorylimiterprocessor.NewFactory()); err != nil {
		return factories, err
	}
	if factories.Exporters, err = otelcol.MakeFactoryMap[exporter.Factory](
		nopexporter.NewFactory(), debugexporter.NewFactory(), otlpexporter.NewFactory()); err != nil {
		return factories, err
	}
	if factories.Connectors, err = otelcol.MakeFactoryMap[connector.Factory](forwardconnector.NewFactory()); err != nil {
		return factories, err
	}
	factories.Extensions, err = otelcol.MakeFactoryMap[extension.Factory](zpagesextension.NewFactory())
	return factories, err
}

type panickingConfig struct{}

func (panickingConfig) Validate() error { panic("out of my depth") }

func panickingReceiver() receiver.Factory {
	return receiver.NewFactory(component.MustNewType("panicking"), func() component.Config { return &panickingConfig{} })
}

func validated(t *testing.T, text string, env map[string]string) *Result {
	t.Helper()
	environment := &operation.Environment{BuildInfo: component.BuildInfo{Version: "0.0.1"}, Factories: fewFactories}
	result, err := Validate(context.Background(), environment, Request{YAML: text, Env: env})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

const nopPipeline = `service:
  pipelines:
    traces:
      receivers: [nop]
      exporters: [nop]
`

func TestFindingsWithTheirCodesAndPlaces(t *testing.T) {
	for name, row := range map[string]struct {
		text string
		want []string
	}{
		"unknown key": {
			"receivers:\n  nop:\n  otlp:\n    protocols:\n      grpc: {foo: 1}\nexporters:\n  nop:\n" + nopPipeline,
			[]string{"unknown_key receivers::otlp::protocols::grpc::foo 5:14"},
		},
		"every component's errors and the pipelines' at once": {
			"receivers:\n  nop:\nprocessors:\n  batch:\n    bar: 1\n    timeout: soon\nexporters:\n  nop:\n  otlp:\n  debug:\n    verbosity: loud\n" +
				"service:\n  pipelines:\n    logs:\n      receivers: [nop, nope]\n      exporters: [nop]\n",
			[]string{
				"unknown_key processors::batch::bar 5:5",
				"invalid_value processors::batch::timeout 6:14",
				"invalid_value exporters::otlp 9:3",
				"invalid_value exporters::debug::verbosity 11:16",
				"undefined_reference service::pipelines::logs 15:24",
			},
		},
		"through an anchor": {
			"receivers:\n  nop:\nexporters:\n  nop:\n  otlp: &a\n    endpoint: x:1\n    nonsense: 1\n  otlp/two: *a\n" + nopPipeline,
			[]string{"unknown_key exporters::otlp::nonsense 7:5", "unknown_key exporters::otlp/two::nonsense 7:5"},
		},
		"a name with a dot and a slash": {
			"receivers:\n  nop:\nexporters:\n  nop:\n  otlp/my-backend.eu:\n    endpoint: [x]\n" + nopPipeline,
			[]string{"wrong_type exporters::otlp/my-backend.eu::endpoint 6:5"},
		},
		"unknown component": {
			"receivers:\n  nop:\n  otpl:\nexporters:\n  nop:\n" + nopPipeline,
			[]string{"unknown_component receivers::otpl 3:3"},
		},
		"a mistyped definition, once for all pipelines that name it rightly": {
			"receivers:\n  nop:\nprocessors:\n  batchh:\n  btach/a:\nexporters:\n  nop:\nservice:\n  pipelines:\n" +
				"    traces: {receivers: [nop], processors: [batch, batch/a], exporters: [nop]}\n" +
				"    logs: {receivers: [nop], processors: [batch, batch/b], exporters: [nop]}\n",
			[]string{
				"unknown_component processors::batchh 4:3",
				"unknown_component processors::btach/a 5:3",
				"undefined_reference service::pipelines::logs 11:50",
			},
		},
		"a mistyped definition beside a right one": {
			"receivers:\n  nop:\nprocessors:\n  batch:\n    bar: 1\n  batchh:\nexporters:\n  nop:\nservice:\n  pipelines:\n" +
				"    traces: {receivers: [nop], processors: [batch], exporters: [nop]}\n",
			[]string{"unknown_key processors::batch::bar 5:5", "unknown_component processors::batchh 6:3"},
		},
		"a mistyped connector": {
			"receivers:\n  nop:\nexporters:\n  nop:\nconnectors:\n  foward:\nservice:\n  pipelines:\n" +
				"    traces: {receivers: [nop], exporters: [forward]}\n    traces/b: {receivers: [forward], exporters: [nop]}\n",
			[]string{"unknown_component connectors::foward 6:3"},
		},
		"a mistyped section, once for all that it defines": {
			"receivers:\n  nop:\nexporter:\n  nop:\n" + nopPipeline,
			[]string{"unknown_section exporter 3:1"},
		},
		"unknown section": {
			"receiver:\n  nop:\nreceivers:\n  nop:\nexporters:\n  nop:\n" + nopPipeline,
			[]string{"unknown_section receiver 1:1"},
		},
		"a component that is a text": {
			"receivers:\n  nop: all\nexporters:\n  nop:\n" + nopPipeline,
			[]string{"wrong_type receivers::nop 2:8"},
		},
		"a cycle": {
			"receivers:\n  nop:\nexporters:\n  nop:\nconnectors:\n  forward:\n" +
				"service:\n  pipelines:\n    traces:\n      receivers: [nop, forward]\n      exporters: [forward, nop]\n",
			[]string{"pipeline_graph service::pipelines 8:3"},
		},
		"a connector with one side": {
			"receivers:\n  nop:\nexporters:\n  nop:\nconnectors:\n  forward:\n" +
				"service:\n  pipelines:\n    traces:\n      receivers: [nop]\n      exporters: [forward, nop]\n",
			[]string{"pipeline_graph connectors::forward 6:3"},
		},
		"the graph is looked at without the broken component": {
			"receivers:\n  nop:\nprocessors:\n  batch:\n    bar: 1\nexporters:\n  nop:\nconnectors:\n  forward:\n" +
				"service:\n  pipelines:\n    traces:\n      receivers: [nop]\n      processors: [batch]\n      exporters: [forward]\n",
			[]string{"unknown_key processors::batch::bar 5:5", "pipeline_graph connectors::forward 9:3"},
		},
		"a provider that reads": {
			"receivers:\n  nop:\nexporters:\n  nop:\n  otlp:\n    endpoint: a ${file:/etc/passwd}\n" + nopPipeline,
			[]string{"provider_not_allowed exporters::otlp::endpoint 6:17"},
		},
		"a provider for a whole section": {
			"receivers:\n  nop:\nexporters: ${http://localhost/x}\n" + nopPipeline,
			[]string{"provider_not_allowed exporters 3:12"},
		},
		"a default without the scheme": {
			"receivers:\n  nop:\nexporters:\n  nop:\n  otlp:\n    endpoint: ${HOST:-x}\n" + nopPipeline,
			[]string{"provider_not_allowed exporters::otlp::endpoint 6:15"},
		},
		"duplicate key": {
			"receivers:\n  nop:\n  nop:\nexporters:\n  nop:\n" + nopPipeline,
			[]string{"yaml_syntax receivers::nop 3:3"},
		},
		"no YAML":          {"receivers:\n\tnop:\n", []string{"yaml_syntax  2:1"}},
		"a text":           {"hello\n", []string{"yaml_syntax  1:1"}},
		"nothing":          {"", []string{"invalid_value service 1:1", "pipeline_graph service::pipelines 1:1"}},
		"an empty section": {"receivers:\nexporters:\n  nop:\n" + nopPipeline, []string{"invalid_value receivers 1:1", "undefined_reference service::pipelines::traces 7:19"}},
	} {
		t.Run(name, func(t *testing.T) {
			result := validated(t, row.text, nil)

			if got := described(result.Errors); !slices.Equal(got, row.want) {
				t.Errorf("found\n  %s\nnot\n  %s", strings.Join(got, "\n  "), strings.Join(row.want, "\n  "))
			}
			if result.Valid {
				t.Error("it is valid")
			}
		})
	}
}

func TestWhatTheCommandGivesNoVerdictOnHasNone(t *testing.T) {
	environment := &operation.Environment{Factories: fewFactories}
	for code, text := range map[string]string{
		"too_costly": "receivers:\n  nop: " + strings.Repeat("{a: ", 500) + strings.Repeat("}", 500) + "\n",
	} {
		_, err := Validate(context.Background(), environment, Request{YAML: text})

		var refused *operation.Error
		if !errors.As(err, &refused) || refused.Code != code || refused.Message == "" {
			t.Errorf("%v is not %s", err, code)
		}
	}
}

func TestATextThatCrashesTheCollectorIsAnErrorOfTheComponent(t *testing.T) {
	result := validated(t, "receivers:\n  nop:\n  panicking:\nexporters:\n  nop:\n"+nopPipeline, nil)

	want := []string{"crash receivers::panicking 3:3"}
	if got := described(result.Errors); result.Valid || !slices.Equal(got, want) {
		t.Errorf("%v, %q, not %q", result.Valid, got, want)
	}
}

func described(findings []Finding) []string {
	var lines []string
	for _, one := range findings {
		lines = append(lines, fmt.Sprintf("%s %s %d:%d", one.Code, one.ComponentPath, one.Line, one.Column))
	}
	return lines
}

func TestAValidConfigurationHasNoErrors(t *testing.T) {
	result := validated(t, "receivers:\n  nop:\nexporters:\n  nop:\n"+nopPipeline, nil)

	if !result.Valid || len(result.Errors)+len(result.Warnings)+len(result.Environment) != 0 {
		t.Errorf("%+v", result)
	}
}

func TestVariables(t *testing.T) {
	text := "receivers:\n  nop:\nexporters:\n  nop:\n  debug:\n    verbosity: ${env:LEVEL:-basic}\n" +
		"  otlp:\n    endpoint: ${HOST}:${env:PORT}\n    headers:\n      a: $${env:ESCAPED}\n" + nopPipeline

	result := validated(t, text, map[string]string{"PORT": "4317"})

	if !result.Valid {
		t.Fatalf("%+v", result.Errors)
	}
	want := []Variable{
		{"HOST", false, "exporters::otlp::endpoint"},
		{"LEVEL", true, "exporters::debug::verbosity"},
		{"PORT", false, "exporters::otlp::endpoint"},
	}
	if !slices.Equal(result.Environment, want) {
		t.Errorf("%+v", result.Environment)
	}
	unset := slices.DeleteFunc(result.Warnings, func(one Finding) bool { return one.Code != UnsetVariable })
	if got := described(unset); !slices.Equal(got, []string{"unset_variable exporters::otlp::endpoint 8:15"}) {
		t.Error(got)
	}
}

func TestTheProcessEnvironmentIsNotRead(t *testing.T) {
	t.Setenv("HEADGATE_TEST_VERBOSITY", "basic")

	result := validated(t, "receivers:\n  nop:\nexporters:\n  nop:\n  debug:\n    verbosity: \"x${env:HEADGATE_TEST_VERBOSITY}\"\n"+nopPipeline, nil)

	if result.Valid || !strings.Contains(result.Errors[0].Message, `"x"`) {
		t.Errorf("%+v", result)
	}
}

func TestUnusedComponentsAreWarnedOf(t *testing.T) {
	result := validated(t, "extensions:\n  zpages:\nreceivers:\n  nop:\n  otlp: {protocols: {grpc: }}\nexporters:\n  nop:\n"+nopPipeline, nil)

	want := []string{"unused_component extensions::zpages 2:3", "unused_component receivers::otlp 5:3"}
	if got := described(result.Warnings); !result.Valid || !slices.Equal(got, want) {
		t.Errorf("%v %+v", got, result.Errors)
	}
}

func TestTheTwoNamesOfAMistypedComponentAreNotUnused(t *testing.T) {
	for name, text := range map[string]string{
		"a mistyped definition":                "processors:\n  batchh/a:\n",
		"a definition in another section":      "exporters:\n  nop:\n  batch/a:\n",
		"a mistyped reference":                 "processors:\n  batch/b:\n",
		"a mistyped reference to an extension": "extensions:\n  zpage:\n  zpages:\nprocessors:\n  batch/a:\n",
	} {
		t.Run(name, func(t *testing.T) {
			if !strings.Contains(text, "exporters:") {
				text += "exporters:\n  nop:\n"
			}
			result := validated(t, text+"receivers:\n  nop:\nservice:\n  extensions: [zpages]\n  pipelines:\n"+
				"    traces: {receivers: [nop], processors: [batch/a], exporters: [nop]}\n", nil)

			if result.Valid || len(result.Warnings) > 0 {
				t.Errorf("%q", described(result.Warnings))
			}
		})
	}
}

func TestOfManyDocumentsTheFirstCounts(t *testing.T) {
	result := validated(t, "receivers:\n  nop:\nexporters:\n  nop:\n"+nopPipeline+"---\nreceivers: [\n", nil)

	if !result.Valid || len(result.Warnings) != 1 || result.Warnings[0].Code != Other {
		t.Errorf("%+v", result)
	}
}

func TestWhatMayHaveBeenMeantIsOffered(t *testing.T) {
	for name, row := range map[string]struct{ text, want string }{
		"a type": {"receivers:\n  nop:\n  otpl:\nexporters:\n  nop:\n" + nopPipeline, `did you mean "otlp"?`},
		"a key":  {"receivers:\n  nop:\nprocessors:\n  batch:\n    timeuot: 1s\nexporters:\n  nop:\n" + nopPipeline, `did you mean "timeout"?`},
		"a key inside": {
			"receivers:\n  nop:\n  otlp:\n    protocols:\n      grpc:\n        endpont: x\nexporters:\n  nop:\n" + nopPipeline,
			`did you mean "endpoint"?`,
		},
		"another section": {"receivers:\n  nop:\nprocessors:\n  otlp:\nexporters:\n  nop:\n" + nopPipeline, "there is one among the receivers and the exporters"},
		"a reference":     {"receivers:\n  nop:\nexporters:\n  nop:\n" + strings.Replace(nopPipeline, "[nop]", "[nope]", 1), `did you mean "nop"?`},
	} {
		t.Run(name, func(t *testing.T) {
			result := validated(t, row.text, nil)

			if len(result.Errors) != 1 || !strings.Contains(result.Errors[0].Message, row.want) {
				t.Errorf("%+v", result.Errors)
			}
		})
	}
}

func TestTheAnswerIsBounded(t *testing.T) {
	var text strings.Builder
	text.WriteString("receivers:\n  nop:\n")
	for i := range 1900 {
		fmt.Fprintf(&text, "  unknown/%d:\n", i)
	}
	text.WriteString("exporters:\n  nop:\n" + nopPipeline)

	result := validated(t, text.String(), nil)

	if len(result.Errors) != maxFindings {
		t.Errorf("%d errors", len(result.Errors))
	}
}
