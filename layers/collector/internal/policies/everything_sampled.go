package policies

import "strconv"

var everythingSampled = &Policy{
	Code:     "everything_sampled",
	Title:    "tail_sampling keeps every trace",
	Severity: Warning,
	Why: "A trace is sampled if any policy samples it. With always_sample, or a probabilistic policy of 100 percent, beside " +
		"them, the other policies decide nothing.",
	WayOut: "Remove the policy, or put it into an and policy with a condition. To leave traces out, use a policy of type drop.",
	Seen:   []string{"https://github.com/open-telemetry/opentelemetry-collector-contrib/issues/20657"},
	examples: fixed(receivingOTLP+`processors:
  tail_sampling:
    policies:
      - name: everything
        type: always_sample
      - name: slow
        type: latency
        latency:
          threshold_ms: 500
`+exportingOTLP+`service:
  pipelines:
    traces:
      receivers: [otlp]
      processors: [tail_sampling]
      exporters: [otlp]
`,
		`- name: everything
        type: always_sample`, `- name: errors
        type: status_code
        status_code:
          status_codes: [ERROR]`,
	),
	check: func(c *configuration, found *findings) {
		for _, one := range c.running("processors").of("tail_sampling") {
			policies := listAt(one.written, "policies")
			if len(policies) < 2 {
				continue
			}
			at, leavesOut := -1, false
			for i, policy := range policies {
				kind := valueAt(policy, "type")
				percent := valueAt(policy, "probabilistic", "sampling_percentage")
				if at < 0 && (kind == "always_sample" || kind == "probabilistic" && (percent == 100 || percent == 100.0)) {
					at = i
				}
				leavesOut = leavesOut || kind == "drop"
			}
			for path, value := range leaves(policies) {
				leavesOut = leavesOut || path[len(path)-1] == "invert_match" && value == true
			}
			if at >= 0 && !leavesOut {
				found.at(one.path("policies", strconv.Itoa(at)), "%s samples every trace because of this policy, whatever the others say", one.id)
			}
		}
	},
}
