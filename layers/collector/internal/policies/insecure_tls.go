package policies

var insecureTLS = &Policy{
	Code:     "insecure_tls",
	Title:    "A connection to another machine is not encrypted",
	Severity: Warning,
	Why: "With insecure: true, telemetry and the credentials in its headers cross the network in plain text, and nothing proves " +
		"who receives them.",
	WayOut: "Remove insecure: true, and give ca_file if the server's certificate is from an authority of your own. If the " +
		"server is reached through localhost, write that address.",
	examples: fixed(receivingOTLP+`exporters:
  otlp:
    endpoint: backend.example.com:4317
    tls:
      insecure: true
`+tracesThroughOTLP,
		"insecure: true", "ca_file: /etc/otelcol/ca.pem",
	),
	check: func(c *configuration, found *findings) {
		for _, one := range c.running() {
			for _, client := range one.clients() {
				insecure, endpoint := client.setting("tls", "insecure"), client.setting("endpoint")
				// A client of HTTP goes by the scheme of its address alone.
				if !client.isHTTP && one.on(insecure...) && !one.address(endpoint...).isLocal() {
					found.at(one.path(insecure...), "%s sends to %s without TLS", one.id, one.shown(endpoint))
				}
			}
		}
	},
}
