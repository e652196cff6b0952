package policies

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/headgate/headgate/layers/collector/internal/operation"
	"github.com/headgate/headgate/layers/collector/internal/validate"
)

var refusals = []string{"bad_request", "yaml_syntax", "too_costly"}

// FuzzPolicies looks for texts and rules that make the policies panic, refuse without a known word, point outside of the
// text, or contradict themselves.
func FuzzPolicies(f *testing.F) {
	for i, policy := range all {
		f.Add(policy.Failing, "true")
		if i%5 == 0 {
			f.Add(policy.Passing, `components.filter(c, c.used).map(c, c.path)`)
		}
	}
	for text, rule := range map[string]string{
		insecure: `pipelines.exists(p, p.exporters.exists(e, e.settings.?tls.?insecure.orValue(false)))`,
		"# headgate: allow insecure_tls, own until 2027-01 because x\na: |2 # headgate: allow\n   # headgate: allow x\n": `config.all(k, k != "")`,
		"exporters::otlp::tls::insecure: true\nservice::pipelines::traces::exporters: [otlp]\n":                          `["exporters::otlp"]`,
		"receivers: &r {otlp: *r}\n": `size(config) / 0 > 1`,
		"receivers: {otlp: {protocols: {grpc: {endpoint: '${env:A:-0.0.0.0:1}'}}}}\nexporters: {<<: {otlp: }}\n": `"a".matches("b")`,
		"\ufeffexporters: {otlp: {endpoint: 'unix:///a', tls: {insecure: \"\\x74rue\"}}}\n":                      `1`,
		"service: {pipelines: {traces: [otlp], logs: {exporters: debug}, '': }, extensions: {a: b}}\n":           `config["service"].pipelines`,
		"a: [\n": ``,
	} {
		f.Add(text, rule)
	}
	f.Fuzz(func(t *testing.T, text, expression string) {
		// Requests are JSON, which replaces what is not UTF-8.
		text, expression = strings.ToValidUTF8(text, "\ufffd"), strings.ToValidUTF8(expression, "\ufffd")
		result, err := answer(Request{
			Request: validate.Request{YAML: text},
			Rules:   []Rule{{Name: "own", Expression: expression, Message: "m", Severity: Warning, Suppressible: true}},
		})
		var refused *operation.Error
		if errors.As(err, &refused) {
			if !slices.Contains(refusals, refused.Code) || refused.Message == "" {
				t.Fatalf("refused with %+v", refused)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		// YAML has line breaks that are none elsewhere, and never more lines than such characters.
		most := utf8.RuneCountInString(text) + 1
		for _, one := range result.Findings {
			if one.Line < 1 || one.Column < 1 || one.Line > most || one.Column > most || one.Message == "" || one.Code == "" {
				t.Errorf("%+v is outside of the text", one)
			}
		}
		for _, one := range result.Suppressions {
			if one.Used == (one.Problem != nil) || one.Line < 1 || one.Line > most {
				t.Errorf("%+v contradicts itself", one)
			}
		}
		for _, one := range result.FailedRules {
			if one.Name != "own" || one.Error == "" {
				t.Errorf("%+v says too little", one)
			}
		}
		if _, err := json.Marshal(result); err != nil {
			t.Fatal(err)
		}
	})
}
