package rename

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/headgate/headgate/layers/collector/internal/operation"
	"github.com/headgate/headgate/layers/collector/internal/validate"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/connector"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/extension"
	"go.opentelemetry.io/collector/otelcol"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/collector/receiver"
)

// settings are what the components of this test take.
type settings struct {
	Storage *component.ID  `mapstructure:"storage"`
	Watch   []component.ID `mapstructure:"watch"`
	Auth    struct {
		Authenticator component.ID `mapstructure:"authenticator"`
	} `mapstructure:"auth"`
	Text   string         `mapstructure:"text"`
	Number int            `mapstructure:"number"`
	Free   map[string]any `mapstructure:"free"`
}

func newSettings() component.Config { return &settings{Number: 1} }

// creator reads the components inside of it in its own way, as receiver_creator does.
type creator struct {
	inner map[string]struct{ id component.ID }
	Free  map[string]any `mapstructure:"free"`
}

func (c *creator) Unmarshal(conf *confmap.Conf) error {
	if err := conf.Unmarshal(c, confmap.WithIgnoreUnused()); err != nil {
		return err
	}
	receivers, err := conf.Sub("receivers")
	if err != nil {
		return err
	}
	for name := range receivers.ToStringMap() {
		var one struct{ id component.ID }
		if err := one.id.UnmarshalText([]byte(name)); err != nil {
			return err
		}
		c.inner[name] = one
	}
	return nil
}

func newCreator() component.Config { return &creator{inner: map[string]struct{ id component.ID }{}} }

func kind(name string) component.Type { return component.MustNewType(name) }

type renamedReceiver struct{ receiver.Factory }
type renamedExporter struct{ exporter.Factory }
type renamedConnector struct{ connector.Factory }
type renamedExtension struct{ extension.Factory }

func (renamedReceiver) DeprecatedAlias() component.Type  { return kind("filelog") }
func (renamedExporter) DeprecatedAlias() component.Type  { return kind("otlp") }
func (renamedConnector) DeprecatedAlias() component.Type { return kind("spanmetrics") }
func (renamedExtension) DeprecatedAlias() component.Type { return kind("filestorage") }

// factories have the renamed components under both names, as the collector's own maps do.
func factories() (otelcol.Factories, error) {
	logs := renamedReceiver{receiver.NewFactory(kind("file_log"), newSettings)}
	otlp := renamedExporter{exporter.NewFactory(kind("otlp_grpc"), newSettings)}
	spans := renamedConnector{connector.NewFactory(kind("span_metrics"), newSettings)}
	storage := renamedExtension{extension.NewFactory(kind("file_storage"), newSettings, nil, component.StabilityLevelStable)}
	return otelcol.Factories{
		Receivers: map[component.Type]receiver.Factory{
			kind("filelog"): logs, kind("file_log"): logs, kind("otlp"): receiver.NewFactory(kind("otlp"), newSettings),
			kind("creator"): receiver.NewFactory(kind("creator"), newCreator),
		},
		Processors: map[component.Type]processor.Factory{kind("batch"): processor.NewFactory(kind("batch"), newSettings)},
		Exporters: map[component.Type]exporter.Factory{
			kind("otlp"): otlp, kind("otlp_grpc"): otlp, kind("nop"): exporter.NewFactory(kind("nop"), newSettings),
		},
		Connectors: map[component.Type]connector.Factory{kind("spanmetrics"): spans, kind("span_metrics"): spans},
		Extensions: map[component.Type]extension.Factory{kind("filestorage"): storage, kind("file_storage"): storage},
	}, nil
}

func rename(text string) (*Result, error) {
	return Rename(context.Background(), &operation.Environment{Factories: factories}, validate.Request{YAML: text})
}

// expectUnchanged fails the test unless the text stayed as it was, and `reasons` say of each name why.
func expectUnchanged(t *testing.T, result *Result, text string, reasons []string) {
	t.Helper()

	var got []string
	for _, name := range result.NotRenamed {
		got = append(got, name.ComponentPath+": "+name.Reason)
	}
	if result.YAML != text || len(result.Renames) != 0 || !slices.Equal(got, reasons) {
		t.Errorf("%q\n%q", result.YAML, got)
	}
}

const anchored = `receivers:
  otlp: &settings {storage: filestorage}
  filelog: {<<: *settings, text: filelog}
extensions:
  filestorage:
`

func TestNamesAreReplacedAndNothingElse(t *testing.T) {
	for name, row := range map[string]struct{ text, want string }{
		"a section and a pipeline": {
			"receivers:\n  filelog:\n  otlp:\nservice:\n  pipelines:\n    logs: {receivers: [filelog, otlp]}\n",
			"receivers:\n  file_log:\n  otlp:\nservice:\n  pipelines:\n    logs: {receivers: [file_log, otlp]}\n",
		},
		"the same type is another component's": {
			"receivers:\n  otlp:\nexporters:\n  otlp/a:\nservice:\n  pipelines:\n    logs:\n      receivers:\n        - otlp\n      exporters:\n        - otlp/a # otlp\n",
			"receivers:\n  otlp:\nexporters:\n  otlp_grpc/a:\nservice:\n  pipelines:\n    logs:\n      receivers:\n        - otlp\n      exporters:\n        - otlp_grpc/a # otlp\n",
		},
		"a connector on both sides": {
			"connectors: {spanmetrics: }\nservice: {pipelines: {traces: {exporters: [spanmetrics]}, metrics: {receivers: [spanmetrics]}}}\n",
			"connectors: {span_metrics: }\nservice: {pipelines: {traces: {exporters: [span_metrics]}, metrics: {receivers: [span_metrics]}}}\n",
		},
		"quotes, blanks, tabs, comments, CRLF, a mark and long characters": {
			"\ufeffreceivers: # ä filelog\r\n  \"filelog/ü\":\t# ö\r\n  'filelog':\t{text: \"filelog\"}\r\nservice:\r\n  pipelines:\r\n    logs/日本:\r\n      receivers:  [ \"filelog/ü\" ,\t'filelog' ]\t\r\n",
			"\ufeffreceivers: # ä filelog\r\n  \"file_log/ü\":\t# ö\r\n  'file_log':\t{text: \"filelog\"}\r\nservice:\r\n  pipelines:\r\n    logs/日本:\r\n      receivers:  [ \"file_log/ü\" ,\t'file_log' ]\t\r\n",
		},
		"blanks around the type": {
			"receivers:\n  ' filelog / a': \nservice: {pipelines: {logs: {receivers: ['filelog/a']}}}\n",
			"receivers:\n  ' file_log / a': \nservice: {pipelines: {logs: {receivers: ['file_log/a']}}}\n",
		},
		"keys with the separator": {
			"receivers::filelog/a::text: filelog\nservice::pipelines::logs::receivers: [filelog/a]\n",
			"receivers::file_log/a::text: filelog\nservice::pipelines::logs::receivers: [file_log/a]\n",
		},
		"references of components": {
			"extensions: {filestorage/a: , filestorage: }\nexporters:\n  nop: {storage: filestorage/a, watch: [filestorage, x], auth: {authenticator: filestorage}, text: filestorage, free: {a: filestorage}}\n",
			"extensions: {file_storage/a: , file_storage: }\nexporters:\n  nop: {storage: file_storage/a, watch: [file_storage, x], auth: {authenticator: file_storage}, text: filestorage, free: {a: filestorage}}\n",
		},
		"components inside of components": {
			"receivers: {creator: {receivers: {filelog/x: {config: {filelog: 1}}, otlp: }, free: {filelog: 1}}}\n",
			"receivers: {creator: {receivers: {file_log/x: {config: {filelog: 1}}, otlp: }, free: {filelog: 1}}}\n",
		},
		"an anchor and a merge key": {
			anchored,
			strings.ReplaceAll(strings.Replace(anchored, "  filelog:", "  file_log:", 1), "filestorage", "file_storage"),
		},
		"an anchor for a list": {
			"receivers: {filelog: }\nservice: {pipelines: {logs: {receivers: &r [filelog]}, logs/b: {receivers: *r}}}\n",
			"receivers: {file_log: }\nservice: {pipelines: {logs: {receivers: &r [file_log]}, logs/b: {receivers: *r}}}\n",
		},
		"an anchor for a name": {
			"receivers: {&n filelog: }\nservice: {pipelines: {logs: {receivers: [*n , otlp]}}}\n",
			"receivers: {&n file_log: }\nservice: {pipelines: {logs: {receivers: [*n , otlp]}}}\n",
		},
		"a merged section": {
			"receivers: &r {filelog/a: {}}\nx: 1\nexporters: {otlp: }\nservice: {pipelines: {? logs\n: {receivers: [filelog/a], exporters: [!!str otlp]}}}\n",
			"receivers: &r {file_log/a: {}}\nx: 1\nexporters: {otlp_grpc: }\nservice: {pipelines: {? logs\n: {receivers: [file_log/a], exporters: [!!str otlp_grpc]}}}\n",
		},
		"an invalid configuration": {
			"receivers: {filelog: {nonsense: 1}, nope: }\nservice: {pipelines: {logs: {receivers: [filelog, nope]}}}\n",
			"receivers: {file_log: {nonsense: 1}, nope: }\nservice: {pipelines: {logs: {receivers: [file_log, nope]}}}\n",
		},
		"a not-a-number": {"receivers: {filelog: {free: {a: .nan}}}\n", "receivers: {file_log: {free: {a: .nan}}}\n"},
		"nothing to rename": {
			"# a comment\nreceivers:\n  otlp:\n", "# a comment\nreceivers:\n  otlp:\n",
		},
		"the first document": {"receivers: {filelog: }\n---\nreceivers: {filelog: }\n", "receivers: {file_log: }\n---\nreceivers: {filelog: }\n"},
		"an empty text":      {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			result, err := rename(row.text)
			if err != nil {
				t.Fatal(err)
			}

			if result.YAML != row.want || len(result.NotRenamed) != 0 {
				t.Errorf("%q\nnot\n%q\n%+v", result.YAML, row.want, result.NotRenamed)
			}
			if strings.Count(row.want, "_")-strings.Count(row.text, "_") != len(result.Renames) {
				t.Errorf("%+v", result.Renames)
			}
		})
	}
}

func TestWhatWasReplacedIsTold(t *testing.T) {
	result, err := rename("receivers:\n  otlp:\n  filelog/a: {storage: filestorage}\nextensions:\n  filestorage:\nservice:\n  extensions: [ \"filestorage\" ]\n  pipelines:\n    logs:\n      receivers: [otlp, filelog/a]\n")
	if err != nil {
		t.Fatal(err)
	}

	want := []Renamed{
		{"filelog", "file_log", "receivers::filelog/a", 3, 3},
		{"filestorage", "file_storage", "receivers::filelog/a::storage", 3, 24},
		{"filestorage", "file_storage", "extensions::filestorage", 5, 3},
		{"filestorage", "file_storage", "service::extensions", 7, 18},
		{"filelog", "file_log", "service::pipelines::logs", 10, 25},
	}
	if !slices.Equal(result.Renames, want) {
		t.Errorf("%+v", result.Renames)
	}
}

func TestNamesThatStay(t *testing.T) {
	const pipeline = "service: {pipelines: {logs: {receivers: [%s]}}}\n"
	for name, row := range map[string]struct {
		text string
		want []string
	}{
		"the new name is taken": {
			"receivers: {filelog/a: , file_log/a: }\n" + fmt.Sprintf(pipeline, "filelog/a, file_log/a"),
			[]string{"receivers::filelog/a: file_log/a is taken: there is receivers::file_log/a as well"},
		},
		"by a connector": {
			"exporters: {otlp: }\nconnectors: {otlp_grpc: }\n",
			[]string{"exporters::otlp: otlp_grpc is taken: there is connectors::otlp_grpc as well"},
		},
		"references are ambiguous": {
			"receivers: {spanmetrics: }\nconnectors: {spanmetrics: }\n" + fmt.Sprintf(pipeline, "spanmetrics"),
			[]string{"connectors::spanmetrics: references to it are ambiguous: there is receivers::spanmetrics as well"},
		},
		"a variable may refer to it": {
			"receivers: {filelog: }\n" + fmt.Sprintf(pipeline, "'${env:RECEIVER}'"),
			[]string{"receivers::filelog: line 2: ${env:RECEIVER} may refer to it"},
		},
		"a variable in the name": {
			"receivers: {filelog/a: }\n" + fmt.Sprintf(pipeline, "'filelog/${env:NAME}'"),
			[]string{"receivers::filelog/a: line 2: filelog/${env:NAME} may refer to it"},
		},
		"a variable for the list": {
			"receivers: {filelog: }\nservice: {pipelines: {logs: {receivers: '${env:RECEIVERS}'}}}\n",
			[]string{"receivers::filelog: line 2: ${env:RECEIVERS} may refer to it"},
		},
		"a variable for the service": {
			"receivers: {filelog: }\nservice: ${env:SERVICE}\n",
			[]string{"receivers::filelog: line 2: ${env:SERVICE} may refer to it"},
		},
		"a variable in a component": {
			"extensions: {filestorage: }\nexporters: {nop: {storage: '${env:STORAGE}'}}\n",
			[]string{"extensions::filestorage: line 2: ${env:STORAGE} may refer to it"},
		},
		"a component that cannot be read": {
			"extensions: {filestorage: }\nexporters: {nop: {nonsense: 1, storage: filestorage}}\n",
			[]string{"extensions::filestorage: exporters::nop cannot be read here, and may refer to it"},
		},
		"a component that the build lacks": {
			"extensions: {filestorage: }\nexporters: {nope: {storage: filestorage}}\n",
			[]string{"extensions::filestorage: exporters::nope cannot be read here, and may refer to it"},
		},
		"an anchor with another meaning": {
			"receivers: {filelog: {text: &n filelog}}\n" + fmt.Sprintf(pipeline, "*n "),
			[]string{"receivers::filelog: line 1: the name stands for something else as well, by an anchor"},
		},
		"escapes": {
			"receivers: {\"\\x66ilelog\": }\n" + fmt.Sprintf(pipeline, "filelog"),
			[]string{"receivers::filelog: line 1: the name is not written letter by letter"},
		},
		"a reference to nothing": {
			"receivers: {nope: }\n" + fmt.Sprintf(pipeline, "filelog, filelog/b, filelog"),
			[]string{
				"service::pipelines::logs: the text itself does not configure receivers::filelog",
				"service::pipelines::logs: the text itself does not configure receivers::filelog/b",
			},
		},
		"a section that a variable hides": {
			"<<: {receivers: {filelog: }}\nreceivers: ${env:R}\n",
			[]string{"receivers::filelog: line 2: ${env:R} may refer to it"},
		},
		"a key that would be too long": {
			"receivers: {filelog/" + strings.Repeat("a", 1016) + ": }\n" + fmt.Sprintf(pipeline, "filelog/"+strings.Repeat("a", 1016)),
			[]string{"receivers::filelog/" + strings.Repeat("a", 1016) + ": line 1: the key would have more than the 1,024 characters that YAML allows"},
		},
		"a long key in quotes, with an anchor and blanks": {
			"receivers:\n  &a \"filelog/" + strings.Repeat("a", 1010) + "\" :\n",
			[]string{"receivers::filelog/" + strings.Repeat("a", 1010) + ": line 2: the key would have more than the 1,024 characters that YAML allows"},
		},
		"a component inside": {
			"receivers: {creator: {receivers: {filelog: , file_log: }}}\n",
			[]string{"receivers::creator::receivers::filelog: file_log is taken"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			result, err := rename(row.text)
			if err != nil {
				t.Fatal(err)
			}

			expectUnchanged(t, result, row.text, row.want)
		})
	}
}

func TestALongKeyThatFitsIsRenamed(t *testing.T) {
	for _, text := range []string{
		"receivers: {filelog/" + strings.Repeat("a", 1015) + ": }\n",
		"receivers:\n  ? filelog/" + strings.Repeat("a", 1020) + "\n  : {}\n",
	} {
		result, err := rename(text)

		if err != nil || len(result.Renames) != 1 {
			t.Errorf("%v %+v", err, result)
		}
	}
}

func TestAnErrorOfTheRenamedTextIsNotTheCallers(t *testing.T) {
	var refused *operation.Error
	if err := unreadable(notAConfiguration(errors.New("x"))); errors.As(err, &refused) || !strings.Contains(err.Error(), "after the renaming") {
		t.Error(err)
	}
	if err := unreadable(tooCostly("it is long")); !errors.As(err, &refused) || !strings.HasPrefix(refused.Message, "with the new names, it is long") {
		t.Error(err)
	}
}

func TestWhatIsNotAConfigurationIsRefused(t *testing.T) {
	for text, code := range map[string]string{ // without a code it is accepted
		"a: [\n":                  "yaml_syntax",
		"hello":                   "yaml_syntax",
		"receivers: {a: , a: }\n": "yaml_syntax",
		"a: " + strings.Repeat("{a: ", 500) + strings.Repeat("}", 500):                                               "too_costly",
		"exporters: {nop: {watch: [" + strings.Repeat("filestorage, ", 2_000) + "]}}\nextensions: {filestorage: }\n": "too_costly",
		"receivers: {creator: {free: {a: [" + strings.Repeat("filelog,", 20_000) + "]}}}\n":                          "too_costly",
		"receivers: {filelog: {" + strings.Repeat("filelog::", 100) + "a: 1}}\n":                                     "",
	} {
		begun := time.Now()
		_, err := rename(text)

		var refused *operation.Error
		if errors.As(err, &refused) != (code != "") || code != "" && (refused.Code != code || !strings.Contains(refused.Message, "nothing was")) {
			t.Errorf("%.60q: %v", text, err)
		}
		if took := time.Since(begun); took > 10*time.Second {
			t.Errorf("%.60q took %s", text, took)
		}
	}
}

// earlier are the factories of a release that has the former names only.
func earlier() (otelcol.Factories, error) {
	return otelcol.Factories{
		Receivers: map[component.Type]receiver.Factory{
			kind("filelog"): receiver.NewFactory(kind("filelog"), newSettings),
			kind("otlp"):    receiver.NewFactory(kind("otlp"), newSettings),
		},
		Exporters: map[component.Type]exporter.Factory{kind("otlp"): exporter.NewFactory(kind("otlp"), newSettings)},
		Connectors: map[component.Type]connector.Factory{
			kind("spanmetrics"): connector.NewFactory(kind("spanmetrics"), newSettings),
		},
		Extensions: map[component.Type]extension.Factory{
			kind("file_storage"): extension.NewFactory(kind("file_storage"), newSettings, nil, component.StabilityLevelStable),
		},
	}, nil
}

func TestNamesOfALaterReleaseBecomeThoseOfThisOne(t *testing.T) {
	for name, row := range map[string]struct{ text, want string }{
		"words with underscores": {
			"receivers: {file_log/a: }\nconnectors: {span_metrics: }\nservice: {pipelines: {logs: {receivers: [file_log/a], exporters: [span_metrics]}}}\n",
			"receivers: {filelog/a: }\nconnectors: {spanmetrics: }\nservice: {pipelines: {logs: {receivers: [filelog/a], exporters: [spanmetrics]}}}\n",
		},
		"the exporter that has another name": {
			"receivers:\n  otlp:\nexporters:\n  otlp_grpc/b: # otlp_grpc\nservice: {pipelines: {logs: {receivers: [otlp], exporters: [otlp_grpc/b]}}}\n",
			"receivers:\n  otlp:\nexporters:\n  otlp/b: # otlp_grpc\nservice: {pipelines: {logs: {receivers: [otlp], exporters: [otlp/b]}}}\n",
		},
		"an extension to which components refer": {
			"extensions: {filestorage: }\nreceivers: {otlp: {storage: filestorage}}\nservice: {extensions: [filestorage]}\n",
			"extensions: {file_storage: }\nreceivers: {otlp: {storage: file_storage}}\nservice: {extensions: [file_storage]}\n",
		},
		"a name that is taken": {
			"receivers: {filelog: , file_log: }\nservice: {pipelines: {logs: {receivers: [filelog, file_log]}}}\n",
			"receivers: {filelog: , file_log: }\nservice: {pipelines: {logs: {receivers: [filelog, file_log]}}}\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			result, err := Rename(context.Background(), &operation.Environment{Factories: earlier}, validate.Request{YAML: row.text})
			if err != nil {
				t.Fatal(err)
			}
			if result.YAML != row.want {
				t.Errorf("got\n%s\nwant\n%s\nnot renamed: %+v", result.YAML, row.want, result.NotRenamed)
			}
		})
	}
}
