package validate

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/headgate/headgate/layers/collector/internal/operation"
)

// FuzzValidate looks for texts that make the checker panic, refuse without a reason, or point outside of the text.
func FuzzValidate(f *testing.F) {
	for _, text := range []string{
		"receivers:\n  nop:\nexporters:\n  nop:\n" + nopPipeline,
		"receivers: &a\n  nop: {x: ${env:A:-b}}\nexporters:\n  <<: *a\n  otlp/x.y: |\n    text\n" + nopPipeline,
		"receivers:\n  nop:\n  nop:\n---\n? a\n: b\n",
		"connectors: {forward: }\nreceivers: {nop: }\nexporters: {nop: }\nservice: {pipelines: {logs: {receivers: [forward], exporters: [forward]}}}\n",
		"a: &a [*a]\n", ":::", "\ufeffreceivers::nop: ${file:x}\n", "receivers: !!binary x\n", "? [a, b]\n: c\n", "a: \"${yaml:b: ${env:C}}\"\n",
	} {
		f.Add(text)
	}
	environment := &operation.Environment{Factories: fewFactories}
	f.Add("receivers: {nop/\xff: }\n")
	f.Fuzz(func(t *testing.T, text string) {
		text = strings.ToValidUTF8(text, "\ufffd") // as in any request, which is JSON
		result, err := Validate(context.Background(), environment, Request{YAML: text})
		var refused *operation.Error
		if errors.As(err, &refused) && refused.Code == "too_costly" && refused.Message != "" {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if result.Valid != (len(result.Errors) == 0) {
			t.Fatalf("valid: %v with %d errors", result.Valid, len(result.Errors))
		}
		// YAML has line breaks that are none elsewhere, and never more lines than such characters.
		most := len([]rune(text)) + 1
		for _, one := range append(result.Errors, result.Warnings...) {
			if one.Line < 1 || one.Column < 1 || one.Line > most || one.Column > most {
				t.Errorf("%+v is outside of the text", one)
			}
			if one.Message == "" || one.Code == "" || (one.ComponentPath == "" && one.Code != YAMLSyntax) ||
				strings.HasPrefix(one.Message, "yaml: ") {
				t.Errorf("%+v says too little", one)
			}
		}
	})
}
