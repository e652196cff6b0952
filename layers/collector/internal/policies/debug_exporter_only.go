package policies

import "slices"

var debugExporterOnly = &Policy{
	Code:     "debug_exporter_only",
	Title:    "A pipeline exports to the debug exporter only",
	Severity: Warning,
	Why:      "The debug exporter writes to the collector's own log, and nop to nowhere: what the pipeline receives is not kept.",
	WayOut:   "Add the exporter of your backend to the pipeline, or remove the pipeline.",
	examples: fixed(receivingOTLP+`exporters:
  debug:
service:
  pipelines:
    traces:
      receivers: [otlp]
      exporters: [debug]
`,
		"debug:", `debug:
  otlp:
    endpoint: backend.example.com:4317`,
		"exporters: [debug]", "exporters: [debug, otlp]",
	),
	check: func(c *configuration, found *findings) {
		for _, one := range c.pipelines {
			if len(one.exporters) > 0 && !one.keeps() && !c.keptElsewhere(one) && !c.unknown(append(one.path, "exporters")...) {
				found.at(append(one.path, "exporters"), "the pipeline %s exports to %s only", one.id, one.exporters[0].id)
			}
		}
	},
}

// keeps tells whether the pipeline exports to something else than the collector's own log.
func (p *pipeline) keeps() bool {
	return first(p.exporters, func(one *entry) bool { return !one.is("debug", "nop", "logging") }) >= 0
}

// keptElsewhere tells whether all that a pipeline receives goes through other pipelines of its signal as well, which
// export it: then this one is there to look at the data.
func (c *configuration) keptElsewhere(one *pipeline) bool {
	for _, receiver := range one.receivers {
		isKept := slices.ContainsFunc(c.pipelines, func(other *pipeline) bool {
			if other == one || other.signal != one.signal {
				return false
			}
			if receiver.section == "connectors" {
				joins := func(e *entry) bool { return e == receiver }
				keeps := func(e *entry) bool { return e != receiver && !e.is("debug", "nop", "logging") }
				return first(other.exporters, joins) >= 0 && first(other.exporters, keeps) >= 0
			}
			return slices.Contains(other.receivers, receiver) && other.keeps()
		})
		if !isKept {
			return false
		}
	}
	return len(one.receivers) > 0
}
