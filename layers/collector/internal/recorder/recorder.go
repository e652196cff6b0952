// Package recorder lets the file exporter of this build, which records test runs, take records that come after its
// shutdown. A processor may send its last records from a goroutine that nothing waits for; the exporter of the release
// ends the collector with a nil pointer then.
package recorder

import (
	"context"
	"sync"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/xexporter"
	"go.opentelemetry.io/collector/otelcol"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.uber.org/zap"
)

var file = component.MustNewType("file")

// Lasting returns factories whose file exporter takes late records.
func Lasting(factories func() (otelcol.Factories, error)) func() (otelcol.Factories, error) {
	return func() (otelcol.Factories, error) {
		made, err := factories()
		// The exporter of the release can also take profiles; the collector asks each factory for that.
		if own, known := made.Exporters[file].(xexporter.Factory); err == nil && known {
			made.Exporters[file] = lasting{own}
		}
		return made, err
	}
}

type lasting struct{ xexporter.Factory }

func (f lasting) CreateLogs(ctx context.Context, set exporter.Settings, config component.Config) (exporter.Logs, error) {
	own, err := f.Factory.CreateLogs(ctx, set, config)
	return logs{own, &gate{logger: set.Logger}}, err
}

func (f lasting) CreateTraces(ctx context.Context, set exporter.Settings, config component.Config) (exporter.Traces, error) {
	own, err := f.Factory.CreateTraces(ctx, set, config)
	return traces{own, &gate{logger: set.Logger}}, err
}

func (f lasting) CreateMetrics(ctx context.Context, set exporter.Settings, config component.Config) (exporter.Metrics, error) {
	own, err := f.Factory.CreateMetrics(ctx, set, config)
	return metrics{own, &gate{logger: set.Logger}}, err
}

func (f lasting) CreateProfiles(
	ctx context.Context, set exporter.Settings, config component.Config,
) (xexporter.Profiles, error) {
	own, err := f.Factory.CreateProfiles(ctx, set, config)
	return profiles{own, &gate{logger: set.Logger}}, err
}

// gate passes records on until it is closed.
type gate struct {
	mutex  sync.RWMutex
	closed bool
	logger *zap.Logger
}

func (g *gate) pass(on func() error) error {
	g.mutex.RLock()
	defer g.mutex.RUnlock()
	if g.closed {
		g.logger.Warn("Records came after the shutdown of this exporter. They are left out.")
		return nil
	}
	return on()
}

func (g *gate) close(shutdown func() error) error {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	g.closed = true
	return shutdown()
}

type logs struct {
	exporter.Logs
	gate *gate
}

func (e logs) ConsumeLogs(ctx context.Context, batch plog.Logs) error {
	return e.gate.pass(func() error { return e.Logs.ConsumeLogs(ctx, batch) })
}

func (e logs) Shutdown(ctx context.Context) error {
	return e.gate.close(func() error { return e.Logs.Shutdown(ctx) })
}

type traces struct {
	exporter.Traces
	gate *gate
}

func (e traces) ConsumeTraces(ctx context.Context, batch ptrace.Traces) error {
	return e.gate.pass(func() error { return e.Traces.ConsumeTraces(ctx, batch) })
}

func (e traces) Shutdown(ctx context.Context) error {
	return e.gate.close(func() error { return e.Traces.Shutdown(ctx) })
}

type metrics struct {
	exporter.Metrics
	gate *gate
}

func (e metrics) ConsumeMetrics(ctx context.Context, batch pmetric.Metrics) error {
	return e.gate.pass(func() error { return e.Metrics.ConsumeMetrics(ctx, batch) })
}

func (e metrics) Shutdown(ctx context.Context) error {
	return e.gate.close(func() error { return e.Metrics.Shutdown(ctx) })
}

type profiles struct {
	xexporter.Profiles
	gate *gate
}

func (e profiles) ConsumeProfiles(ctx context.Context, batch pprofile.Profiles) error {
	return e.gate.pass(func() error { return e.Profiles.ConsumeProfiles(ctx, batch) })
}

func (e profiles) Shutdown(ctx context.Context) error {
	return e.gate.close(func() error { return e.Profiles.Shutdown(ctx) })
}
