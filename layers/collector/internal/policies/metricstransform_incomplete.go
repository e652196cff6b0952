package policies

import (
	"strconv"
	"strings"
)

var metricsTransformIncomplete = &Policy{
	Code:     "metricstransform_incomplete",
	Title:    "metricstransform combines metrics without a name for the result",
	Severity: Error,
	Why:      "combine makes one metric of all that match. Without new_name the metric has no name, and without aggregation_type points of the same attributes are lost. From 0.155.0 on the collector refuses it.",
	WayOut:   "Add new_name, and aggregation_type: sum, mean, min, max, median or count.",
	Seen:     []string{"https://github.com/open-telemetry/opentelemetry-collector-contrib/issues/48871"},
	Until:    "0.155.0",
	Failing: `receivers:
  otlp:
    protocols:
      grpc:
processors:
  metricstransform:
    transforms:
      - include: ^queue\.(.+)\.depth$$
        match_type: regexp
        action: combine
exporters:
  otlp:
    endpoint: backend.example.com:4317
service:
  pipelines:
    metrics:
      receivers: [otlp]
      processors: [metricstransform]
      exporters: [otlp]
`,
	Passing: `receivers:
  otlp:
    protocols:
      grpc:
processors:
  metricstransform:
    transforms:
      - include: ^queue\.(.+)\.depth$$
        match_type: regexp
        action: combine
        new_name: queue.depth
        aggregation_type: sum
exporters:
  otlp:
    endpoint: backend.example.com:4317
service:
  pipelines:
    metrics:
      receivers: [otlp]
      processors: [metricstransform]
      exporters: [otlp]
`,
	check: func(c *configuration, found *findings) {
		for _, one := range c.running("processors") {
			if !one.is("metricstransform") {
				continue
			}
			transforms, _ := valueAt(one.written, []string{"transforms"}).([]any)
			for i := range transforms {
				at := []string{"transforms", strconv.Itoa(i)}
				if valueAt(one.written, append(at, "action")) != "combine" {
					continue
				}
				var missing []string
				for _, key := range []string{"new_name", "aggregation_type"} {
					if text, _ := valueAt(one.written, append(at, key)).(string); text == "" && !one.unknown(append(at, key)...) {
						missing = append(missing, key)
					}
				}
				// With a group in the pattern, points of the combined metrics have different attributes: nothing is aggregated.
				include, _ := valueAt(one.written, append(at, "include")).(string)
				if len(missing) > 1 || len(missing) == 1 && (missing[0] == "new_name" || !strings.Contains(include, "(")) {
					found.at(one.path(append(at, "action")...), "%s combines metrics without %s", one.id, strings.Join(missing, " and "))
				}
			}
		}
	},
}
