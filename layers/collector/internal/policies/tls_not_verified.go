package policies

import (
	"slices"
)

var tlsNotVerified = &Policy{
	Code:     "tls_not_verified",
	Title:    "A server's certificate is not verified",
	Severity: Warning,
	Why: "With insecure_skip_verify the connection is encrypted, but to anybody: whoever answers at that address gets the " +
		"data and the credentials.",
	WayOut: "Remove insecure_skip_verify, and give ca_file if the certificate is from an authority of your own.",
	examples: fixed(receivingOTLP+`exporters:
  otlp:
    endpoint: backend.example.com:4317
    tls:
      insecure_skip_verify: true
`+tracesThroughOTLP,
		"insecure_skip_verify: true", "ca_file: /etc/otelcol/ca.pem",
	),
	check: func(c *configuration, found *findings) {
		for _, one := range c.running() {
			for path, value := range leaves(one.written) {
				if found.isFull() || path[len(path)-1] != "insecure_skip_verify" || value != true {
					continue
				}
				isLocal := slices.ContainsFunc(one.clients(), func(client place) bool {
					inside := len(path) > len(client.path) && slices.Equal(path[:len(client.path)], client.path)
					return inside && one.address(client.setting("endpoint")...).isLocal()
				})
				if !isLocal {
					found.at(one.path(path...), "%s accepts any certificate", one.id)
				}
			}
		}
	},
}
