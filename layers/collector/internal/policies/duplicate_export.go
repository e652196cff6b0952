package policies

import (
	"slices"
)

var duplicateExport = &Policy{
	Code:     "duplicate_export",
	Title:    "The same data is exported twice",
	Severity: Warning,
	Why: "Two pipelines take from the same receiver, do the same and export to the same exporter. Each record arrives " +
		"twice, and counts are double.",
	WayOut: "Remove one of the pipelines, or let a filter or a routing connector share the data between them.",
	examples: fixed(receivingOTLP+exportingOTLP+`service:
  pipelines:
    logs:
      receivers: [otlp]
      exporters: [otlp]
    logs/audit:
      receivers: [otlp]
      exporters: [otlp]
`,
		`    logs/audit:
      receivers: [otlp]
      exporters: [otlp]
`, "",
	),
	check: func(c *configuration, found *findings) {
		changing := map[*pipeline][]*entry{}
		for i, one := range c.pipelines {
			changing[one] = one.changing()
			for _, other := range c.pipelines[:i] {
				if one.signal != other.signal || !slices.Equal(changing[one], changing[other]) {
					continue
				}
				receiver := first(one.receivers, func(e *entry) bool {
					return !e.is("roundrobin", "routing", "failover") && slices.Contains(other.receivers, e)
				})
				exporter := first(one.exporters, func(e *entry) bool {
					return e.section == "exporters" && !e.is("debug", "nop") && slices.Contains(other.exporters, e)
				})
				if receiver >= 0 && exporter >= 0 {
					found.at(append(one.path, "exporters"), "the pipelines %s and %s both export what %s receives to %s",
						other.id, one.id, one.receivers[receiver].id, one.exporters[exporter].id)
					break
				}
			}
		}
	},
}

// changing are the processors of a pipeline that may change or drop data.
func (p *pipeline) changing() []*entry {
	return slices.DeleteFunc(slices.Clone(p.processors), func(one *entry) bool { return one.is("memory_limiter", "batch") })
}
