package policies

import (
	"strings"
)

var otlpHTTPSignalPath = &Policy{
	Code:     "otlp_http_signal_path",
	Title:    "The path of a signal is in the endpoint",
	Severity: Error,
	Why: "The otlphttp exporter adds /v1/traces, /v1/metrics or /v1/logs to its endpoint. With the path in it already, it " +
		"sends to /v1/traces/v1/traces, and the server answers 404.",
	WayOut: "Remove the path from endpoint, or write the whole address as traces_endpoint, metrics_endpoint or logs_endpoint.",
	Seen:   []string{"https://github.com/open-telemetry/opentelemetry.io/pull/2406"},
	examples: fixed(receivingOTLP+`exporters:
  otlphttp:
    endpoint: https://backend.example.com/v1/traces
service:
  pipelines:
    traces:
      receivers: [otlp]
      exporters: [otlphttp]
`,
		"endpoint: https://backend.example.com/v1/traces", "traces_endpoint: https://backend.example.com/v1/traces",
	),
	check: func(c *configuration, found *findings) {
		for _, one := range c.running("exporters").of("otlphttp") {
			path := strings.TrimSuffix(one.address("endpoint").path, "/")
			for _, signal := range []string{"/v1/traces", "/v1/metrics", "/v1/logs"} {
				if strings.HasSuffix(path, signal) {
					found.at(one.path("endpoint"), "%s adds the signal's path to an endpoint that ends in %s", one.id, signal)
				}
			}
		}
	},
}
