package policies

import (
	"strings"
)

var plainHTTP = &Policy{
	Code:     "plain_http",
	Title:    "Telemetry is sent by plain HTTP",
	Severity: Warning,
	Why:      "What crosses the network by http:// can be read and changed on the way, with the credentials in its headers.",
	WayOut:   "Write https://. If the server is on this machine, write localhost.",
	examples: fixed(receivingOTLP+`exporters:
  otlphttp:
    endpoint: http://backend.example.com:4318
service:
  pipelines:
    traces:
      receivers: [otlp]
      exporters: [otlphttp]
`,
		"endpoint: http://backend.example.com:4318", "endpoint: https://backend.example.com:4318",
	),
	check: func(c *configuration, found *findings) {
		for _, one := range c.running("exporters", "extensions") {
			for path, text := range one.texts() {
				address := addressOf(text)
				if !found.isFull() && address.scheme == "http" && address.host != "" && !address.isLocal() && isAddressKey(path) {
					found.at(one.path(path...), "%s sends to %s without TLS", one.id, one.shown(path))
				}
			}
		}
	},
}

// isAddressKey tells whether a setting is where its component connects to. A proxy is not: what goes through it may be
// encrypted.
func isAddressKey(path []string) bool {
	for _, key := range path[max(0, len(path)-2):] {
		if strings.HasPrefix(key, "proxy") {
			return false
		}
		for _, word := range []string{"endpoint", "url", "address", "server"} {
			if strings.Contains(key, word) {
				return true
			}
		}
	}
	return false
}
