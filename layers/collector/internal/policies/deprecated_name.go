package policies

import (
	"github.com/headgate/headgate/layers/collector/internal/alias"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/otelcol"
)

var deprecatedName = &Policy{
	Code:     "deprecated_name",
	Title:    "A component has its old name",
	Severity: Information,
	Why:      "Releases rename components and know the old name for some time only. Then the collector does not start.",
	WayOut:   "Write the new name, as headgate upgrade does.",
	examples: fixed(receivingOTLP+`exporters:
  otlphttp:
    endpoint: https://backend.example.com
service:
  pipelines:
    traces:
      receivers: [otlp]
      exporters: [otlphttp]
`,
		"otlphttp:", "otlp_http:",
		"exporters: [otlphttp]", "exporters: [otlp_http]",
	),
	has: func(factories otelcol.Factories) bool {
		_, known := factories.Exporters[component.MustNewType("otlp_http")]
		return known
	},
	check: func(c *configuration, found *findings) {
		for _, one := range c.running() {
			if one.factory == nil {
				continue
			}
			if renamed, is := alias.RenamedTo(one.factory, component.MustNewType(one.kind)); is {
				found.at(one.path(), "%s is the old name of %s", one.kind, renamed)
			}
		}
	},
}
