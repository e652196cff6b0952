package recorder

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/open-telemetry/opentelemetry-collector-contrib/exporter/fileexporter"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/exportertest"
	"go.opentelemetry.io/collector/exporter/xexporter"
	"go.opentelemetry.io/collector/otelcol"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

func lastingFile(t *testing.T) exporter.Factory {
	t.Helper()
	made, err := Lasting(func() (otelcol.Factories, error) {
		exporters, err := otelcol.MakeFactoryMap(fileexporter.NewFactory())
		return otelcol.Factories{Exporters: exporters}, err
	})()
	if err != nil {
		t.Fatal(err)
	}
	return made.Exporters[file]
}

func TestRecordsAfterTheShutdownAreLeftOutAndEndNothing(t *testing.T) {
	ctx, host := context.Background(), componenttest.NewNopHost()
	logsBatch, tracesBatch, metricsBatch := plog.NewLogs(), ptrace.NewTraces(), pmetric.NewMetrics()
	logsBatch.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords().AppendEmpty().Body().SetStr("in time")
	factory := lastingFile(t)
	for name, consume := range map[string]func(exporter.Settings, any) (func() error, func() error, error){
		"logs": func(set exporter.Settings, config any) (func() error, func() error, error) {
			made, err := factory.CreateLogs(ctx, set, config)
			return func() error { return made.ConsumeLogs(ctx, logsBatch) }, started(made.Start(ctx, host), func() error { return made.Shutdown(ctx) }), err
		},
		"traces": func(set exporter.Settings, config any) (func() error, func() error, error) {
			made, err := factory.CreateTraces(ctx, set, config)
			return func() error { return made.ConsumeTraces(ctx, tracesBatch) }, started(made.Start(ctx, host), func() error { return made.Shutdown(ctx) }), err
		},
		"metrics": func(set exporter.Settings, config any) (func() error, func() error, error) {
			made, err := factory.CreateMetrics(ctx, set, config)
			return func() error { return made.ConsumeMetrics(ctx, metricsBatch) }, started(made.Start(ctx, host), func() error { return made.Shutdown(ctx) }), err
		},
	} {
		path := filepath.Join(t.TempDir(), "output")
		config := factory.CreateDefaultConfig()
		if err := confmap.NewFromStringMap(map[string]any{"path": path}).Unmarshal(config); err != nil {
			t.Fatal(err)
		}
		send, stop, err := consume(exportertest.NewNopSettings(file), config)
		if err != nil {
			t.Fatal(err)
		}
		for _, step := range []func() error{send, stop, send} {
			if err := step(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		content, err := os.ReadFile(path)
		if err != nil || strings.Count(string(content), "\n") != 1 {
			t.Errorf("%s: %q, %v", name, content, err)
		}
	}
}

func started(err error, stop func() error) func() error {
	if err != nil {
		return func() error { return err }
	}
	return stop
}

func TestTheExporterStillTakesProfiles(t *testing.T) {
	if _, is := lastingFile(t).(xexporter.Factory); !is {
		t.Error("it does not")
	}
}
