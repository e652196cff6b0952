package vocabulary

// Enums are the enums of all contexts.
var Enums = append([]Enum{
	{"SPAN_KIND_UNSPECIFIED", 0, "The kind of the span is not known."},
	{"SPAN_KIND_INTERNAL", 1, "The span is an operation inside of an application."},
	{"SPAN_KIND_SERVER", 2, "The span handles a request."},
	{"SPAN_KIND_CLIENT", 3, "The span sends a request."},
	{"SPAN_KIND_PRODUCER", 4, "The span puts a message in a queue."},
	{"SPAN_KIND_CONSUMER", 5, "The span takes a message from a queue."},
	{"STATUS_CODE_UNSET", 0, "The span has no status."},
	{"STATUS_CODE_OK", 1, "The application says that the span succeeded."},
	{"STATUS_CODE_ERROR", 2, "The span failed."},
	{"AGGREGATION_TEMPORALITY_UNSPECIFIED", 0, "The temporality is not known."},
	{"AGGREGATION_TEMPORALITY_DELTA", 1, "A data point counts from the one before it."},
	{"AGGREGATION_TEMPORALITY_CUMULATIVE", 2, "A data point counts from a fixed start."},
	{"METRIC_DATA_TYPE_NONE", 0, "The metric has no type."},
	{"METRIC_DATA_TYPE_GAUGE", 1, "The metric is a gauge."},
	{"METRIC_DATA_TYPE_SUM", 2, "The metric is a sum."},
	{"METRIC_DATA_TYPE_HISTOGRAM", 3, "The metric is a histogram."},
	{"METRIC_DATA_TYPE_EXPONENTIAL_HISTOGRAM", 4, "The metric is an exponential histogram."},
	{"METRIC_DATA_TYPE_SUMMARY", 5, "The metric is a summary."},
	{"FLAG_NONE", 0, "The data point has no flag."},
	{"FLAG_NO_RECORDED_VALUE", 1, "The data point has no value."},
	{"SEVERITY_NUMBER_UNSPECIFIED", 0, "The severity is not known."},
}, severities()...)

// severities are the four steps of each level, numbered from 1.
func severities() []Enum {
	var all []Enum
	for _, level := range []string{"TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL"} {
		for _, step := range []string{"", "2", "3", "4"} {
			all = append(all, Enum{
				Name: "SEVERITY_NUMBER_" + level + step, Value: int64(len(all) + 1), Description: "Severity " + level + step + ".",
			})
		}
	}
	return all
}
