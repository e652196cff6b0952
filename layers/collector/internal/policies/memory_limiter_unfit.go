package policies

import (
	"time"
)

var memoryLimiterUnfit = &Policy{
	Code:     "memory_limiter_unfit",
	Title:    "The memory limiter's limits do not fit",
	Severity: Warning,
	Why: "The memory_limiter looks at Go's heap once in each check_interval. With a limit near the whole memory, or with a " +
		"long interval, the system kills the collector before the limiter acts; with a limit below what the collector " +
		"needs itself, it refuses everything.",
	WayOut: "Set check_interval to 1s, limit_percentage to 75 or 80 with a spike_limit_percentage of about 20, or limit_mib " +
		"to what the collector may use, minus 50 MiB.",
	examples: fixed(receivingOTLP+`processors:
  memory_limiter:
    check_interval: 30s
    limit_percentage: 98
`+exportingOTLP+`service:
  pipelines:
    traces:
      receivers: [otlp]
      processors: [memory_limiter]
      exporters: [otlp]
`,
		`check_interval: 30s
    limit_percentage: 98`, `check_interval: 1s
    limit_percentage: 80
    spike_limit_percentage: 20`,
	),
	check: func(c *configuration, found *findings) {
		const highest, lowestMiB, longest = 90, 32, 5 * time.Second
		for _, one := range c.running("processors", "extensions").of("memory_limiter") {
			if percent := one.number("limit_percentage"); percent > highest {
				found.atSetting(one, []string{"limit_percentage"}, "%s allows %.0f%% of the memory for the heap alone", one.id, percent)
			}
			limit, spike := one.number("limit_mib"), one.number("spike_limit_mib")
			if spike == 0 {
				spike = limit / 5 // as the processor does
			}
			if limit > 0 && limit-spike < lowestMiB && !one.unknown("spike_limit_mib") {
				found.atSetting(one, []string{"limit_mib"}, "%s refuses data from %.0f MiB on, which the collector needs itself", one.id, limit-spike)
			}
			if interval, err := time.ParseDuration(one.text("check_interval")); err == nil && interval > longest {
				found.at(one.path("check_interval"), "%s looks at the memory only every %s", one.id, interval)
			}
		}
	},
}
