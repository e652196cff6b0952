package history

import "fmt"

// others are components of other distributions, by type, which people look for in otelcol-contrib.
//
// Source: the manifests and component lists of these distributions: signalfx/splunk-otel-collector, elastic/elastic-agent,
// SigNoz/signoz-otel-collector, coralogix/telemetry-shippers, jaegertracing/jaeger, grafana/alloy and
// aws-observability/aws-otel-collector on https://github.com (each Apache-2.0 or Elastic-2.0; names only).
var others = map[string]string{
	"smartagent":                "the Splunk Distribution",
	"scripted_inputs":           "the Splunk Distribution",
	"splunk_inputs":             "the Splunk Distribution",
	"discovery":                 "the Splunk Distribution",
	"lightprometheus":           "the Splunk Distribution",
	"elasticapm":                "Elastic's distribution",
	"elasticapmintake":          "Elastic's distribution",
	"elasticinframetrics":       "Elastic's distribution",
	"elastictrace":              "Elastic's distribution",
	"metricbeatreceiver":        "the Elastic Agent",
	"filebeatreceiver":          "the Elastic Agent",
	"profilingmetrics":          "Elastic's distribution",
	"signozspanmetrics":         "SigNoz's distribution",
	"signozclickhousemetrics":   "SigNoz's distribution",
	"signozclickhousemeter":     "SigNoz's distribution",
	"signozmeter":               "SigNoz's distribution",
	"clickhousetraces":          "SigNoz's distribution",
	"clickhouselogsexporter":    "SigNoz's distribution",
	"clickhousemetricswrite":    "SigNoz's distribution",
	"ecsattributes":             "Coralogix's distribution",
	"ecslogattributes":          "Coralogix's distribution",
	"jaeger_query":              "Jaeger 2",
	"jaeger_storage":            "Jaeger 2",
	"jaeger_storage_exporter":   "Jaeger 2",
	"remote_sampling":           "Jaeger 2",
	"profiling":                 "the OpenTelemetry eBPF Profiler",
	"prometheus_exec":           "otelcol-contrib before 0.80.0",
	"awscontainerinsightskueue": "the Amazon CloudWatch Agent",
	"dash0":                     "Dash0's distribution",
	"newrelic":                  "New Relic's distribution",
	"adaptivetelemetry":         "New Relic's distribution",
	"bindplane":                 "the Bindplane distribution",
	"beatsauth":                 "the Elastic Agent",
	"elastic_diagnostics":       "the Elastic Agent",
	"apikeyauth":                "Elastic's distribution",
	"apmconfig":                 "Elastic's distribution",
	"ratelimit":                 "Elastic's distribution",
	"integration":               "Elastic's distribution",
}

// Distribution returns the distribution that has a type which otelcol-contrib has not, "" if the table has none.
func Distribution(kind string) string { return others[kind] }

// Other returns the words about a type that otelcol-contrib never had, or has no more, "" if the table has none.
func Other(kind string) string {
	if of := Distribution(kind); of != "" {
		return fmt.Sprintf("it is a component of %s, and otelcol-contrib has none of that name", of)
	}
	return ""
}
