package policies

var diagnosticsExposed = &Policy{
	Code:     "diagnostics_exposed",
	Title:    "A diagnostic server can be reached from other machines",
	Severity: Warning,
	Why: "pprof, zpages and the remote tap show memory, traces and telemetry to everybody who reaches them, without a " +
		"password, and pprof keeps the processor busy for whoever asks.",
	WayOut: "Let them listen on localhost, which is their default, and reach them by a tunnel.",
	examples: fixed(receivingOTLP+`extensions:
  zpages:
    endpoint: 0.0.0.0:55679
`+exportingOTLP+`service:
  extensions: [zpages]
  pipelines:
    traces:
      receivers: [otlp]
      exporters: [otlp]
`,
		"endpoint: 0.0.0.0:55679", "endpoint: localhost:55679",
	),
	check: func(c *configuration, found *findings) {
		for _, one := range c.running("extensions", "processors") {
			if address := one.address("endpoint"); showsDiagnostics(one) && address.isReachable() {
				found.atSetting(one, []string{"endpoint"}, "%s can be reached from other machines, at port %s", one.id, address.port)
			}
		}
	},
}

func showsDiagnostics(one *entry) bool { return one.is("pprof", "zpages", "remotetap") }
