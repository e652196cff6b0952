package policies

import (
	"slices"
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/otelcol"
)

var routingWithoutDefault = &Policy{
	Code:     "routing_without_default",
	Title:    "routing drops what no condition matches",
	Severity: Warning,
	Why:      "Without default_pipelines the connector drops what matches no entry of its table, without a word. So does the operator router without default.",
	WayOut:   "Add default_pipelines, or default to the operator. If the rest is to be dropped, name a pipeline whose exporter is nop, so that it shows in the metrics.",
	examples: fixed(receivingOTLP+`connectors:
  routing:
    table:
      - context: log
        condition: attributes["team"] == "a"
        pipelines: [logs/a]
exporters:
  otlp/a:
    endpoint: a.example.com:4317
service:
  pipelines:
    logs/in:
      receivers: [otlp]
      exporters: [routing]
    logs/a:
      receivers: [routing]
      exporters: [otlp/a]
`,
		"routing:", `routing:
    default_pipelines: [logs/a]`,
	),
	has: func(factories otelcol.Factories) bool {
		_, known := factories.Connectors[component.MustNewType("routing")]
		return known
	},
	check: func(c *configuration, found *findings) {
		for _, one := range c.running("receivers") {
			for i, operator := range listAt(one.written, "operators") {
				// The routes that the collector's documents have for logs of containers match each of their formats.
				matchesFormats := slices.ContainsFunc(listAt(operator, "routes"), func(route any) bool {
					return strings.Contains(textAt(route, "expr"), "[^ Z]+Z")
				})
				if valueAt(operator, "type") == "router" && valueAt(operator, "default") == nil && !matchesFormats {
					found.at(one.path("operators", strconv.Itoa(i)), "this router of %s has no default: it drops what no route matches", one.id)
				}
			}
		}
		for _, one := range c.running("connectors").of("routing") {
			if one.read() == nil || len(one.list("default_pipelines")) > 0 || one.unknown("default_pipelines") {
				continue
			}
			takesAll := slices.ContainsFunc(one.list("table"), func(entry any) bool {
				return strings.TrimSpace(textAt(entry, "condition")) == "true" ||
					strings.TrimSpace(textAt(entry, "statement")) == "route()"
			})
			if !takesAll {
				found.at(one.path(), "%s has no default_pipelines: it drops what no condition matches", one.id)
			}
		}
	},
}
