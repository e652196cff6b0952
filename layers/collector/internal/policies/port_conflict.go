package policies

import (
	"strings"
)

var portConflict = &Policy{
	Code:     "port_conflict",
	Title:    "Two servers listen on the same port",
	Severity: Error,
	Why:      "The second one cannot have the port, and the collector fails when it starts, though the configuration is valid.",
	WayOut:   "Give each server a port of its own.",
	Seen:     []string{"https://github.com/open-telemetry/opentelemetry-collector-contrib/issues/14707"},
	examples: fixed(receivingOTLP+`  otlp/internal:
    protocols:
      grpc:
`+exportingOTLP+`service:
  pipelines:
    traces:
      receivers: [otlp, otlp/internal]
      exporters: [otlp]
`,
		`otlp/internal:
    protocols:
      grpc:`, `otlp/internal:
    protocols:
      grpc:
        endpoint: localhost:14317`,
	),
	check: func(c *configuration, found *findings) {
		type listener struct {
			of   *entry
			path []string
			at   address
		}
		byPort := map[string][]listener{}
		for _, one := range c.running("extensions", "receivers", "exporters") {
			for _, server := range one.servers() {
				path := server.setting("endpoint")
				address := one.address(path...)
				transport := one.text(server.setting("transport")...)
				// A webhook that nobody asked for is not started.
				isAskedFor := len(server.path) == 0 || server.path[0] == "protocols" || one.sets(path...)
				if !isAskedFor || address.port == "" || address.port == "0" || one.unknown(path...) || strings.HasPrefix(transport, "u") {
					continue
				}
				for _, other := range byPort[address.port] {
					if address.overlaps(other.at) {
						found.at(one.path(path...), "%s and %s both listen on port %s", one.id, other.of.id, address.port)
						break
					}
				}
				byPort[address.port] = append(byPort[address.port], listener{one, path, address})
			}
		}
	},
}

// overlaps tells whether two servers on the same port are in each other's way.
func (a address) overlaps(other address) bool {
	return a.host == other.host || a.isEverywhere() || other.isEverywhere() || a.isLocal() && other.isLocal()
}
