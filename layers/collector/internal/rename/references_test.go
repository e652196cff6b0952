package rename

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/headgate/headgate/layers/collector/internal/operation"
	"github.com/headgate/headgate/layers/collector/internal/validate"
)

var fromVariables = []struct {
	name, text string
	env        map[string]string
	want       []string
}{
	{
		"receivers", "receivers: ${env:R}\nservice: {pipelines: {logs: {receivers: [filelog]}}}\n",
		map[string]string{"R": "{filelog: }"},
		[]string{"service::pipelines::logs: the text itself does not configure receivers::filelog"},
	},
	{
		"receivers by default", "receivers: '${env:R:-{filelog: }}'\nservice: {pipelines: {logs: {receivers: [filelog]}}}\n", nil,
		[]string{"service::pipelines::logs: the text itself does not configure receivers::filelog"},
	},
	{
		"receivers from a file", "receivers: ${file:/r.yaml}\nservice: {pipelines: {logs: {receivers: [filelog]}}}\n", nil,
		[]string{"service::pipelines::logs: the text itself does not configure receivers::filelog"},
	},
	{
		"exporters", "exporters: ${env:R}\nservice: {pipelines: {logs: {exporters: [otlp/a, nop]}}}\n",
		map[string]string{"R": "{otlp/a: , nop: }"},
		[]string{"service::pipelines::logs: the text itself does not configure exporters::otlp/a"},
	},
	{
		"connectors", "connectors: ${env:R}\nservice:\n  pipelines:\n    traces: {exporters: [spanmetrics]}\n    metrics: {receivers: [spanmetrics]}\n",
		map[string]string{"R": "{spanmetrics: }"},
		[]string{
			"service::pipelines::traces: the text itself does not configure connectors::spanmetrics",
			"service::pipelines::metrics: the text itself does not configure connectors::spanmetrics",
		},
	},
	{
		"extensions", "extensions: ${env:R}\nexporters: {nop: {storage: filestorage}}\nservice: {extensions: [filestorage]}\n",
		map[string]string{"R": "{filestorage: }"},
		[]string{
			"exporters::nop::storage: the text itself does not configure extensions::filestorage",
			"service::extensions: the text itself does not configure extensions::filestorage",
		},
	},
	{
		"a key", "receivers: {'${env:T:-filelog}': }\nservice: {pipelines: {logs: {receivers: [filelog]}}}\n", nil,
		[]string{"service::pipelines::logs: the text itself does not configure receivers::filelog"},
	},
	{
		"the new name", "receivers: {filelog: }\nconnectors: ${env:R}\nservice: {pipelines: {logs: {receivers: [filelog]}}}\n",
		map[string]string{"R": "{file_log: }"},
		[]string{"receivers::filelog: file_log is taken: there is connectors::file_log as well"},
	},
	{
		"the same name", "connectors: {spanmetrics: }\nreceivers: ${env:R}\nservice: {pipelines: {metrics: {receivers: [spanmetrics]}}}\n",
		map[string]string{"R": "{spanmetrics: }"},
		[]string{"connectors::spanmetrics: references to it are ambiguous: there is receivers::spanmetrics as well"},
	},
}

func TestReferencesToWhatVariablesConfigureStay(t *testing.T) {
	for _, row := range fromVariables {
		t.Run(row.name, func(t *testing.T) {
			request := validate.Request{YAML: row.text, Env: row.env}
			result, err := Rename(context.Background(), &operation.Environment{Factories: factories}, request)
			if err != nil {
				t.Fatal(err)
			}

			expectUnchanged(t, result, row.text, row.want)
		})
	}
}

func TestReferencesAreCompared(t *testing.T) {
	const text = "extensions: {filestorage: }\nexporters: {nop: {storage: filestorage}}\nservice:\n  extensions: [filestorage]\n  pipelines: {logs: {receivers: [otlp], exporters: [nop]}}\n"
	for replaced, want := range map[string]string{ // in the renamed text
		"nop: {storage: file_storage}": "exporters::nop would refer to no extension",
		"extensions: [file_storage]":   "service::extensions::0 would refer to no component",
		"exporters: [nop]":             "service::pipelines::logs::exporters::0 would refer to no component",
		"receivers: [otlp]":            "", // it named no component before
	} {
		document, before, err := read(context.Background(), validate.Request{YAML: text})
		if err != nil {
			t.Fatal(err)
		}
		made, _ := factories()
		p := newPlan(&operation.Environment{Factories: factories}, kindsOf(made), text, document, before)
		if err := p.find(); err != nil {
			t.Fatal(err)
		}
		p.settle()
		renamed := p.apply(text).YAML
		broken := strings.Replace(renamed, replaced, strings.NewReplacer("file_storage", "none", "[nop]", "[none]", "[otlp]", "[none]").Replace(replaced), 1)
		_, after, err := read(context.Background(), validate.Request{YAML: broken})
		if err != nil || broken == renamed {
			t.Fatal(err, broken)
		}

		err = p.sameReferences(after)

		if got := fmt.Sprint(err); got != want && (want != "" || err != nil) {
			t.Errorf("%s: %v", replaced, err)
		}
	}
}

func TestVariablesElsewhereDoNotMatter(t *testing.T) {
	result, err := rename("extensions: {filestorage: }\nexporters: {nop: {text: '${env:A}', number: '${env:B}', free: {a: '${env:C}'}}, otlp: {storage: filestorage}}\nservice: {pipelines: {logs: {receivers: ['${env:D}']}}}\n")

	if err != nil || len(result.Renames) != 3 || len(result.NotRenamed) != 0 {
		t.Errorf("%v %+v", err, result)
	}
}
