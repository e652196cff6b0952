// Package datapoints lists the data points of a metric, of whatever kind it is.
package datapoints

import "go.opentelemetry.io/collector/pdata/pmetric"

// Of returns the data points of a metric: a pmetric.NumberDataPoint each, or what its kind has.
func Of(metric pmetric.Metric) []any {
	switch metric.Type() {
	case pmetric.MetricTypeGauge:
		return listed(metric.Gauge().DataPoints())
	case pmetric.MetricTypeSum:
		return listed(metric.Sum().DataPoints())
	case pmetric.MetricTypeHistogram:
		return listed(metric.Histogram().DataPoints())
	case pmetric.MetricTypeExponentialHistogram:
		return listed(metric.ExponentialHistogram().DataPoints())
	case pmetric.MetricTypeSummary:
		return listed(metric.Summary().DataPoints())
	}
	return nil
}

func listed[P any](points interface {
	Len() int
	At(int) P
}) []any {
	all := make([]any, points.Len())
	for i := range all {
		all[i] = points.At(i)
	}
	return all
}
