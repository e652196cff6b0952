package trace

import (
	"context"
	"reflect"
	"slices"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/connector"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pipeline"
)

type logsBefore struct {
	component.Component
	consumer.Logs
	step *step
}

func (b logsBefore) ConsumeLogs(ctx context.Context, logs plog.Logs) error {
	ctx, f := b.step.enter(ctx, func() (*batch, error) { return batchOfLogs(logs) })
	err := b.Logs.ConsumeLogs(ctx, logs)
	f.exit(err)
	return err
}

type tracesBefore struct {
	component.Component
	consumer.Traces
	step *step
}

func (b tracesBefore) ConsumeTraces(ctx context.Context, traces ptrace.Traces) error {
	ctx, f := b.step.enter(ctx, func() (*batch, error) { return batchOfTraces(traces) })
	err := b.Traces.ConsumeTraces(ctx, traces)
	f.exit(err)
	return err
}

type metricsBefore struct {
	component.Component
	consumer.Metrics
	step *step
}

func (b metricsBefore) ConsumeMetrics(ctx context.Context, metrics pmetric.Metrics) error {
	ctx, f := b.step.enter(ctx, func() (*batch, error) { return batchOfMetrics(metrics) })
	err := b.Metrics.ConsumeMetrics(ctx, metrics)
	f.exit(err)
	return err
}

type logsBehind struct {
	consumer.Logs
	step      *step
	pipelines []string
}

func (b *logsBehind) ConsumeLogs(ctx context.Context, logs plog.Logs) error {
	return b.Logs.ConsumeLogs(b.step.leave(ctx, b.pipelines, logs.LogRecordCount(), func() (*batch, error) { return batchOfLogs(logs) }), logs)
}

type tracesBehind struct {
	consumer.Traces
	step      *step
	pipelines []string
}

func (b *tracesBehind) ConsumeTraces(ctx context.Context, traces ptrace.Traces) error {
	return b.Traces.ConsumeTraces(b.step.leave(ctx, b.pipelines, traces.SpanCount(), func() (*batch, error) { return batchOfTraces(traces) }), traces)
}

type metricsBehind struct {
	consumer.Metrics
	step      *step
	pipelines []string
}

func (b *metricsBehind) ConsumeMetrics(ctx context.Context, metrics pmetric.Metrics) error {
	return b.Metrics.ConsumeMetrics(b.step.leave(ctx, b.pipelines, metrics.DataPointCount(), func() (*batch, error) { return batchOfMetrics(metrics) }), metrics)
}

// The next consumer of a connector also chooses pipelines.
type logsRouter struct {
	connector.LogsRouterAndConsumer
	step   *step
	chosen *chosen[consumer.Logs]
}

func (r logsRouter) ConsumeLogs(ctx context.Context, logs plog.Logs) error {
	return (&logsBehind{r.LogsRouterAndConsumer, r.step, sorted(r.PipelineIDs())}).ConsumeLogs(ctx, logs)
}

func (r logsRouter) Consumer(pipelines ...pipeline.ID) (consumer.Logs, error) {
	own, err := r.LogsRouterAndConsumer.Consumer(pipelines...)
	if err != nil {
		return nil, err
	}
	return r.chosen.once(own, func() consumer.Logs { return &logsBehind{own, r.step, names(pipelines)} }), nil
}

type tracesRouter struct {
	connector.TracesRouterAndConsumer
	step   *step
	chosen *chosen[consumer.Traces]
}

func (r tracesRouter) ConsumeTraces(ctx context.Context, traces ptrace.Traces) error {
	return (&tracesBehind{r.TracesRouterAndConsumer, r.step, sorted(r.PipelineIDs())}).ConsumeTraces(ctx, traces)
}

func (r tracesRouter) Consumer(pipelines ...pipeline.ID) (consumer.Traces, error) {
	own, err := r.TracesRouterAndConsumer.Consumer(pipelines...)
	if err != nil {
		return nil, err
	}
	return r.chosen.once(own, func() consumer.Traces { return &tracesBehind{own, r.step, names(pipelines)} }), nil
}

type metricsRouter struct {
	connector.MetricsRouterAndConsumer
	step   *step
	chosen *chosen[consumer.Metrics]
}

func (r metricsRouter) ConsumeMetrics(ctx context.Context, metrics pmetric.Metrics) error {
	return (&metricsBehind{r.MetricsRouterAndConsumer, r.step, sorted(r.PipelineIDs())}).ConsumeMetrics(ctx, metrics)
}

func (r metricsRouter) Consumer(pipelines ...pipeline.ID) (consumer.Metrics, error) {
	own, err := r.MetricsRouterAndConsumer.Consumer(pipelines...)
	if err != nil {
		return nil, err
	}
	return r.chosen.once(own, func() consumer.Metrics { return &metricsBehind{own, r.step, names(pipelines)} }), nil
}

// chosen are the recorders before what a connector chose, one for each: connectors take equal consumers for one.
type chosen[C any] struct{ own, recording []C }

func (c *chosen[C]) once(own C, record func() C) C {
	for i, other := range c.own {
		if reflect.TypeOf(own).Comparable() && any(other) == any(own) {
			return c.recording[i]
		}
	}
	c.own, c.recording = append(c.own, own), append(c.recording, record())
	return c.recording[len(c.recording)-1]
}

func sorted(pipelines []pipeline.ID) []string {
	all := names(pipelines)
	slices.Sort(all)
	return all
}
