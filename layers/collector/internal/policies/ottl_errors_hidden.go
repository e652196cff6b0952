package policies

import (
	"regexp"
	"strings"
)

var ottlErrorsHidden = &Policy{
	Code:     "ottl_errors_hidden",
	Title:    "Statements that fail are hidden",
	Severity: Warning,
	Why: "With error_mode silent a statement that fails on every record does so for ever, and nothing tells. With ignore, " +
		"a statement that is to remove or mask personal data lets it pass when it fails.",
	WayOut: "Set error_mode to propagate where data must not pass unchanged, else to ignore, which logs each failure.",
	examples: fixed(receivingOTLP+`processors:
  memory_limiter:
    check_interval: 1s
    limit_percentage: 75
  transform:
    error_mode: ignore
    log_statements:
      - delete_key(log.attributes, "user.email")
`+exportingOTLP+`service:
  pipelines:
    logs:
      receivers: [otlp]
      processors: [memory_limiter, transform]
      exporters: [otlp]
`,
		"error_mode: ignore", "error_mode: propagate",
	),
	check: func(c *configuration, found *findings) {
		for _, one := range c.running("processors", "connectors", "receivers") {
			if one.text("error_mode") == "silent" {
				found.at(one.path("error_mode"), "%s says nothing of statements that fail", one.id)
			}
			for path, text := range one.texts() {
				if len(path) > 1 && path[len(path)-1] == "error_mode" && text == "silent" {
					found.at(one.path(path...), "%s says nothing of statements that fail", one.id)
				}
				if one.is("transform") && masks(text) && modeOf(one, path) != "propagate" && !one.unknown("error_mode") {
					found.at(one.path(path...), "%s lets the data pass unchanged if this statement fails: its error_mode is %s",
						one.id, modeOf(one, path))
				}
			}
		}
	},
}

var (
	removing  = regexp.MustCompile(`^\s*(delete_key|delete_matching_keys|replace_\w+)\s*\(`)
	sensitive = regexp.MustCompile(`(?i)(passw|secret|token|e?mail|card|ssn|iban|authorization|cookie|api[_.-]?key|enduser|` +
		`user\b.{0,3}(id|name|full)|client.address|phone|credential)`)
)

// masks tells whether a statement removes or masks what looks like personal data or a secret.
func masks(statement string) bool {
	return removing.MatchString(statement) && sensitive.MatchString(statement)
}

// modeOf returns the error_mode of a statement: that of its group, else that of the processor.
func modeOf(one *entry, path []string) string {
	for end := len(path) - 1; end > 0; end-- {
		if mode := textAt(valueAt(one.written, path[:end]...), "error_mode"); mode != "" {
			return strings.ToLower(mode)
		}
	}
	return strings.ToLower(one.text("error_mode"))
}
