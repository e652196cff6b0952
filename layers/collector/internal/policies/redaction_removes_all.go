package policies

var redactionRemovesAll = &Policy{
	Code:     "redaction_removes_all",
	Title:    "redaction deletes every attribute",
	Severity: Error,
	Why:      "redaction keeps only the keys in allowed_keys. The list is empty by default, so all attributes are deleted, not only what blocked_values match.",
	WayOut:   "Set allow_all_keys: true to mask values only, or list the keys to keep in allowed_keys.",
	Seen:     []string{"https://github.com/open-telemetry/opentelemetry-collector-contrib/issues/11450"},
	examples: fixed(receivingOTLP+`processors:
  redaction:
    blocked_values: ["4[0-9]{12}(?:[0-9]{3})?"]
`+exportingOTLP+`service:
  pipelines:
    logs:
      receivers: [otlp]
      processors: [redaction]
      exporters: [otlp]
`,
		"redaction:", `redaction:
    allow_all_keys: true`,
	),
	check: func(c *configuration, found *findings) {
		for _, one := range c.running("processors").of("redaction") {
			if one.read() != nil && !one.on("allow_all_keys") && len(one.list("allowed_keys")) == 0 &&
				!one.unknown("allow_all_keys") && !one.unknown("allowed_keys") {
				found.at(one.path(), "%s has no allowed_keys: it deletes every attribute", one.id)
			}
		}
	},
}
