package together

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/headgate/headgate/layers/collector/internal/operation"
	"github.com/headgate/headgate/layers/collector/internal/validate"
	"github.com/headgate/headgate/layers/collector/version/distribution"
)

// BenchmarkCheck measures what a check costs beside the dry run alone: `go test -run - -bench Check -cpuprofile FILE`.
func BenchmarkCheck(b *testing.B) {
	settings := distribution.Settings()
	env := &operation.Environment{
		BuildInfo: settings.BuildInfo, Factories: distribution.Factories, Components: settings.Factories,
	}
	for name, text := range texts(b) {
		request := map[string]any{"yaml": text, "env": map[string]string{}, "today": "2026-11-22"}
		verdict, _ := json.Marshal(request)
		request["parts"] = []string{lintPart, policiesPart, graphPart}
		whole, _ := json.Marshal(request)
		b.Run(name+"/dry", func(b *testing.B) {
			var total float64
			for b.Loop() {
				result, err := validate.HandleDryRun(context.Background(), env, verdict)
				if err != nil {
					b.Fatal(err)
				}
				total += result.(validate.DryRun).Milliseconds
			}
			b.ReportMetric(total*1e6/float64(b.N), "ns/op")
		})
		b.Run(name+"/verdict", func(b *testing.B) { asked(b, env, validate.Handle, verdict) })
		b.Run(name+"/check", func(b *testing.B) { asked(b, env, Handle, whole) })
	}
}

func asked(b *testing.B, env *operation.Environment, handle operation.Handler, request []byte) {
	for b.Loop() {
		result, err := handle(context.Background(), env, request)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := json.Marshal(result); err != nil {
			b.Fatal(err)
		}
	}
}

func texts(b *testing.B) map[string]string {
	b.Helper()
	all := map[string]string{}
	for _, lines := range []int{25, 109, 1_054, 5_254} {
		all[fmt.Sprint(lines)] = transforms(lines)
	}
	flows, err := filepath.Glob("../../../../flows/*/collector.yaml")
	if err != nil || len(flows) == 0 {
		b.Fatal("no flows", err)
	}
	for _, file := range flows[:min(len(flows), 6)] {
		text, err := os.ReadFile(file)
		if err != nil {
			b.Fatal(err)
		}
		all[filepath.Base(filepath.Dir(file))] = string(text)
	}
	return all
}

// transforms is a text with that many lines of transform processors, of two statements each.
func transforms(lines int) string {
	var processors, names strings.Builder
	for n := range max(1, (lines-14)/4) {
		fmt.Fprintf(&processors, "  transform/%d:\n    log_statements:\n      - context: log\n        statements: "+
			`['set(attributes["a%[1]d"], "b")', 'set(attributes["c%[1]d"], body)']`+"\n", n)
		fmt.Fprintf(&names, "transform/%d, ", n)
	}
	return "receivers:\n  otlp:\n    protocols:\n      grpc:\nexporters:\n  debug:\nprocessors:\n" + processors.String() +
		"service:\n  pipelines:\n    logs:\n      receivers: [otlp]\n      processors: [" + strings.TrimSuffix(names.String(), ", ") +
		"]\n      exporters: [debug]\n"
}
