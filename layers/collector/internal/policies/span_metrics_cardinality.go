package policies

import (
	"slices"
	"strings"
)

var spanMetricsCardinality = &Policy{
	Code:     "span_metrics_cardinality",
	Title:    "A metric has a dimension without bounds",
	Severity: Warning,
	Why: "Each value of a dimension is a time series of its own, in the collector's memory and in the backend. Addresses, " +
		"queries, ids of users and requests take new values for ever.",
	WayOut: "Remove the dimension, or use one with few values: http.route in the place of url.path, db.operation.name in the " +
		"place of db.query.text.",
	examples: fixed(receivingOTLP+`connectors:
  spanmetrics:
    aggregation_cardinality_limit: 10000
    dimensions:
      - name: url.full
`+exportingOTLP+`service:
  pipelines:
    traces:
      receivers: [otlp]
      exporters: [otlp, spanmetrics]
    metrics:
      receivers: [spanmetrics]
      exporters: [otlp]
`,
		"- name: url.full", "- name: http.route",
	),
	check: func(c *configuration, found *findings) {
		for _, one := range c.running("connectors").of(countingByAttributes...) {
			for path, text := range one.texts() {
				if isDimension(path) && isUnbounded(text) {
					found.at(one.path(path...), "%s makes a time series for each value of %s", one.id, text)
				}
			}
		}
	},
}

// countingByAttributes are the connectors that make a time series for each value of an attribute.
var countingByAttributes = []string{"spanmetrics", "servicegraph", "count", "sum", "signaltometrics", "exceptions"}

// unbounded are attributes, by their names in the semantic conventions old and new, that take new values for ever.
var unbounded = []string{
	"url.full", "url.path", "url.query", "url.original", "http.url", "http.target", "http.path", "uri",
	"db.statement", "db.query.text", "client.address", "client.port", "client.socket.address", "net.peer.ip", "net.peer.port",
	"net.sock.peer.addr", "net.sock.peer.port", "network.peer.address", "network.peer.port", "source.address", "source.port",
	"trace_id", "span_id", "trace.id", "span.id", "user.id", "user_id", "user.email", "user.name", "enduser.id", "session.id",
	"session_id", "request.id", "request_id", "http.request.id", "correlation_id", "transaction.id", "order.id", "order_id",
	"messaging.message.id", "messaging.message_id", "exception.message", "exception.stacktrace", "thread.id", "process.pid",
	"http.user_agent", "user_agent.original",
}

func isUnbounded(name string) bool { return slices.Contains(unbounded, strings.ToLower(name)) }

// isDimension tells whether a path leads to the name of a dimension.
func isDimension(path []string) bool {
	last := path[len(path)-1]
	if last != "name" && last != "key" {
		return len(path) > 1 && strings.HasSuffix(path[len(path)-2], "dimensions")
	}
	return slices.ContainsFunc(path[:len(path)-1], func(key string) bool {
		return strings.HasSuffix(key, "dimensions") || key == "attributes"
	})
}
