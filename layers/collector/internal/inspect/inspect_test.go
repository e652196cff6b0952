package inspect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/headgate/headgate/layers/collector/internal/machine"
	"github.com/headgate/headgate/layers/collector/internal/operation"
	"github.com/headgate/headgate/layers/collector/internal/standin"
	"github.com/headgate/headgate/layers/collector/internal/validate"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/config/configopaque"
	"go.opentelemetry.io/collector/connector"
	"go.opentelemetry.io/collector/connector/forwardconnector"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/debugexporter"
	"go.opentelemetry.io/collector/exporter/otlpexporter"
	"go.opentelemetry.io/collector/extension"
	"go.opentelemetry.io/collector/extension/zpagesextension"
	"go.opentelemetry.io/collector/otelcol"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/collector/processor/batchprocessor"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
	"go.opentelemetry.io/collector/service/telemetry/otelconftelemetry"
	"go.uber.org/zap"
)

// talkative is a receiver that was renamed, logs while it is created, and has settings of many kinds.
type talkative struct {
	Interval time.Duration       `mapstructure:"interval"`
	Names    []string            `mapstructure:"names"`
	Token    configopaque.String `mapstructure:"token"`
	Plain    string              `mapstructure:"plain"`
	Copy     string              `mapstructure:"copy"`
	Storage  *component.ID       `mapstructure:"storage"`
	Drawn    int64               `mapstructure:"drawn"`
	Hook     func()              `mapstructure:"hook"`
	Inner    struct {
		Level int `mapstructure:"level"`
		Limit int `mapstructure:"limit"`
	} `mapstructure:"inner"`
	Entries []struct {
		Name string `mapstructure:"name"`
		Size int    `mapstructure:"size"`
	} `mapstructure:"entries"`
}

func (c *talkative) Validate() error {
	if c.Plain == "wrong" {
		return errors.New("plain is wrong")
	}
	return nil
}

var drawn int64

func newTalkative() component.Config {
	drawn++
	config := &talkative{Interval: 5 * time.Minute, Names: []string{"a", "b"}, Token: "preset", Drawn: drawn, Hook: func() {}}
	config.Inner.Level = 3
	return config
}

type renamed struct{ receiver.Factory }

func (renamed) DeprecatedAlias() component.Type { return component.MustNewType("talk") }

func (f renamed) CreateLogs(
	ctx context.Context, set receiver.Settings, config component.Config, next consumer.Logs,
) (receiver.Logs, error) {
	set.ID = component.NewIDWithName(f.Type(), set.ID.Name())
	return f.Factory.CreateLogs(ctx, set, config, next)
}

var shutDown int

type quiet struct{ standin.Nothing }

func (quiet) Shutdown(context.Context) error { shutDown++; panic("not even this") }

func fewFactories() (otelcol.Factories, error) {
	factories := otelcol.Factories{Telemetry: otelconftelemetry.NewFactory()}
	talk := renamed{receiver.NewFactory(component.MustNewType("talkative"), newTalkative, receiver.WithLogs(
		func(_ context.Context, set receiver.Settings, config component.Config, _ consumer.Logs) (receiver.Logs, error) {
			set.Logger.Info("this is not told")
			set.Logger.Sugar().Warnf("plain is deprecated: %s", config.(*talkative).Plain)
			set.Logger.Error("with a field", zap.String("token", string(config.(*talkative).Token)))
			return quiet{}, nil
		}, component.StabilityLevelStable))}
	var err error
	if factories.Receivers, err = otelcol.MakeFactoryMap[receiver.Factory](otlpreceiver.NewFactory(), talk); err != nil {
		return factories, err
	}
	factories.Receivers[component.MustNewType("talk")] = talk
	if factories.Processors, err = otelcol.MakeFactoryMap[processor.Factory](batchprocessor.NewFactory()); err != nil {
		return factories, err
	}
	nop := standin.Exporter(component.MustNewType("nop"))
	if factories.Exporters, err = otelcol.MakeFactoryMap[exporter.Factory](
		nop, debugexporter.NewFactory(), otlpexporter.NewFactory()); err != nil {
		return factories, err
	}
	factories.Receivers[component.MustNewType("nop")] = standin.Receiver(component.MustNewType("nop"))
	if factories.Connectors, err = otelcol.MakeFactoryMap[connector.Factory](forwardconnector.NewFactory()); err != nil {
		return factories, err
	}
	loud := extension.NewFactory(component.MustNewType("loud"), func() component.Config { return &struct{}{} },
		func(_ context.Context, set extension.Settings, _ component.Config) (extension.Extension, error) {
			set.Logger.Warn("loud is loud")
			return standin.Nothing{}, nil
		}, component.StabilityLevelStable)
	factories.Extensions, err = otelcol.MakeFactoryMap[extension.Factory](zpagesextension.NewFactory(), loud)
	return factories, err
}

func inspected(t *testing.T, text string, env map[string]string, lacking ...operation.Absent) *Result {
	t.Helper()
	environment := &operation.Environment{Factories: fewFactories, Lacking: lacking}
	result, err := inspect(context.Background(), environment, newKnownDefaults(), validate.Request{YAML: text, Env: env})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func (r *Result) component(t *testing.T, path string) Component {
	t.Helper()
	for _, one := range r.Components {
		if one.ComponentPath == path {
			return one
		}
	}
	t.Fatalf("there is no %s in %+v", path, r.Components)
	return Component{}
}

const logs = "service:\n  pipelines:\n    logs:\n      receivers: [%s]\n      exporters: [%s]\n"

func TestARenamedComponentIsTold(t *testing.T) {
	result := inspected(t, "receivers:\n  talk/a:\n  talkative:\n  otlp: {protocols: {grpc: }}\nexporters:\n  nop:\n"+
		fmt.Sprintf(logs, "talk/a, talkative, otlp", "nop"), nil)

	var got []string
	for _, one := range result.Components {
		got = append(got, fmt.Sprintf("%s %s>%s %d:%d", one.ComponentPath, one.Type, one.RenamedTo, one.Line, one.Column))
	}
	want := []string{
		"receivers::talk/a talk>talkative 2:3", "receivers::talkative talkative> 3:3", "receivers::otlp otlp> 4:3",
		"exporters::nop nop> 6:3",
	}
	if !slices.Equal(got, want) || result.Valid == nil || !*result.Valid || result.Incomplete {
		t.Errorf("%v, %+v", got, result)
	}
}

func TestSettingsThatTheTextDoesNotWriteAreTold(t *testing.T) {
	body := func(body string) string {
		return "receivers:\n  talkative:" + body + "\nexporters:\n  nop:\n" + fmt.Sprintf(logs, "talkative", "nop")
	}
	all := settings{
		"interval": "5m0s", "names": []any{"a", "b"}, "token": "[REDACTED]", "plain": "", "copy": "", "storage": nil,
		"inner.level": int64(3), "inner.limit": int64(0), "entries": nil,
	}
	but := func(changed settings, without ...string) settings {
		rest := settings{}
		for path, value := range all {
			if !slices.Contains(without, path) {
				rest[path] = value
			}
		}
		for path, value := range changed {
			rest[path] = value
		}
		return rest
	}
	for name, row := range map[string]struct {
		body string
		want settings
	}{
		"none written":             {"", all},
		"an empty mapping":         {" {}", all},
		"some written":             {" {interval: 1s, token: secret, inner: {limit: 7}}", but(nil, "interval", "token", "inner.limit")},
		"a written null":           {" {inner: , plain: }", but(nil, "plain")},
		"a list":                   {" {names: [c]}", but(nil, "names")},
		"entries of a list":        {" {entries: [{name: x}, {size: 1}]}", but(settings{"entries.0.size": int64(0), "entries.1.name": ""}, "entries")},
		"the value of a variable":  {" {plain: '${env:PLAIN}'}", but(nil, "plain")},
		"a mapping in a variable":  {" {inner: '${env:INNER}'}", but(nil, "inner.level")},
		"a reference":              {" {storage: zpages}", but(nil, "storage")},
		"a key with a separator":   {" {'inner::level': 7}", but(nil, "inner.level")},
		"one that is not accepted": {" {nonsense: 1}", settings{}},
	} {
		t.Run(name, func(t *testing.T) {
			result := inspected(t, body(row.body), map[string]string{"PLAIN": "text", "INNER": "{level: 4}"})

			if got := result.component(t, "receivers::talkative").Defaults; !reflect.DeepEqual(got, row.want) {
				t.Errorf("%v\nnot\n%v", got, row.want)
			}
		})
	}
}

func TestWhatAComponentLogsIsToldWithoutFieldsAndWithoutWhatTheTextWrites(t *testing.T) {
	result := inspected(t, "receivers:\n  talkative: {plain: '${env:SECRET}', token: other-secret}\nexporters:\n  nop:\n"+
		"extensions:\n  loud:\n  loud/unused:\n"+fmt.Sprintf(logs, "talkative", "nop")+"    logs/2: {receivers: [talkative], exporters: [nop]}\n  extensions: [loud]\n",
		map[string]string{"SECRET": "very-secret"})

	want := []Log{{"warn", "plain is deprecated: [...]"}, {"error", "with a field"}}
	if got := result.component(t, "receivers::talkative").Logs; !slices.Equal(got, want) {
		t.Error(got)
	}
	if got := result.component(t, "extensions::loud").Logs; !slices.Equal(got, []Log{{"warn", "loud is loud"}}) {
		t.Error(got)
	}
	if got := result.component(t, "extensions::loud/unused").Logs; len(got) != 0 {
		t.Error(got)
	}
	told, err := json.Marshal(result)
	if err != nil || strings.Contains(string(told), "secret") {
		t.Errorf("%v %s", err, told)
	}
}

func TestMessagesAreBounded(t *testing.T) {
	r := newRecorder()
	for i := range maxLogsInAll + 100 {
		logger := zap.New(&core{recorder: r, path: fmt.Sprint(i / (maxLogs + 5))})
		logger.Warn(fmt.Sprint(i) + strings.Repeat("ü", maxMessage))
	}

	if first := r.of("0"); len(first) != maxLogs || len(first[0].Message) > maxMessage+3 || !r.incomplete || r.count > maxLogsInAll {
		t.Errorf("%d of %d", len(first), r.count)
	}
}

func TestWhatIsCreatedIsShutDown(t *testing.T) {
	shutDown = 0

	inspected(t, "receivers:\n  talkative:\nexporters:\n  nop:\n"+fmt.Sprintf(logs, "talkative", "nop"), nil)

	if shutDown != 1 {
		t.Error(shutDown)
	}
}

func TestComponentsThatTheBuildLacks(t *testing.T) {
	lacking := []operation.Absent{
		{Kind: "receiver", Type: "hostmetrics"}, {Kind: "processor", Type: "absent"}, {Kind: "exporter", Type: "absent"},
		{Kind: "connector", Type: "absent_connector"}, {Kind: "extension", Type: "absent"},
	}
	for name, row := range map[string]struct {
		text       string
		valid      string
		errors     []string
		notInBuild []string
	}{
		"nothing wrong elsewhere": {
			"receivers:\n  host_metrics/x: {a: 1}\nexporters:\n  nop:\n" + fmt.Sprintf(logs, "host_metrics/x", "nop"),
			"null", nil, []string{"receivers::host_metrics/x 2:3 receiver host_metrics"},
		},
		"everywhere": {
			"receivers:\n  hostmetrics:\nprocessors:\n  absent:\nexporters:\n  absent/1:\nconnectors:\n  absent_connector:\nextensions:\n  absent:\n" +
				"service:\n  extensions: [absent]\n  pipelines:\n    logs: {receivers: [hostmetrics], processors: [absent], exporters: [absent_connector]}\n" +
				"    metrics: {receivers: [absent_connector], exporters: [absent/1]}\n",
			"null", nil, []string{
				"receivers::hostmetrics 2:3 receiver hostmetrics", "processors::absent 4:3 processor absent",
				"exporters::absent/1 6:3 exporter absent", "connectors::absent_connector 8:3 connector absent_connector",
				"extensions::absent 10:3 extension absent",
			},
		},
		"an error beside it": {
			"receivers:\n  hostmetrics:\nexporters:\n  nop:\n  otlp: {foo: 1}\n" + fmt.Sprintf(logs, "hostmetrics, nope", "nop, otlp"),
			"false", []string{"unknown_key exporters::otlp::foo", "undefined_reference service::pipelines::logs"},
			[]string{"receivers::hostmetrics 2:3 receiver hostmetrics"},
		},
		"in a variable": {
			"receivers: ${env:RECEIVERS}\nexporters:\n  nop:\n" + fmt.Sprintf(logs, "hostmetrics", "nop"),
			"null", nil, []string{"receivers::hostmetrics 1:1 receiver hostmetrics"},
		},
		"another section has it": {
			"receivers:\n  talk:\nexporters:\n  nop:\nprocessors:\n  hostmetrics:\n" + fmt.Sprintf(logs, "talk", "nop"),
			"false", []string{"unknown_component processors::hostmetrics"}, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			result := inspected(t, row.text, map[string]string{"RECEIVERS": "{hostmetrics: {}}"}, lacking...)

			valid, _ := json.Marshal(result.Valid)
			var found, absent []string
			for _, one := range result.Errors {
				found = append(found, string(one.Code)+" "+one.ComponentPath)
			}
			for _, one := range result.NotInBuild {
				absent = append(absent, fmt.Sprintf("%s %d:%d %s %s", one.ComponentPath, one.Line, one.Column, one.Kind, one.Type))
			}
			if string(valid) != row.valid || !slices.Equal(found, row.errors) || !slices.Equal(absent, row.notInBuild) {
				t.Errorf("%s %q %q", valid, found, absent)
			}
		})
	}
}

func TestTheVerdictAndTheFindingsAreThoseOfValidate(t *testing.T) {
	for name, text := range map[string]string{
		"valid":            "receivers:\n  talk:\nexporters:\n  nop:\n" + fmt.Sprintf(logs, "talk", "nop"),
		"a setting":        "receivers:\n  talk: {plain: wrong}\nexporters:\n  nop:\n" + fmt.Sprintf(logs, "talk", "nop"),
		"a key":            "receivers:\n  otlp: {x: 1}\nexporters:\n  nop:\n  debug: {verbosity: 7}\n" + fmt.Sprintf(logs, "otlp", "nop"),
		"a signal":         "receivers:\n  talk:\nexporters:\n  nop:\n" + strings.Replace(fmt.Sprintf(logs, "talk", "nop"), "logs:", "traces:", 1),
		"profiles":         "receivers:\n  nop:\nexporters:\n  debug:\n" + strings.Replace(fmt.Sprintf(logs, "nop", "debug"), "logs:", "profiles:", 1),
		"a connector":      "receivers:\n  nop:\nconnectors:\n  forward:\nexporters:\n  nop:\n" + fmt.Sprintf(logs, "nop", "forward") + "    logs/2: {receivers: [forward], exporters: [nop]}\n",
		"a cycle":          "receivers:\n  nop:\nconnectors:\n  forward:\nexporters:\n  nop:\n" + fmt.Sprintf(logs, "nop, forward", "forward, nop"),
		"a provider":       "receivers:\n  nop:\nexporters:\n  debug: {verbosity: '${file:x}'}\n  nop:\n" + fmt.Sprintf(logs, "nop", "nop"),
		"an unset one":     "receivers:\n  nop:\nexporters:\n  debug: {verbosity: '${env:X}'}\n  nop:\n" + fmt.Sprintf(logs, "nop", "nop"),
		"unknown":          "receivers:\n  nope:\nexporters:\n  nop:\n" + fmt.Sprintf(logs, "nope", "nop"),
		"no YAML":          "receivers:\n\tnop:\n",
		"a text":           "hello",
		"nothing":          "",
		"sections of kind": "receivers: 7\nexporters: [nop]\nservice: {}\n",
		"documents":        "receivers:\n  nop:\nexporters:\n  nop:\n" + fmt.Sprintf(logs, "nop", "nop") + "---\nreceivers:\n",
	} {
		t.Run(name, func(t *testing.T) {
			environment := &operation.Environment{Factories: fewFactories}
			request := validate.Request{YAML: text}

			want, err := validate.Validate(context.Background(), environment, request)
			if err != nil {
				t.Fatal(err)
			}
			got := inspected(t, text, nil)

			if got.Valid == nil || *got.Valid != want.Valid || !reflect.DeepEqual(got.Errors, want.Errors) ||
				!reflect.DeepEqual(got.Warnings, want.Warnings) {
				t.Errorf("%+v\nnot\n%+v", got, want)
			}
		})
	}
}

func TestWhatIsTooCostlyIsRefused(t *testing.T) {
	raw, _ := json.Marshal(validate.Request{YAML: "receivers: {" + strings.Repeat("a: {", 500) + strings.Repeat("}", 501)})

	_, err := Handler()(context.Background(), &operation.Environment{Factories: fewFactories}, raw)

	var refused *operation.Error
	if !errors.As(err, &refused) || refused.Code != "too_costly" {
		t.Error(err)
	}
}

func TestADefaultThatTellsAboutTheMachineIsNotTold(t *testing.T) {
	found := settings{"a": "host-17:4317", "b": []any{"host-17"}, "c": "/home/user", "d": "localhost", "e": int64(4)}

	found.withoutMachine(machine.Facts{Host: "host-17", Environment: []string{"/home/user"}})

	if !reflect.DeepEqual(found, settings{"d": "localhost", "e": int64(4)}) {
		t.Error(found)
	}
}

func TestTheWordsOfChangedBehaviourAreThoseThatItIsAbout(t *testing.T) {
	policy := func(latency map[string]any) map[string]any {
		return map[string]any{"policies": []any{map[string]any{"type": "latency", "latency": latency}}}
	}
	for name, of := range map[string]struct {
		settings any
		want     []string
	}{
		"none":             {nil, []string{"-"}},
		"empty":            {map[string]any{}, []string{"-"}},
		"a latency":        {policy(map[string]any{"threshold_ms": 500}), []string{"latency"}},
		"an upper bound":   {policy(map[string]any{"threshold_ms": 500, "upper_threshold_ms": 900}), []string{}},
		"an inverted text": {map[string]any{"string_attribute": map[string]any{"invert_match": true}}, []string{"invert_match"}},
	} {
		if words := wordsIn(of.settings); !slices.Equal(words, of.want) {
			t.Errorf("%s: %q", name, words)
		}
	}
}
