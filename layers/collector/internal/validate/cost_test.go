package validate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/headgate/headgate/layers/collector/internal/operation"
)

func variablesThatDouble(count int) map[string]string {
	env := map[string]string{"A0": "x"}
	for i := range count {
		env[fmt.Sprintf("A%d", i+1)] = fmt.Sprintf("${env:A%d}${env:A%d}", i, i)
	}
	return env
}

func TestATextThatWouldTakeTooLongIsRefusedBeforeItIsJudged(t *testing.T) {
	grok := `'ExtractGrokPatterns(log.body, "%{A:a}", true, ["A=%{A}%{A}"]) != nil'`
	for name, request := range map[string]Request{
		"variables that double":        {YAML: "receivers: {otlp: '${env:A30}'}", Env: variablesThatDouble(30)},
		"a long variable often":        {YAML: "a: '" + strings.Repeat("${env:A}", 1_000) + "'", Env: map[string]string{"A": strings.Repeat("x", 10_000)}},
		"a variable that names itself": {YAML: "a: ${A}", Env: map[string]string{"A": "${A}${A}"}},
		"files whose names are composed": {
			YAML:  "a: '" + strings.Repeat("${file:b:${env:A}}", 1_000) + "'",
			Env:   map[string]string{"A": "c"},
			Files: map[string]string{"b:c": strings.Repeat("x", 10_000)},
		},
		"an expression in a variable": {YAML: "processors: {filter: {logs: {log_record: ['${env:A}']}}}", Env: map[string]string{"A": strings.Trim(grok, "'")}},
		"a broken text beside it":     {YAML: "receivers: 7\nprocessors: {filter: {logs: {log_record: [" + grok + "]}}}"},
		"a reference that is refused": {YAML: "receivers: {otlp: '${file:a}'}\nprocessors: {filter: {logs: {log_record: [" + grok + "]}}}"},
		"in the document behind":      {YAML: "receivers: {}\n---\nreceivers: {" + strings.Repeat("otlp/a: {},", 2_001) + "}"},
	} {
		t.Run(name, func(t *testing.T) {
			environment := &operation.Environment{Factories: fewFactories}
			raw, err := json.Marshal(request)
			if err != nil {
				t.Fatal(err)
			}
			for op, handle := range map[string]operation.Handler{"validate": Handle, "price": HandlePrice} {
				_, err := handle(context.Background(), environment, raw)

				var refused *operation.Error
				if !errors.As(err, &refused) || refused.Code != "too_costly" {
					t.Errorf("%s: %v", op, err)
				}
			}
		})
	}
}
