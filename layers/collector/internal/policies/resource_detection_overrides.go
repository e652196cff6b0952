package policies

import (
	"slices"
	"strings"
)

var resourceDetectionOverrides = &Policy{
	Code:     "resource_detection_overrides",
	Title:    "Data from other machines gets this machine's name",
	Severity: Warning,
	Why: "resourcedetection replaces host.name and what else it finds by the collector's own, unless override is false. " +
		"Data from other machines then seems to come from the collector's.",
	WayOut: "Set override to false, or run resourcedetection only in collectors that receive from their own machine.",
	Seen:   []string{"https://github.com/elastic/integrations/issues/19728"},
	examples: fixed(receivingOTLP+`        endpoint: 0.0.0.0:4317
processors:
  memory_limiter:
    check_interval: 1s
    limit_percentage: 75
  resourcedetection:
    detectors: [system]
`+exportingOTLP+`service:
  pipelines:
    traces:
      receivers: [otlp]
      processors: [memory_limiter, resourcedetection]
      exporters: [otlp]
`,
		"detectors: [system]", `detectors: [system]
    override: false`,
	),
	check: func(c *configuration, found *findings) {
		for _, processor := range c.running("processors").of("resourcedetection") {
			if !processor.on("override") ||
				!slices.ContainsFunc(processor.list("detectors"), func(detector any) bool { return detector != "env" }) ||
				processor.unknown("detectors") {
				continue
			}
			var remote []string
			for _, one := range c.pipelines {
				for _, receiver := range one.receivers {
					if slices.Contains(one.processors, processor) && !slices.Contains(remote, receiver.id) && receivesFromOthers(receiver) {
						remote = append(remote, receiver.id)
					}
				}
			}
			if len(remote) > 0 {
				found.atSetting(processor, []string{"override"}, "%s gives data from other machines, received by %s, this machine's attributes",
					processor.id, strings.Join(remote, ", "))
			}
		}
	},
}

// receivesFromOthers tells whether a receiver listens for other machines.
func receivesFromOthers(one *entry) bool {
	return slices.ContainsFunc(one.servers(), func(server place) bool {
		return one.address(server.setting("endpoint")...).isReachable()
	})
}
