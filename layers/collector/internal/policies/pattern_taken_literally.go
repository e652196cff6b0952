package policies

import "regexp"

var patternTakenLiterally = &Policy{
	Code:     "pattern_taken_literally",
	Title:    "A pattern stands where a literal is compared",
	Severity: Warning,
	Why: "Without enabled_regex_matching, match_type: regexp or pattern, the text is compared as it stands: nothing is " +
		"called http.request.header.*, so nothing matches, and nothing tells.",
	WayOut: "Set enabled_regex_matching: true in tail_sampling, match_type: regexp in other processors, and pattern instead of key in attributes.",
	Seen: []string{
		"https://github.com/open-telemetry/opentelemetry-collector-contrib/issues/38142",
		"https://github.com/open-telemetry/opentelemetry-collector-contrib/issues/11536",
	},
	examples: fixed(receivingOTLP+`processors:
  tail_sampling:
    policies:
      - name: health
        type: string_attribute
        string_attribute:
          key: http.route
          values: [/health.*]
`+exportingOTLP+`service:
  pipelines:
    traces:
      receivers: [otlp]
      processors: [tail_sampling]
      exporters: [otlp]
`,
		"values: [/health.*]", `values: [/health.*]
          enabled_regex_matching: true`,
	),
	check: func(c *configuration, found *findings) {
		for _, one := range c.running("processors") {
			for path, text := range one.texts() {
				if one.comparesLiterally(path) && isPattern.MatchString(text) {
					found.atSetting(one, path, "%s compares this as it stands, not as a pattern", one.id)
				}
			}
		}
	},
}

// isPattern matches what a pattern has and no name or value.
var isPattern = regexp.MustCompile(`\.[*+]|^\^|\\[dwsb.]|[\w.]\*$|\[\^`)

// comparesLiterally tells whether a processor compares the text at a path with names or values as it stands.
func (e *entry) comparesLiterally(path []string) bool {
	last := len(path) - 1
	at := func(end int, key string) any { return valueAt(valueAt(e.written, path[:end]...), key) }
	switch {
	case e.is("tail_sampling"):
		return last > 1 && path[last-1] == "values" && path[last-2] == "string_attribute" && at(last-1, "enabled_regex_matching") != true
	case e.is("metricstransform"):
		return path[last] == "include" && (at(last, "match_type") == nil || at(last, "match_type") == "strict")
	case e.is("attributes", "resource") && path[last] == "key":
		return len(path) == 3
	}
	for end := last; end > 0; end-- {
		if kind := at(end, "match_type"); kind != nil {
			return kind == "strict"
		}
	}
	return false
}
