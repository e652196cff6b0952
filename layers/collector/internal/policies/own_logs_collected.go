package policies

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

var ownLogsCollected = &Policy{
	Code:     "own_logs_collected",
	Title:    "The collector reads its own log",
	Severity: Warning,
	Why: "A node's pods include the collector. Each record that it reads and complains about is a line of its own log, " +
		"which it reads again: one error becomes a flood.",
	WayOut: "Exclude the collector's own files, for example by exclude: [/var/log/pods/*_otel-collector-*/*/*.log].",
	Seen:   []string{"https://github.com/open-telemetry/opentelemetry-helm-charts/issues/702"},
	examples: fixed(`receivers:
  filelog:
    include: [/var/log/pods/*/*/*.log]
`+exportingOTLP+`service:
  pipelines:
    logs:
      receivers: [filelog]
      exporters: [otlp]
`,
		"include: [/var/log/pods/*/*/*.log]", `include: [/var/log/pods/*/*/*.log]
    exclude: [/var/log/pods/*_otel-collector-*/*/*.log]`,
	),
	check: func(c *configuration, found *findings) {
		for _, one := range c.running("receivers").of("filelog") {
			if one.unknown("exclude") || slices.ContainsFunc(one.list("exclude"), excludesPods) {
				continue
			}
			for i, pattern := range one.list("include") {
				if text, _ := pattern.(string); everyPod.MatchString(text) {
					found.at(one.path("include", fmt.Sprint(i)), "%s reads the logs of all pods, also the collector's own", one.id)
					break
				}
			}
		}
	},
}

var (
	everyPod = regexp.MustCompile(`^/var/log/(pods|containers)/\*`)
	podsPath = regexp.MustCompile(`^/var/log/(pods|containers)/`)
)

// excludesPods tells whether a pattern excludes some pods, and not only some kind of file.
func excludesPods(pattern any) bool {
	text, _ := pattern.(string)
	rest := podsPath.ReplaceAllString(text, "")
	name, _, _ := strings.Cut(rest, ".")
	return rest != text && strings.Trim(name, "*/") != ""
}
