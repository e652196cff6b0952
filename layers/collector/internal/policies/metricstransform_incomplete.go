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
	examples: fixed(receivingOTLP+`processors:
  metricstransform:
    transforms:
      - include: ^queue\.(.+)\.depth$$
        match_type: regexp
        action: combine
`+exportingOTLP+`service:
  pipelines:
    metrics:
      receivers: [otlp]
      processors: [metricstransform]
      exporters: [otlp]
`,
		"action: combine", `action: combine
        new_name: queue.depth
        aggregation_type: sum`,
	),
	check: func(c *configuration, found *findings) {
		for _, one := range c.running("processors").of("metricstransform") {
			for i, transform := range listAt(one.written, "transforms") {
				at := []string{"transforms", strconv.Itoa(i)}
				if valueAt(transform, "action") != "combine" {
					continue
				}
				var missing []string
				for _, key := range []string{"new_name", "aggregation_type"} {
					if textAt(transform, key) == "" && !one.unknown(append(at, key)...) {
						missing = append(missing, key)
					}
				}
				// With a group in the pattern, points of the combined metrics have different attributes: nothing is aggregated.
				hasGroup := strings.Contains(textAt(transform, "include"), "(")
				if len(missing) > 1 || len(missing) == 1 && (missing[0] == "new_name" || !hasGroup) {
					found.at(one.path(append(at, "action")...), "%s combines metrics without %s", one.id, strings.Join(missing, " and "))
				}
			}
		}
	},
}
