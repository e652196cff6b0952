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
	Failing: `receivers:
  otlp:
    protocols:
      grpc:
processors:
  tail_sampling:
    policies:
      - name: everything
        type: always_sample
      - name: slow
        type: latency
        latency:
          threshold_ms: 500
exporters:
  otlp:
    endpoint: backend.example.com:4317
service:
  pipelines:
    traces:
      receivers: [otlp]
      processors: [tail_sampling]
      exporters: [otlp]
`,
	Passing: `receivers:
  otlp:
    protocols:
      grpc:
processors:
  tail_sampling:
    policies:
      - name: errors
        type: status_code
        status_code:
          status_codes: [ERROR]
      - name: slow
        type: latency
        latency:
          threshold_ms: 500
exporters:
  otlp:
    endpoint: backend.example.com:4317
service:
  pipelines:
    traces:
      receivers: [otlp]
      processors: [tail_sampling]
      exporters: [otlp]
`,
	check: func(c *configuration, found *findings) {
		for _, one := range c.running("processors") {
			policies, _ := valueAt(one.written, []string{"policies"}).([]any)
			if !one.is("tail_sampling") || len(policies) < 2 {
				continue
			}
			at, leavesOut := -1, false
			for i, policy := range policies {
				kind := valueAt(policy, []string{"type"})
				percent := valueAt(policy, []string{"probabilistic", "sampling_percentage"})
				if at < 0 && (kind == "always_sample" || kind == "probabilistic" && (percent == 100 || percent == 100.0)) {
					at = i
				}
				leavesOut = leavesOut || kind == "drop"
			}
			visit(policies, nil, func(path []string, value any) {
				leavesOut = leavesOut || path[len(path)-1] == "invert_match" && value == true
			})
			if at >= 0 && !leavesOut {
				found.at(one.path("policies", strconv.Itoa(at)), "%s samples every trace because of this policy, whatever the others say", one.id)
			}
		}
	},
}
