package policies

import (
	"fmt"
	"strings"
)

var filePathNotIncluded = &Policy{
	Code:     "file_path_not_included",
	Title:    "An operator needs the path of the file, which is left out",
	Severity: Warning,
	Why: "Records have log.file.path only with include_file_path. Without it recombine joins lines of all files, since that " +
		"attribute tells them apart, and container and what parses the path fail for each record.",
	WayOut: "Set include_file_path: true, and remove the attribute at the end if it is not wanted.",
	Seen:   []string{"https://github.com/open-telemetry/opentelemetry-collector-contrib/issues/45479"},
	examples: fixed(`receivers:
  filelog:
    include: [/var/log/app/*.log]
    operators:
      - type: recombine
        combine_field: body
        is_first_entry: body matches "^\\d{4}-"
`+exportingOTLP+`service:
  pipelines:
    logs:
      receivers: [filelog]
      exporters: [otlp]
`,
		"include: [/var/log/app/*.log]", `include: [/var/log/app/*.log]
    include_file_path: true`,
	),
	check: func(c *configuration, found *findings) {
		for _, one := range c.running("receivers").of("filelog") {
			if one.on("include_file_path") || one.unknown("include_file_path") {
				continue
			}
			for i, operator := range listAt(one.written, "operators") {
				if one.readsPath(operator) {
					found.at(one.path("operators", fmt.Sprint(i)), "%s leaves out log.file.path, which this operator needs", one.id)
				}
			}
		}
	},
}

// readsPath tells whether an operator of a filelog receiver needs the attribute log.file.path.
func (e *entry) readsPath(operator any) bool {
	switch valueAt(operator, "type") {
	case "recombine":
		files := e.list("include")
		pattern := len(files) > 1
		for _, file := range files {
			pattern = pattern || strings.ContainsAny(fmt.Sprint(file), "*?[{$")
		}
		return pattern && valueAt(operator, "source_identifier") == nil
	case "container":
		return valueAt(operator, "add_metadata_from_filepath") != false
	}
	reads := false
	for _, key := range []string{"parse_from", "from", "source_identifier"} {
		field := strings.TrimPrefix(textAt(operator, key), "attributes")
		reads = reads || strings.Trim(field, `["']`) == "log.file.path"
	}
	return reads
}
