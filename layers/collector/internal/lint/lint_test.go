package lint

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/headgate/headgate/layers/collector/internal/operation"
	"github.com/open-telemetry/opentelemetry-collector-contrib/connector/countconnector"
	"github.com/open-telemetry/opentelemetry-collector-contrib/connector/routingconnector"
	"github.com/open-telemetry/opentelemetry-collector-contrib/connector/signaltometricsconnector"
	"github.com/open-telemetry/opentelemetry-collector-contrib/connector/sumconnector"
	"github.com/open-telemetry/opentelemetry-collector-contrib/exporter/honeycombmarkerexporter"
	"github.com/open-telemetry/opentelemetry-collector-contrib/processor/attributesprocessor"
	"github.com/open-telemetry/opentelemetry-collector-contrib/processor/filterprocessor"
	"github.com/open-telemetry/opentelemetry-collector-contrib/processor/logdedupprocessor"
	"github.com/open-telemetry/opentelemetry-collector-contrib/processor/spanprocessor"
	"github.com/open-telemetry/opentelemetry-collector-contrib/processor/tailsamplingprocessor"
	"github.com/open-telemetry/opentelemetry-collector-contrib/processor/transformprocessor"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/connector"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/otelcol"
	"go.opentelemetry.io/collector/processor"
)

// collector is one that has the components with OTTL fields, and no others.
func collector() *operation.Environment {
	return &operation.Environment{
		BuildInfo: component.BuildInfo{Command: "otelcol-contrib", Version: "0.139.0"},
		Factories: func() (otelcol.Factories, error) {
			factories := otelcol.Factories{
				Processors: map[component.Type]processor.Factory{},
				Connectors: map[component.Type]connector.Factory{},
				Exporters:  map[component.Type]exporter.Factory{},
			}
			for _, factory := range []processor.Factory{
				attributesprocessor.NewFactory(), filterprocessor.NewFactory(), logdedupprocessor.NewFactory(),
				spanprocessor.NewFactory(), tailsamplingprocessor.NewFactory(), transformprocessor.NewFactory(),
			} {
				factories.Processors[factory.Type()] = factory
			}
			for _, factory := range []connector.Factory{
				countconnector.NewFactory(), routingconnector.NewFactory(), signaltometricsconnector.NewFactory(),
				sumconnector.NewFactory(),
			} {
				factories.Connectors[factory.Type()] = factory
			}
			factory := honeycombmarkerexporter.NewFactory()
			factories.Exporters[factory.Type()] = factory
			return factories, nil
		},
	}
}

func ask(t testing.TB, request Request) *Result {
	t.Helper()
	raw, err := json.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	result, err := Handle(context.Background(), collector(), raw)
	if err != nil {
		t.Fatal(err)
	}
	return result.(*Result)
}

func lintYAML(t testing.TB, text string) *Result {
	t.Helper()
	return ask(t, Request{YAML: &text})
}

func refusal(t *testing.T, request string) *operation.Error {
	t.Helper()
	_, err := Handle(context.Background(), collector(), json.RawMessage(request))
	var refused *operation.Error
	if !errors.As(err, &refused) {
		t.Fatalf("not refused but %v", err)
	}
	return refused
}

func BenchmarkLintOf200Expressions(b *testing.B) {
	var text strings.Builder
	text.WriteString("processors:\n")
	for i := range 10 {
		fmt.Fprintf(&text, "  transform/%d:\n    log_statements:\n      - context: log\n        statements:\n", i)
		for k := range 10 {
			fmt.Fprintf(&text, "          - 'set(attributes[\"a%d\"], Concat([body, \"x\"], \",\")) where IsMatch(body, \"^a.*%d$\") and severity_number > 9'\n", k, k)
		}
		fmt.Fprintf(&text, "  filter/%d:\n    traces:\n      span:\n", i)
		for k := range 10 {
			fmt.Fprintf(&text, "          - 'attributes[\"http.route\"] == \"/health%d\" and end_time_unix_nano < 5'\n", k)
		}
	}
	b.Run("good", func(b *testing.B) {
		for b.Loop() {
			if result := lintYAML(b, text.String()); !result.Valid || result.Checked != 200 {
				b.Fatal("not as written")
			}
		}
	})
	broken := strings.ReplaceAll(text.String(), "body", "bodi")
	broken = strings.ReplaceAll(broken, "end_time_unix_nano <", "end_time_unix_nano =")
	b.Run("all broken", func(b *testing.B) {
		for b.Loop() {
			if result := lintYAML(b, broken); result.Valid || result.Checked != 200 {
				b.Fatal("not as written")
			}
		}
	})
}
