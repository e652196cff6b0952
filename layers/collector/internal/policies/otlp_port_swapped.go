package policies

var otlpPortSwapped = &Policy{
	Code:     "otlp_port_swapped",
	Title:    "The port is that of OTLP's other protocol",
	Severity: Warning,
	Why: "By convention 4317 is OTLP over gRPC and 4318 is OTLP over HTTP. A client of the one at the port of the other " +
		"fails with messages that do not say so: malformed HTTP response, frame too large.",
	WayOut: "Use the exporter otlp with port 4317, or otlphttp with port 4318.",
	examples: fixed(receivingOTLP+`exporters:
  otlp:
    endpoint: backend.example.com:4318
`+tracesThroughOTLP,
		"endpoint: backend.example.com:4318", "endpoint: backend.example.com:4317",
	),
	check: func(c *configuration, found *findings) {
		endpoint := []string{"endpoint"}
		for _, one := range c.running("exporters") {
			port := one.address(endpoint...).port
			if one.is("otlp", "otlp_grpc") && port == "4318" {
				found.atSetting(one, endpoint, "%s speaks gRPC, and 4318 is the port of HTTP", one.id)
			}
			if one.is("otlphttp") && port == "4317" {
				found.atSetting(one, endpoint, "%s speaks HTTP, and 4317 is the port of gRPC", one.id)
			}
		}
	},
}
