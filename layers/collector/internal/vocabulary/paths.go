package vocabulary

// Paths are the paths of each context, by the name that a path of another context begins with.
var Paths = map[string][]Path{
	"resource":              append(resource, cache...),
	"scope":                 append(scope, cache...),
	"instrumentation_scope": scope,
	"log":                   append(log, cache...),
	"span":                  append(span, cache...),
	"spanevent":             append(spanEvent, cache...),
	"metric":                append(metric, cache...),
	"datapoint":             append(dataPoint, cache...),
	"exemplar":              append(exemplar, cache...),
	"profile":               append(profile, cache...),
	"profilesample":         append(profileSample, cache...),
	"otelcol":               append(otelcol, cache...),
}

var cache = []Path{
	{"cache", "map", false, "Values that statements keep for the ones after them, for this item only."},
	{`cache[""]`, "any", false, "One of the values that statements keep."},
}

var resource = []Path{
	{"attributes", "map", false, "Attributes of the resource."},
	{`attributes[""]`, "any", false, "One attribute of the resource."},
	{"dropped_attributes_count", "int", false, "How many attributes of the resource were dropped."},
	{"schema_url", "string", false, "Address of the schema of the resource."},
}

var scope = []Path{
	{"name", "string", false, "Name of the instrumentation scope."},
	{"version", "string", false, "Version of the instrumentation scope."},
	{"attributes", "map", false, "Attributes of the instrumentation scope."},
	{`attributes[""]`, "any", false, "One attribute of the instrumentation scope."},
	{"dropped_attributes_count", "int", false, "How many attributes of the scope were dropped."},
	{"schema_url", "string", false, "Address of the schema of the scope."},
}

var log = []Path{
	{"time_unix_nano", "int", false, "When the event happened, in nanoseconds since 1970."},
	{"observed_time_unix_nano", "int", false, "When the event was observed, in nanoseconds since 1970."},
	{"time", "time", false, "When the event happened."},
	{"observed_time", "time", false, "When the event was observed."},
	{"severity_number", "int", false, "Severity as a number: compare it with SEVERITY_NUMBER_…"},
	{"severity_text", "string", false, "Severity as the source calls it."},
	{"body", "any", false, "Body of the log record."},
	{`body[""]`, "any", false, "One value of a body that is a map, or a list by an index."},
	{"body.string", "string", false, "Body as text."},
	{"attributes", "map", false, "Attributes of the log record."},
	{`attributes[""]`, "any", false, "One attribute of the log record."},
	{"dropped_attributes_count", "int", false, "How many attributes of the log record were dropped."},
	{"flags", "int", false, "Trace flags."},
	{"trace_id", "TraceID", false, "Id of the trace that the record belongs to."},
	{"trace_id.string", "string", false, "Id of the trace, in 32 hexadecimal digits."},
	{"span_id", "SpanID", false, "Id of the span that the record belongs to."},
	{"span_id.string", "string", false, "Id of the span, in 16 hexadecimal digits."},
	{"event_name", "string", false, "Name of the event, if the record is one."},
}

var span = []Path{
	{"trace_id", "TraceID", false, "Id of the trace."},
	{"trace_id.string", "string", false, "Id of the trace, in 32 hexadecimal digits."},
	{"span_id", "SpanID", false, "Id of the span."},
	{"span_id.string", "string", false, "Id of the span, in 16 hexadecimal digits."},
	{"trace_state", "string", false, "Trace state of W3C trace context."},
	{`trace_state[""]`, "string", false, "One entry of the trace state."},
	{"parent_span_id", "SpanID", false, "Id of the parent span, all zeros for a root span."},
	{"parent_span_id.string", "string", false, "Id of the parent span, in 16 hexadecimal digits."},
	{"name", "string", false, "Name of the span."},
	{"kind", "int", false, "Kind as a number: compare it with SPAN_KIND_…"},
	{"kind.string", "string", false, "Kind as text: Server, Client, …"},
	{"kind.deprecated_string", "string", false, "Kind as older text: SPAN_KIND_SERVER, …"},
	{"start_time_unix_nano", "int", false, "When the span started, in nanoseconds since 1970."},
	{"end_time_unix_nano", "int", false, "When the span ended, in nanoseconds since 1970."},
	{"start_time", "time", false, "When the span started."},
	{"end_time", "time", false, "When the span ended."},
	{"attributes", "map", false, "Attributes of the span."},
	{`attributes[""]`, "any", false, "One attribute of the span."},
	{"dropped_attributes_count", "int", false, "How many attributes of the span were dropped."},
	{"events", "span events", false, "Events of the span."},
	{"dropped_events_count", "int", false, "How many events of the span were dropped."},
	{"links", "span links", false, "Links to other spans."},
	{"dropped_links_count", "int", false, "How many links of the span were dropped."},
	{"status", "status", false, "Status of the span."},
	{"status.code", "int", false, "Status as a number: compare it with STATUS_CODE_…"},
	{"status.message", "string", false, "Message of the status."},
	{"flags", "int", false, "Trace flags."},
}

var spanEvent = []Path{
	{"time_unix_nano", "int", false, "When the event happened, in nanoseconds since 1970."},
	{"time", "time", false, "When the event happened."},
	{"name", "string", false, "Name of the event."},
	{"attributes", "map", false, "Attributes of the event."},
	{`attributes[""]`, "any", false, "One attribute of the event."},
	{"dropped_attributes_count", "int", false, "How many attributes of the event were dropped."},
	{"event_index", "int", true, "Place of the event in its span, from 0."},
}

var metric = []Path{
	{"name", "string", false, "Name of the metric."},
	{"description", "string", false, "Description of the metric."},
	{"unit", "string", false, "Unit of the metric."},
	{"type", "int", true, "Type as a number: compare it with METRIC_DATA_TYPE_…"},
	{"aggregation_temporality", "int", false, "Temporality as a number: compare it with AGGREGATION_TEMPORALITY_…"},
	{"is_monotonic", "bool", false, "Whether a sum only rises."},
	{"data_points", "data points", false, "Data points of the metric."},
	{"metadata", "map", false, "Metadata of the metric."},
	{`metadata[""]`, "any", false, "One value of the metric's metadata."},
}

var dataPoint = []Path{
	{"attributes", "map", false, "Attributes of the data point."},
	{`attributes[""]`, "any", false, "One attribute of the data point."},
	{"start_time_unix_nano", "int", false, "Start of the measured time, in nanoseconds since 1970."},
	{"time_unix_nano", "int", false, "When it was measured, in nanoseconds since 1970."},
	{"start_time", "time", false, "Start of the measured time."},
	{"time", "time", false, "When it was measured."},
	{"value_double", "float", false, "Value of a gauge or sum that holds a float."},
	{"value_int", "int", false, "Value of a gauge or sum that holds an int."},
	{"exemplars", "exemplars", false, "Exemplars of the data point."},
	{"flags", "int", false, "Flags: compare them with FLAG_…"},
	{"count", "int", false, "How many values a histogram or summary counts."},
	{"sum", "float", false, "Sum of the values of a histogram or summary."},
	{"bucket_counts", "list of int", false, "Counts of a histogram's buckets."},
	{"explicit_bounds", "list of float", false, "Bounds of a histogram's buckets."},
	{"scale", "int", false, "Scale of an exponential histogram."},
	{"zero_count", "int", false, "How many values of an exponential histogram are zero."},
	{"positive", "buckets", false, "Buckets of an exponential histogram for positive values."},
	{"positive.offset", "int", false, "Index of the first positive bucket."},
	{"positive.bucket_counts", "list of int", false, "Counts of the positive buckets."},
	{"negative", "buckets", false, "Buckets of an exponential histogram for negative values."},
	{"negative.offset", "int", false, "Index of the first negative bucket."},
	{"negative.bucket_counts", "list of int", false, "Counts of the negative buckets."},
	{"quantile_values", "quantiles", false, "Quantiles of a summary."},
}

var exemplar = []Path{
	{"time_unix_nano", "int", false, "When it was measured, in nanoseconds since 1970."},
	{"time", "time", false, "When it was measured."},
	{"double_value", "float", false, "Value, if it is a float."},
	{"int_value", "int", false, "Value, if it is an int."},
	{"trace_id", "TraceID", false, "Id of the trace that it was measured in."},
	{"trace_id.string", "string", false, "Id of the trace, in 32 hexadecimal digits."},
	{"span_id", "SpanID", false, "Id of the span that it was measured in."},
	{"span_id.string", "string", false, "Id of the span, in 16 hexadecimal digits."},
	{"filtered_attributes", "map", false, "Attributes that were left out of the data point."},
	{`filtered_attributes[""]`, "any", false, "One attribute that was left out of the data point."},
}

var profile = []Path{
	{"sample_type", "value type", false, "Type and unit of the sampled values."},
	{"sample_type.type", "string", false, "Type of the sampled values, for example cpu."},
	{"sample_type.unit", "string", false, "Unit of the sampled values."},
	{"sample", "samples", false, "Samples of the profile."},
	{"time_unix_nano", "int", false, "When the profile began, in nanoseconds since 1970."},
	{"time", "time", false, "When the profile began."},
	{"duration_unix_nano", "int", false, "How long the profile took, in nanoseconds."},
	{"duration", "int or time", false, "How long the profile took, in nanoseconds (in 0.139 as a time)."},
	{"period_type", "value type", false, "Type and unit of the period between samples."},
	{"period_type.type", "string", false, "Type of the period between samples."},
	{"period_type.unit", "string", false, "Unit of the period between samples."},
	{"period", "int", false, "Events between two samples."},
	{"comment_string_indices", "list of int", false, "Comments, as indices into the profiles' texts."},
	{"profile_id", "ProfileID", false, "Id of the profile."},
	{"profile_id.string", "string", false, "Id of the profile, in 32 hexadecimal digits."},
	{"attribute_indices", "list of int", false, "Attributes, as indices into the profiles' attributes."},
	{"dropped_attributes_count", "int", false, "How many attributes of the profile were dropped."},
	{"original_payload_format", "string", false, "Format of the original payload."},
	{"original_payload", "bytes", false, "Profile as its source sent it."},
	{"attributes", "map", false, "Attributes of the profile."},
	{`attributes[""]`, "any", false, "One attribute of the profile."},
}

var profileSample = []Path{
	{"values", "list of int", false, "Values of the sample."},
	{"attribute_indices", "list of int", false, "Attributes, as indices into the profiles' attributes."},
	{"link_index", "int", false, "Link to a span, as an index into the profiles' links."},
	{"timestamps_unix_nano", "list of int", false, "When the values were sampled, in nanoseconds since 1970."},
	{"timestamps", "list of time", false, "When the values were sampled."},
	{"attributes", "map", false, "Attributes of the sample."},
	{`attributes[""]`, "any", false, "One attribute of the sample."},
}

var otelcol = []Path{
	{"client.addr", "string", true, "Address of the client that sent the telemetry."},
	{"client.metadata", "map", true, "Headers of the client's request, if the receiver keeps them."},
	{`client.metadata[""]`, "any", true, "One header of the client's request."},
	{"client.auth.attributes", "map", true, "What the authenticator tells about the client."},
	{`client.auth.attributes[""]`, "any", true, "One thing that the authenticator tells about the client."},
	{"grpc.metadata", "map", true, "Metadata of the gRPC request."},
	{`grpc.metadata[""]`, "any", true, "One value of the gRPC request's metadata."},
}
