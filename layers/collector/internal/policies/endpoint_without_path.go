package policies

var endpointWithoutPath = &Policy{
	Code:     "endpoint_without_path",
	Title:    "An address that is used as it stands has no path",
	Severity: Warning,
	Why: "traces_endpoint, metrics_endpoint and logs_endpoint of otlphttp, and the endpoints of prometheusremotewrite and " +
		"zipkin, are whole addresses: nothing is added to them. Without a path, the server answers 404 or 405 to every request.",
	WayOut: "Write the whole address, such as https://host/v1/traces, https://host/api/v1/write or https://host/api/v2/spans.",
	examples: fixed(receivingOTLP+`exporters:
  otlphttp:
    traces_endpoint: https://backend.example.com
service:
  pipelines:
    traces:
      receivers: [otlp]
      exporters: [otlphttp]
`,
		"traces_endpoint: https://backend.example.com", "endpoint: https://backend.example.com",
	),
	check: func(c *configuration, found *findings) {
		for _, one := range c.running("exporters") {
			for _, key := range wholeAddresses[plain(one.kind)] {
				address := one.address(key)
				if one.sets(key) && address.host != "" && (address.path == "" || address.path == "/") {
					found.atSetting(one, []string{key}, "%s sends to the %s as it stands, which has no path", one.id, key)
				}
			}
		}
	},
}

// wholeAddresses are the settings to which an exporter adds no path, by type.
var wholeAddresses = map[string][]string{
	"otlphttp":              {"traces_endpoint", "metrics_endpoint", "logs_endpoint", "profiles_endpoint"},
	"prometheusremotewrite": {"endpoint"},
	"zipkin":                {"endpoint"},
}
