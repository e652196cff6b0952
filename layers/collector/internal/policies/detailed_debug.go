package policies

import (
	"strings"
)

var detailedDebug = &Policy{
	Code:     "detailed_debug",
	Title:    "The debug exporter writes every record",
	Severity: Information,
	Why: "With verbosity detailed the debug exporter writes everything to the collector's log: that costs more than " +
		"sending it, fills disks, and puts personal data where nobody looks for it.",
	WayOut: "Remove verbosity: detailed, or set sampling_thereafter, for example to 100, while you look for something.",
	examples: fixed(receivingOTLP+`exporters:
  otlp:
    endpoint: backend.example.com:4317
  debug:
    verbosity: detailed
service:
  pipelines:
    traces:
      receivers: [otlp]
      exporters: [otlp, debug]
`,
		"verbosity: detailed", "verbosity: normal",
	),
	check: func(c *configuration, found *findings) {
		for _, one := range c.running("exporters").of("debug") {
			if strings.EqualFold(textAt(one.written, "verbosity"), "detailed") && one.number("sampling_thereafter") <= 1 {
				found.at(one.path("verbosity"), "%s writes every record in full", one.id)
			}
		}
	},
}
