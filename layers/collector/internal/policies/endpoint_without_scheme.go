package policies

import (
	"strings"
)

var endpointWithoutScheme = &Policy{
	Code:     "endpoint_without_scheme",
	Title:    "An HTTP exporter has an endpoint without http:// or https://",
	Severity: Error,
	Why:      "The collector accepts the endpoint and starts, and every request fails: unsupported protocol scheme. The endpoint of its own telemetry is read as https:// without one.",
	WayOut:   "Write https:// before the host, or http:// if the server has no TLS.",
	Seen:     []string{"https://github.com/grafana/docker-otel-lgtm/issues/73"},
	examples: fixed(receivingOTLP+`exporters:
  otlphttp:
    endpoint: ingest.example.com:4318
service:
  pipelines:
    traces:
      receivers: [otlp]
      exporters: [otlphttp]
`,
		"endpoint: ingest.example.com:4318", "endpoint: https://ingest.example.com:4318",
	),
	check: func(c *configuration, found *findings) {
		for _, one := range c.running("exporters") {
			for _, key := range httpEndpoints[plain(one.kind)] {
				path := strings.Split(key, ".")
				text := strings.TrimSpace(one.text(path...))
				if text != "" && one.sets(path...) && !strings.Contains(text, "://") {
					found.atSetting(one, path, "the %s of %s has no scheme: every request fails", key, one.id)
				}
			}
		}
		ownTelemetry := valueAt(c.plain, "service", "telemetry")
		for path, value := range leaves(ownTelemetry) {
			text, _ := value.(string)
			end := len(path) - 1
			if path[end] != "endpoint" || text == "" || strings.Contains(text, "://") || found.isFull() {
				continue
			}
			holder := valueAt(ownTelemetry, path[:end]...)
			place := append([]string{"service", "telemetry"}, path...)
			if strings.HasPrefix(textAt(holder, "protocol"), "http") && valueAt(holder, "insecure") != true && !c.refers(place) {
				found.at(place, "the endpoint of the collector's own telemetry has no scheme: it is read as https://")
			}
		}
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
