package compare

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
)

func (r *reader) metrics(batch pmetric.Metrics) {
	r.signal = "metrics"
	for _, resourceMetrics := range batch.ResourceMetrics().All() {
		resource := r.resource(resourceMetrics.Resource(), resourceMetrics.SchemaUrl())
		for _, scopeMetrics := range resourceMetrics.ScopeMetrics().All() {
			scope := r.scope(scopeMetrics.Scope(), scopeMetrics.SchemaUrl())
			for _, metric := range scopeMetrics.Metrics().All() {
				r.metric(metric, resource, scope)
			}
		}
	}
}

func (r *reader) metric(metric pmetric.Metric, resource, scope *part) {
	m := r.message(6)
	m.text("name", metric.Name())
	m.text("description", metric.Description())
	m.text("unit", metric.Unit())
	m.attributes("metadata", metric.Metadata())
	m.text("type", metric.Type().String())
	var points []value
	switch metric.Type() {
	case pmetric.MetricTypeGauge:
		points = all(metric.Gauge().DataPoints(), r.number)
	case pmetric.MetricTypeSum:
		m.small("aggregation_temporality", int64(metric.Sum().AggregationTemporality()))
		m.flag("is_monotonic", metric.Sum().IsMonotonic())
		points = all(metric.Sum().DataPoints(), r.number)
	case pmetric.MetricTypeHistogram:
		m.small("aggregation_temporality", int64(metric.Histogram().AggregationTemporality()))
		points = all(metric.Histogram().DataPoints(), r.histogram)
	case pmetric.MetricTypeExponentialHistogram:
		m.small("aggregation_temporality", int64(metric.ExponentialHistogram().AggregationTemporality()))
		points = all(metric.ExponentialHistogram().DataPoints(), r.exponential)
	case pmetric.MetricTypeSummary:
		points = all(metric.Summary().DataPoints(), r.summary)
	}
	shared := r.part("metric", m.value())
	if len(points) == 0 {
		r.add(value{kind: fields}, resource, scope, &shared)
	}
	for _, point := range points {
		r.add(point, resource, scope, &shared)
	}
}

func all[P any](points interface {
	Len() int
	At(int) P
}, convert func(P) value) []value {
	converted := make([]value, points.Len())
	for i := range converted {
		converted[i] = convert(points.At(i))
	}
	return converted
}

// point begins a data point of any type.
func (r *reader) point(attributes pcommon.Map, start, at pcommon.Timestamp, flags pmetric.DataPointFlags) *message {
	m := r.message(8)
	m.attributes("attributes", attributes)
	m.time("start_time_unix_nano", start)
	m.time("time_unix_nano", at)
	m.small("flags", int64(flags))
	return m
}

func (r *reader) number(point pmetric.NumberDataPoint) value {
	m := r.point(point.Attributes(), point.StartTimestamp(), point.Timestamp(), point.Flags())
	switch point.ValueType() {
	case pmetric.NumberDataPointValueTypeInt:
		m.integer("value_int", point.IntValue())
	case pmetric.NumberDataPointValueTypeDouble:
		m.double("value_double", point.DoubleValue())
	}
	r.exemplars(m, point.Exemplars())
	return m.value()
}

func (r *reader) histogram(point pmetric.HistogramDataPoint) value {
	m := r.point(point.Attributes(), point.StartTimestamp(), point.Timestamp(), point.Flags())
	m.count("count", point.Count())
	m.optional("sum", point.HasSum(), point.Sum())
	m.optional("min", point.HasMin(), point.Min())
	m.optional("max", point.HasMax(), point.Max())
	m.counts("bucket_counts", point.BucketCounts())
	m.bounds("explicit_bounds", point.ExplicitBounds())
	r.exemplars(m, point.Exemplars())
	return m.value()
}

func (r *reader) exponential(point pmetric.ExponentialHistogramDataPoint) value {
	m := r.point(point.Attributes(), point.StartTimestamp(), point.Timestamp(), point.Flags())
	m.count("count", point.Count())
	m.optional("sum", point.HasSum(), point.Sum())
	m.optional("min", point.HasMin(), point.Min())
	m.optional("max", point.HasMax(), point.Max())
	m.add("scale", value{kind: small, bits: uint64(int64(point.Scale()))})
	m.count("zero_count", point.ZeroCount())
	m.optional("zero_threshold", point.ZeroThreshold() != 0, point.ZeroThreshold())
	m.add("positive", r.buckets(point.Positive()))
	m.add("negative", r.buckets(point.Negative()))
	r.exemplars(m, point.Exemplars())
	return m.value()
}

func (r *reader) buckets(buckets pmetric.ExponentialHistogramDataPointBuckets) value {
	m := r.message(2)
	m.small("offset", int64(buckets.Offset()))
	m.counts("bucket_counts", buckets.BucketCounts())
	return m.value()
}

func (r *reader) summary(point pmetric.SummaryDataPoint) value {
	m := r.point(point.Attributes(), point.StartTimestamp(), point.Timestamp(), point.Flags())
	m.count("count", point.Count())
	m.double("sum", point.Sum())
	quantiles := point.QuantileValues()
	m.list("quantile_values", quantiles.Len(), func(i int) value {
		one := r.message(2)
		one.double("quantile", quantiles.At(i).Quantile())
		one.double("value", quantiles.At(i).Value())
		return one.value()
	})
	return m.value()
}

func (r *reader) exemplars(m *message, exemplars pmetric.ExemplarSlice) {
	m.list("exemplars", exemplars.Len(), func(i int) value {
		exemplar := exemplars.At(i)
		one := r.message(5)
		one.attributes("filtered_attributes", exemplar.FilteredAttributes())
		one.time("time_unix_nano", exemplar.Timestamp())
		switch exemplar.ValueType() {
		case pmetric.ExemplarValueTypeInt:
			one.integer("value_int", exemplar.IntValue())
		case pmetric.ExemplarValueTypeDouble:
			one.double("value_double", exemplar.DoubleValue())
		}
		one.ids(exemplar.TraceID(), exemplar.SpanID())
		return one.value()
	})
}
