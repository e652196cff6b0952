package policies

var noRetry = &Policy{
	Code:     "no_retry",
	Title:    "An exporter does not try again",
	Severity: Warning,
	Why: "A backend that restarts or limits the rate refuses data for seconds or minutes. Without retries all of it is " +
		"dropped, and only the collector's own log tells.",
	WayOut: "Remove retry_on_failure, which is on by default, or set its enabled to true.",
	examples: fixed(receivingOTLP+`exporters:
  otlp:
    endpoint: backend.example.com:4317
    retry_on_failure:
      enabled: false
`+tracesThroughOTLP,
		"enabled: false", "max_elapsed_time: 10m",
	),
	check: func(c *configuration, found *findings) {
		for _, one := range c.running("exporters") {
			enabled := []string{"retry_on_failure", "enabled"}
			if one.setting(enabled...) == false && !retriesElsewhere(one) {
				found.atSetting(one, enabled, "%s drops what its backend does not take at once", one.id)
			}
		}
	},
}

// retriesElsewhere tells whether an exporter is right without a queue and retries of its own: the client that it uses has
// them, or it waits to be asked.
func retriesElsewhere(one *entry) bool {
	return one.is("loadbalancing", "googlecloudpubsub", "honeycombmarker", "prometheus", "debug", "nop", "file")
}
