package trace

import (
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// live is a part of a batch that a component is changing. content returns what it is now, as split would.
type live interface{ content() ([]byte, error) }

type (
	logResource    struct{ plog.ResourceLogs }
	logScope       struct{ plog.ScopeLogs }
	logRecord      struct{ plog.LogRecord }
	spanResource   struct{ ptrace.ResourceSpans }
	spanScope      struct{ ptrace.ScopeSpans }
	spanRecord     struct{ ptrace.Span }
	metricResource struct{ pmetric.ResourceMetrics }
	metricScope    struct{ pmetric.ScopeMetrics }
	metricPart     struct{ pmetric.Metric }
	pointPart      struct{ point any }
	nothing        struct{}
)

func (nothing) content() ([]byte, error) { return nil, nil }

// one returns the parts of a batch that has one of each.
func one(level int, signal string, marshalled []byte, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	groups, err := split(marshalled, signal)
	for at := 0; err == nil && len(groups) == 1; at++ {
		if at == level {
			return groups[0].own, nil
		}
		if len(groups[0].records) == 1 && level == levelRecord {
			return groups[0].records[0], nil
		}
		groups = groups[0].groups
	}
	return nil, errWire
}

func ofLogs(level int, logs plog.Logs) ([]byte, error) {
	marshalled, err := new(plog.ProtoMarshaler).MarshalLogs(logs)
	return one(level, signalLogs, marshalled, err)
}

func ofTraces(level int, traces ptrace.Traces) ([]byte, error) {
	marshalled, err := new(ptrace.ProtoMarshaler).MarshalTraces(traces)
	return one(level, signalTraces, marshalled, err)
}

func ofMetrics(level int, metrics pmetric.Metrics) ([]byte, error) {
	marshalled, err := new(pmetric.ProtoMarshaler).MarshalMetrics(metrics)
	return one(level, signalMetrics, marshalled, err)
}

func (l logResource) content() ([]byte, error) {
	logs := plog.NewLogs()
	to := logs.ResourceLogs().AppendEmpty()
	l.Resource().CopyTo(to.Resource())
	to.SetSchemaUrl(l.SchemaUrl())
	return ofLogs(levelResource, logs)
}

func (l logScope) content() ([]byte, error) {
	logs := plog.NewLogs()
	to := logs.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty()
	l.Scope().CopyTo(to.Scope())
	to.SetSchemaUrl(l.SchemaUrl())
	return ofLogs(levelScope, logs)
}

func (l logRecord) content() ([]byte, error) {
	logs := plog.NewLogs()
	l.CopyTo(logs.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords().AppendEmpty())
	return ofLogs(levelRecord, logs)
}

func (s spanResource) content() ([]byte, error) {
	traces := ptrace.NewTraces()
	to := traces.ResourceSpans().AppendEmpty()
	s.Resource().CopyTo(to.Resource())
	to.SetSchemaUrl(s.SchemaUrl())
	return ofTraces(levelResource, traces)
}

func (s spanScope) content() ([]byte, error) {
	traces := ptrace.NewTraces()
	to := traces.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty()
	s.Scope().CopyTo(to.Scope())
	to.SetSchemaUrl(s.SchemaUrl())
	return ofTraces(levelScope, traces)
}

func (s spanRecord) content() ([]byte, error) {
	traces := ptrace.NewTraces()
	s.CopyTo(traces.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans().AppendEmpty())
	return ofTraces(levelRecord, traces)
}

func (m metricResource) content() ([]byte, error) {
	metrics := pmetric.NewMetrics()
	to := metrics.ResourceMetrics().AppendEmpty()
	m.Resource().CopyTo(to.Resource())
	to.SetSchemaUrl(m.SchemaUrl())
	return ofMetrics(levelResource, metrics)
}

func (m metricScope) content() ([]byte, error) {
	metrics := pmetric.NewMetrics()
	to := metrics.ResourceMetrics().AppendEmpty().ScopeMetrics().AppendEmpty()
	m.Scope().CopyTo(to.Scope())
	to.SetSchemaUrl(m.SchemaUrl())
	return ofMetrics(levelScope, metrics)
}

func newMetric() (pmetric.Metrics, pmetric.Metric) {
	metrics := pmetric.NewMetrics()
	return metrics, metrics.ResourceMetrics().AppendEmpty().ScopeMetrics().AppendEmpty().Metrics().AppendEmpty()
}

// content is that of the metric without its data points.
func (m metricPart) content() ([]byte, error) {
	metrics, to := newMetric()
	to.SetName(m.Name())
	to.SetDescription(m.Description())
	to.SetUnit(m.Unit())
	m.Metadata().CopyTo(to.Metadata())
	switch m.Type() {
	case pmetric.MetricTypeGauge:
		to.SetEmptyGauge()
	case pmetric.MetricTypeSum:
		sum := to.SetEmptySum()
		sum.SetAggregationTemporality(m.Sum().AggregationTemporality())
		sum.SetIsMonotonic(m.Sum().IsMonotonic())
	case pmetric.MetricTypeHistogram:
		to.SetEmptyHistogram().SetAggregationTemporality(m.Histogram().AggregationTemporality())
	case pmetric.MetricTypeExponentialHistogram:
		to.SetEmptyExponentialHistogram().SetAggregationTemporality(m.ExponentialHistogram().AggregationTemporality())
	case pmetric.MetricTypeSummary:
		to.SetEmptySummary()
	}
	return ofMetrics(levelMetric, metrics)
}

func (p pointPart) content() ([]byte, error) {
	metrics, to := newMetric()
	switch point := p.point.(type) {
	case pmetric.NumberDataPoint:
		point.CopyTo(to.SetEmptyGauge().DataPoints().AppendEmpty())
	case pmetric.HistogramDataPoint:
		point.CopyTo(to.SetEmptyHistogram().DataPoints().AppendEmpty())
	case pmetric.ExponentialHistogramDataPoint:
		point.CopyTo(to.SetEmptyExponentialHistogram().DataPoints().AppendEmpty())
	case pmetric.SummaryDataPoint:
		point.CopyTo(to.SetEmptySummary().DataPoints().AppendEmpty())
	}
	return ofMetrics(levelRecord, metrics)
}
