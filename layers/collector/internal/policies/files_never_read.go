package policies

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var filesNeverRead = &Policy{
	Code:     "files_never_read",
	Title:    "A pattern of files matches none, or excludes those that another one includes",
	Severity: Warning,
	Why: "filelog matches whole paths: it expands no ~, reads no folder, and a name alone excludes no file of a folder. It " +
		"starts, and reads nothing, or what it was to leave out.",
	WayOut: "Write the whole path with a pattern for the files: /home/app/*.log, /var/log/app/*.log, and to exclude a name in " +
		"any folder **/debug.log.",
	examples: fixed(`receivers:
  filelog:
    include: [~/app/*.log]
`+exportingOTLP+`service:
  pipelines:
    logs:
      receivers: [filelog]
      exporters: [otlp]
`,
		"~/app", "/home/app",
	),
	check: func(c *configuration, found *findings) {
		for _, one := range c.running("receivers") {
			if !one.is("filelog") {
				continue
			}
			include, exclude := one.list("include"), one.list("exclude")
			areWholePaths := true
			for i, file := range include {
				text, at := fmt.Sprint(file), []string{"include", strconv.Itoa(i)}
				areWholePaths = areWholePaths && path.IsAbs(text) && !one.unknown(at...)
				switch {
				case one.unknown(at...):
				case strings.HasPrefix(text, "~"):
					found.at(one.path(at...), "%s does not expand ~: this matches no file", one.id)
				case strings.HasSuffix(text, "/"):
					found.at(one.path(at...), "this is a folder, and %s reads files: it matches none", one.id)
				case slices.Contains(exclude, file):
					found.at(one.path(at...), "%s excludes what this includes", one.id)
				}
			}
			for i, file := range exclude {
				at := []string{"exclude", strconv.Itoa(i)}
				if areWholePaths && matchesNoWholePath(fmt.Sprint(file)) && !one.unknown(at...) {
					found.at(one.path(at...), "this excludes no file: %s compares it with whole paths", one.id)
				}
			}
		}
	},
}

// matchesNoWholePath tells whether a pattern matches no path that begins with a slash: `*` stands for no slash.
func matchesNoWholePath(pattern string) bool {
	return pattern != "" && (plainStart.MatchString(pattern) || !strings.ContainsAny(pattern, `/{[\\`) && !strings.Contains(pattern, "**"))
}

var plainStart = regexp.MustCompile(`^[A-Za-z0-9_.-]`)
