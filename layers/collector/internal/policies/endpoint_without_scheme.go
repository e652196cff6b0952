package policies

import (
	"slices"
	"strings"
)

var endpointWithoutScheme = &Policy{
	Code:     "endpoint_without_scheme",
	Title:    "An HTTP exporter has an endpoint without http:// or https://",
	Severity: Error,
	Why:      "The collector accepts the endpoint and starts, and every request fails: unsupported protocol scheme. The endpoint of its own telemetry is read as https:// without one.",
	WayOut:   "Write https:// before the host, or http:// if the server has no TLS.",
	Seen:     []string{"https://github.com/grafana/docker-otel-lgtm/issues/73"},
	Failing: `receivers:
  otlp:
    protocols:
      grpc:
exporters:
  otlphttp:
    endpoint: ingest.example.com:4318
service:
  pipelines:
    traces:
      receivers: [otlp]
      exporters: [otlphttp]
`,
	Passing: `receivers:
  otlp:
    protocols:
      grpc:
exporters:
  otlphttp:
    endpoint: https://ingest.example.com:4318
service:
  pipelines:
    traces:
      receivers: [otlp]
      exporters: [otlphttp]
`,
	check: func(c *configuration, found *findings) {
		for _, one := range c.running("exporters") {
			for _, key := range httpEndpoints[plain(one.kind)] {
				path := strings.Split(key, ".")
				text := strings.TrimSpace(one.text(path...))
				if text != "" && one.sets(path...) && !one.unknown(path...) && !strings.Contains(text, "://") {
					found.at(one.path(path...), "the %s of %s has no scheme: every request fails", key, one.id)
				}
			}
		}
		ownTelemetry := valueAt(c.plain, []string{"service", "telemetry"})
		visit(ownTelemetry, nil, func(path []string, value any) {
			text, _ := value.(string)
			end := len(path) - 1
			if path[end] != "endpoint" || text == "" || strings.Contains(text, "://") || found.isFull() {
				return
			}
			holder := path[:end]
			protocol, _ := valueAt(ownTelemetry, append(slices.Clone(holder), "protocol")).(string)
			insecure, _ := valueAt(ownTelemetry, append(slices.Clone(holder), "insecure")).(bool)
			place := append([]string{"service", "telemetry"}, path...)
			if strings.HasPrefix(protocol, "http") && !insecure && !c.refers(place) {
				found.at(place, "the endpoint of the collector's own telemetry has no scheme: it is read as https://")
			}
		})
	},
}

// httpEndpoints are the settings that need a scheme, by type. Exporters that add one or refuse to start are not among them.
var httpEndpoints = map[string][]string{
	"otlphttp":              {"endpoint", "traces_endpoint", "metrics_endpoint", "logs_endpoint", "profiles_endpoint"},
	"splunkhec":             {"endpoint"},
	"prometheusremotewrite": {"endpoint"},
	"zipkin":                {"endpoint"},
	"influxdb":              {"endpoint"},
	"loki":                  {"endpoint"},
	"logzio":                {"endpoint"},
	"sumologic":             {"endpoint"},
	"signalfx":              {"ingest_url", "api_url"},
	"faro":                  {"endpoint"},
	"bmchelix":              {"endpoint"},
	"honeycombmarker":       {"api_url"},
	"opensearch":            {"http.endpoint"},
}

// refers tells whether a value of the text has a reference to a variable.
func (c *configuration) refers(path []string) bool {
	node := c.document.Node(path...)
	return node == nil || strings.Contains(node.Value, "$")
}
