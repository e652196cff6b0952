package policies

import (
	"slices"
)

var listensEverywhere = &Policy{
	Code:     "listens_everywhere",
	Title:    "A server listens on all of the machine's addresses",
	Severity: Information,
	Why: "Everybody who reaches the machine can send data to it or read from it. In a container that is often needed, and " +
		"then a network policy or a firewall has to stand before it.",
	WayOut: "Listen on the address that the senders use (localhost, or ${env:MY_POD_IP} in Kubernetes), or let the server ask " +
		"for certificates or credentials, by tls::client_ca_file or auth.",
	examples: fixed(receivingOTLP+`        endpoint: 0.0.0.0:4317
`+exportingOTLP+tracesThroughOTLP,
		"endpoint: 0.0.0.0:4317", "endpoint: localhost:4317",
	),
	check: func(c *configuration, found *findings) {
		for _, one := range c.running("receivers", "extensions", "exporters") {
			// Probes must reach health checks, and what shows diagnostics has a policy of its own.
			if one.is("health_check", "healthcheckv2") || showsDiagnostics(one) || one.section == "exporters" && !one.is("prometheus") {
				continue
			}
			for path, text := range one.texts() {
				address := addressOf(text)
				if found.isFull() || !isListenKey(path[len(path)-1]) || !address.isEverywhere() || address.port == "" {
					continue
				}
				server := valueAt(one.written, path[:len(path)-1]...)
				if valueAt(server, "auth") == nil && valueAt(server, "tls", "client_ca_file") == nil {
					found.atSetting(one, path, "%s listens on all addresses, port %s", one.id, address.port)
				}
			}
		}
	},
}

func isListenKey(key string) bool {
	return slices.Contains([]string{"endpoint", "listen_address", "listen_addr", "address"}, key)
}
