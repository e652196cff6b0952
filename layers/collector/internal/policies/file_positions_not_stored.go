package policies

var filePositionsNotStored = &Policy{
	Code:     "file_positions_not_stored",
	Title:    "Files are read again after each restart",
	Severity: Warning,
	Why: "With start_at: beginning and no storage, the receiver forgets at each restart how far it had read, and sends all " +
		"files again.",
	WayOut: "Set storage to a file_storage extension that the service lists.",
	Seen:   []string{"https://github.com/open-telemetry/opentelemetry-collector-contrib/issues/17274"},
	examples: examples{
		Failing: `receivers:
  filelog:
    include: [/var/log/app/*.log]
    start_at: beginning
exporters:
  otlp:
    endpoint: backend.example.com:4317
service:
  pipelines:
    logs:
      receivers: [filelog]
      exporters: [otlp]
`,
		Passing: `extensions:
  file_storage:
    directory: /var/lib/otelcol
    create_directory: true
receivers:
  filelog:
    include: [/var/log/app/*.log]
    start_at: beginning
    storage: file_storage
exporters:
  otlp:
    endpoint: backend.example.com:4317
service:
  extensions: [file_storage]
  pipelines:
    logs:
      receivers: [filelog]
      exporters: [otlp]
`,
	},
	check: func(c *configuration, found *findings) {
		for _, one := range c.running("receivers").of("filelog") {
			if one.read() != nil && one.text("start_at") == "beginning" && one.setting("storage") == nil &&
				!one.unknown("storage") {
				found.atSetting(one, []string{"start_at"}, "%s reads all its files again after each restart", one.id)
			}
		}
	},
}
