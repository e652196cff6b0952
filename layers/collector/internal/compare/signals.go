package compare

import (
	"strconv"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

func (r *reader) logs(batch plog.Logs) {
	r.signal = "logs"
	for _, resourceLogs := range batch.ResourceLogs().All() {
		resource := r.resource(resourceLogs.Resource(), resourceLogs.SchemaUrl())
		for _, scopeLogs := range resourceLogs.ScopeLogs().All() {
			scope := r.scope(scopeLogs.Scope(), scopeLogs.SchemaUrl())
			for _, log := range scopeLogs.LogRecords().All() {
				r.add(r.log(log), resource, scope)
			}
		}
	}
}

func (r *reader) log(log plog.LogRecord) value {
	m := r.message(8)
	m.time("time_unix_nano", log.Timestamp())
	m.time("observed_time_unix_nano", log.ObservedTimestamp())
	m.small("severity_number", int64(log.SeverityNumber()))
	m.text("severity_text", log.SeverityText())
	if log.Body().Type() != 0 {
		m.add("body", anyValue(log.Body(), r.textDuringRun))
	}
	m.attributes("attributes", log.Attributes())
	m.small("dropped_attributes_count", int64(log.DroppedAttributesCount()))
	m.small("flags", int64(log.Flags()))
	m.ids(log.TraceID(), log.SpanID())
	m.text("event_name", log.EventName())
	return m.value()
}

func (r *reader) traces(batch ptrace.Traces) {
	r.signal = "traces"
	for _, resourceSpans := range batch.ResourceSpans().All() {
		resource := r.resource(resourceSpans.Resource(), resourceSpans.SchemaUrl())
		for _, scopeSpans := range resourceSpans.ScopeSpans().All() {
			scope := r.scope(scopeSpans.Scope(), scopeSpans.SchemaUrl())
			for _, span := range scopeSpans.Spans().All() {
				r.add(r.span(span), resource, scope)
			}
		}
	}
}

func (r *reader) span(span ptrace.Span) value {
	m := r.message(12)
	m.ids(span.TraceID(), span.SpanID())
	m.text("parent_span_id", span.ParentSpanID().String())
	m.text("trace_state", span.TraceState().AsRaw())
	m.small("flags", int64(span.Flags()))
	m.text("name", span.Name())
	m.small("kind", int64(span.Kind()))
	m.time("start_time_unix_nano", span.StartTimestamp())
	m.time("end_time_unix_nano", span.EndTimestamp())
	m.attributes("attributes", span.Attributes())
	m.small("dropped_attributes_count", int64(span.DroppedAttributesCount()))
	m.list("events", span.Events().Len(), func(i int) value { return r.event(span.Events().At(i)) })
	m.small("dropped_events_count", int64(span.DroppedEventsCount()))
	m.list("links", span.Links().Len(), func(i int) value { return r.link(span.Links().At(i)) })
	m.small("dropped_links_count", int64(span.DroppedLinksCount()))
	status := r.message(2)
	status.small("code", int64(span.Status().Code()))
	status.text("message", span.Status().Message())
	if len(status.names) > 0 {
		m.add("status", status.value())
	}
	return m.value()
}

func (r *reader) event(event ptrace.SpanEvent) value {
	m := r.message(3)
	m.text("name", event.Name())
	m.time("time_unix_nano", event.Timestamp())
	m.attributes("attributes", event.Attributes())
	m.small("dropped_attributes_count", int64(event.DroppedAttributesCount()))
	return m.value()
}

func (r *reader) link(link ptrace.SpanLink) value {
	m := r.message(3)
	m.ids(link.TraceID(), link.SpanID())
	m.text("trace_state", link.TraceState().AsRaw())
	m.small("flags", int64(link.Flags()))
	m.attributes("attributes", link.Attributes())
	m.small("dropped_attributes_count", int64(link.DroppedAttributesCount()))
	return m.value()
}

// index is a step of a path.
func index(i int) string { return "[" + strconv.Itoa(i) + "]" }
