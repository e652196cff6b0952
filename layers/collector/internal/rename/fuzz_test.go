package rename

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/headgate/headgate/layers/collector/internal/operation"
	"github.com/headgate/headgate/layers/collector/internal/source"
	"github.com/headgate/headgate/layers/collector/internal/validate"
)

// FuzzRename looks for texts in which the renaming changes more than names, or which it cannot confirm.
func FuzzRename(f *testing.F) {
	for _, text := range []string{
		anchored,
		"receivers:\n  filelog:\n  otlp:\nservice:\n  pipelines:\n    logs: {receivers: [filelog, otlp]}\n",
		"\ufeffreceivers: # ä\r\n  \"filelog/ü\":\t# ö\r\n  'filelog':\t{text: \"filelog\"}\r\n",
		"receivers::filelog/a::text: filelog\nservice::pipelines::logs::receivers: [filelog/a]\n",
		"extensions: {filestorage/a: }\nexporters:\n  nop: {storage: filestorage/a, watch: [filestorage, x]}\n",
		"receivers: {creator: {receivers: {filelog/x: {config: {filelog: 1}}, otlp: }, free: {filelog: 1}}}\n",
		"receivers: {&n filelog: }\nservice: {pipelines: {logs: {receivers: [*n , otlp]}}}\n",
		"receivers: {filelog/a: , file_log/a: }\n", "receivers: {\"\\x66ilelog\": }\n", "? filelog\n: b\n",
		"receivers: &r\n  filelog: |\n    text\nexporters:\n  <<: *r\n  otlp: >-\n    x\n", "receivers: {filelog: '${env:A:-b}'}\n---\na: 1\n",
		"service: {pipelines: {logs: {receivers: ['${env:R}']}}}\nreceivers: {filelog: }\n",
	} {
		f.Add(text)
	}
	for _, row := range fromVariables {
		f.Add(row.text)
	}
	f.Add("receivers: {filelog/" + strings.Repeat("a", 1016) + ": }\n")
	f.Add("receivers:\n  &a \"filelog/" + strings.Repeat("a", 1010) + "\" :\n")
	f.Add("<<: {receivers: {filelog: }}\nreceivers: ${env:R}\n")
	f.Add("receivers: '${env:R:-{filelog: }}'\nexporters: '${env:E:-{otlp: }}'\nservice: {pipelines: {logs: {receivers: filelog, exporters: [otlp]}}}\n")
	environment := &operation.Environment{Factories: factories}
	f.Add("receivers: {filelog/\xff: }\n")
	f.Fuzz(func(t *testing.T, text string) {
		text = strings.ToValidUTF8(text, "\ufffd") // as in any request, which is JSON
		result, err := Rename(context.Background(), environment, validate.Request{YAML: text})
		var refused *operation.Error
		if errors.As(err, &refused) && refused.Message != "" {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := source.Parse(result.YAML); err != nil {
			t.Fatalf("%q does not parse: %v", result.YAML, err)
		}
		// Taking the underscores of the new names out again leaves the text as it was.
		back, rest := "", result.YAML
		for _, one := range result.Renames {
			at := strings.Index(rest, one.To)
			for at >= 0 && !strings.HasPrefix(text[len(back)+at:], one.From) {
				at += 1 + strings.Index(rest[at+1:], one.To)
			}
			back, rest = back+rest[:at]+one.From, rest[at+len(one.To):]
		}
		if back+rest != text {
			t.Fatalf("%q became %q", text, result.YAML)
		}
		again, err := Rename(context.Background(), environment, validate.Request{YAML: result.YAML})
		if err != nil || again.YAML != result.YAML || len(again.Renames) != 0 || len(again.NotRenamed) != len(result.NotRenamed) {
			t.Fatalf("again: %v %+v", err, again)
		}
	})
}
