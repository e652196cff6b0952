package explain

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/headgate/headgate/layers/collector/internal/operation"
	"github.com/headgate/headgate/layers/collector/internal/validate"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/otelcol"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/service/telemetry/otelconftelemetry"
)

func factories() (otelcol.Factories, error) {
	empty := func() component.Config { return &struct{}{} }
	logs, otlp := component.MustNewType("filelog"), component.MustNewType("otlp")
	return otelcol.Factories{
		Receivers: map[component.Type]receiver.Factory{logs: receiver.NewFactory(logs, empty)},
		Exporters: map[component.Type]exporter.Factory{otlp: exporter.NewFactory(otlp, empty)},
		Telemetry: otelconftelemetry.NewFactory(),
	}, nil
}

func TestAnUnknownComponentComesWithTheChangesThatRenameIt(t *testing.T) {
	for name, row := range map[string]struct {
		text string
		want []string
	}{
		"wherever it is named": {
			"receivers:\n  file_log/a:\nexporters:\n  otlp_grpc:\nservice:\n  pipelines:\n    logs: {receivers: [file_log/a], exporters: [otlp_grpc]}\n",
			[]string{
				"receivers::file_log/a newer_release file_log>filelog 2:3-11 filelog 7:24-32 filelog",
				"exporters::otlp_grpc newer_release otlp_grpc>otlp 4:3-12 otlp 7:49-58 otlp",
			},
		},
		"not one that later releases or other distributions have": {
			"receivers: {systemd: }\nprocessors: {signozspanmetrics/a: }\nexporters: {loki: }\n",
			[]string{
				"exporters::loki removed loki>otlphttp, to the endpoint /otlp of Loki 3",
				"processors::signozspanmetrics/a other_distribution signozspanmetrics>SigNoz's distribution",
				"receivers::systemd newer_release systemd>",
			},
		},
		"not one that no release has": {
			"receivers:\n  fielog:\nservice:\n  pipelines:\n    logs: {receivers: [fielog], exporters: [otlp]}\n",
			[]string{"receivers::fielog"},
		},
		"not one whose other name is taken": {
			"receivers: {filelog: , file_log: }\nservice: {pipelines: {logs: {receivers: [filelog, file_log], exporters: []}}}\n",
			[]string{"receivers::file_log newer_release file_log>filelog"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			request, _ := json.Marshal(map[string]any{"yaml": row.text})
			env := &operation.Environment{
				Factories: factories, BuildInfo: component.BuildInfo{Version: "0.139.0"},
			}
			answer, err := Handle(context.Background(), env, request)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, one := range answer.(*validate.Result).Errors {
				if one.Code != validate.UnknownComponent {
					continue
				}
				line := one.ComponentPath
				if one.Cause != nil {
					line = fmt.Sprintf("%s %s %s>%s", line, one.Cause.Kind, one.Cause.Names[0], one.Cause.Instead)
				}
				for _, fix := range one.Fix {
					line += fmt.Sprintf(" %d:%d-%d %s", fix.Line, fix.Column, fix.EndColumn, fix.Text)
				}
				got = append(got, line)
			}
			slices.Sort(got)
			slices.Sort(row.want)
			if !slices.Equal(got, row.want) {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
}
