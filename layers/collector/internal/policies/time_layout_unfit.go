package policies

import (
	"regexp"
	"strings"
)

var timeLayoutUnfit = &Policy{
	Code:     "time_layout_unfit",
	Title:    "A layout of times is of another kind, or has no date",
	Severity: Warning,
	Why: "Operators read a layout as strptime unless layout_type says otherwise. A layout without % then matches one text only, " +
		"and so does one with % as gotime: parsing fails for each record. Without a date, each time is on the first of January.",
	WayOut: "Write %Y-%m-%d %H:%M:%S, or set layout_type: gotime and write 2006-01-02 15:04:05. For times without a date, leave the timestamp out.",
	Seen:   []string{"https://github.com/open-telemetry/opentelemetry-collector-contrib/issues/46111"},
	examples: fixed(`receivers:
  filelog:
    include: [/var/log/app.log]
    operators:
      - type: regex_parser
        regex: ^(?P<time>\S+ \S+) (?P<message>.*)$
        timestamp:
          parse_from: attributes.time
          layout: yyyy-MM-dd HH:mm:ss
`+exportingOTLP+`service:
  pipelines:
    logs:
      receivers: [filelog]
      exporters: [otlp]
`,
		"layout: yyyy-MM-dd HH:mm:ss", `layout: "%Y-%m-%d %H:%M:%S"`,
	),
	check: func(c *configuration, found *findings) {
		for _, one := range c.running("receivers") {
			for path, layout := range one.texts() {
				end := len(path) - 1
				if path[0] != "operators" || path[end] != "layout" {
					continue
				}
				date, isOther := dateOfStrptime, !strings.Contains(layout, "%")
				switch textAt(valueAt(one.written, path[:end]...), "layout_type") {
				case "", "strptime":
				case "gotime":
					date, isOther = dateOfGo, !isOther
				default:
					continue
				}
				switch {
				case isOther:
					found.atSetting(one, path, "this layout of %s is not one of its layout_type: no time is read", one.id)
				case !date.MatchString(layout):
					found.atSetting(one, path, "this layout of %s has no date: every time is on the first of January", one.id)
				}
			}
		}
	},
}

// dateOfStrptime and dateOfGo match a part of a layout that is of a date.
var (
	dateOfStrptime = regexp.MustCompile(`%[-_0EO]?[dejyYmbBhDFcxgGuUVWs]`)
	dateOfGo       = regexp.MustCompile(`06|01|02|_2|\b[12]\b|Jan`)
)
