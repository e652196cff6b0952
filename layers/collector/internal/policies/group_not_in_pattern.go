package policies

import (
	"cmp"
	"slices"

	"github.com/headgate/headgate/layers/collector/internal/group"
)

var groupNotInPattern = &Policy{
	Code:     "group_not_in_pattern",
	Title:    "A replacement names a group that its pattern does not have",
	Severity: Warning,
	Why: "A group's name is as long as possible: net_$1_received names the group 1_received, which is empty, so names lose " +
		"what the group was to keep.",
	WayOut: "Put the group's number in braces, net_$${1}_received: the collector makes $ of $$.",
	Seen: []string{
		"https://github.com/open-telemetry/opentelemetry-collector-contrib/issues/3849",
		"https://github.com/open-telemetry/opentelemetry-collector-contrib/pull/4143",
	},
	examples: fixed(receivingOTLP+`processors:
  metricstransform:
    transforms:
      - include: ^net_(.*)_recv$$
        match_type: regexp
        action: update
        new_name: net_$$1_received
`+exportingOTLP+`service:
  pipelines:
    metrics:
      receivers: [otlp]
      processors: [metricstransform]
      exporters: [otlp]
`,
		"$$1", "$${1}",
	),
	check: func(c *configuration, found *findings) {
		if !c.hasReferences {
			return
		}
		for _, one := range c.running("receivers", "processors") {
			for path, value := range leaves(one.written) {
				replacement, isText := value.(string)
				pattern, isPattern := one.patternOf(path)
				if message := group.Missing(pattern, replacement); isText && isPattern && message != "" {
					found.atSetting(one, path, "%s", message)
				}
			}
		}
	},
}

// patternOf returns the pattern whose groups the text at a path may name, false if it names none.
func (e *entry) patternOf(path []string) (pattern string, is bool) {
	beside := func(key string) string {
		text, _ := valueAt(e.written, append(slices.Clone(path[:len(path)-1]), key)...).(string)
		return text
	}
	switch last := path[len(path)-1]; {
	case e.is("metricstransform") && last == "new_name":
		return beside("include"), beside("match_type") == "regexp" && beside("action") != "combine"
	case e.is("k8sattributes") && last == "tag_name":
		return beside("key_regex"), beside("key_regex") != ""
	case e.is("prometheus") && last == "replacement":
		return cmp.Or(beside("regex"), "(.*)"), true
	case last == "replace_with" && beside("type") == "regex_replace":
		return beside("regex"), beside("regex") != ""
	}
	return "", false
}
