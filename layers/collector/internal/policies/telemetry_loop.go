package policies

import (
	"slices"
)

var telemetryLoop = &Policy{
	Code:     "telemetry_loop",
	Title:    "An exporter sends to a receiver of the same collector",
	Severity: Error,
	Why: "What a pipeline exports it receives again, and exports again: the data multiplies until memory or the network is " +
		"full.",
	WayOut: "Write the backend's address in the exporter, or let the receiver listen on another port.",
	Seen: []string{
		"https://github.com/open-telemetry/opentelemetry-java-instrumentation/issues/12180",
		"https://github.com/open-telemetry/opentelemetry-collector-contrib/issues/12782",
	},
	Failing: `receivers:
  otlp:
    protocols:
      grpc:
exporters:
  otlp:
    endpoint: localhost:4317
    tls:
      insecure: true
service:
  pipelines:
    traces:
      receivers: [otlp]
      exporters: [otlp]
`,
	Passing: `receivers:
  otlp:
    protocols:
      grpc:
exporters:
  otlp:
    endpoint: backend.example.com:4317
service:
  pipelines:
    traces:
      receivers: [otlp]
      exporters: [otlp]
`,
	check: func(c *configuration, found *findings) {
		for _, exporter := range c.running("exporters") {
			for _, client := range exporter.clients() {
				path := client.setting("endpoint")
				for _, receiver := range c.running("receivers") {
					if receives(receiver, exporter, path) && c.isLoop(exporter, receiver) {
						found.at(exporter.path(path...), "%s sends to %s of the same collector, whose pipeline exports to it again",
							exporter.id, receiver.id)
					}
				}
			}
		}
		c.scrapeLoops(found)
	},
}

// receives tells whether a receiver listens where an exporter sends. Addresses that depend on variables without a value
// are the same only if they are written the same.
func receives(receiver, exporter *entry, endpoint []string) bool {
	for _, server := range receiver.servers() {
		listens := server.setting("endpoint")
		if exporter.unknown(endpoint...) || receiver.unknown(listens...) {
			document := exporter.of.document
			a, b := document.Node(exporter.path(endpoint...)...), document.Node(receiver.path(listens...)...)
			if a != nil && b != nil && a.Value == b.Value {
				return true
			}
			continue
		}
		to, at := exporter.address(endpoint), receiver.address(listens)
		if to.port != "" && to.port == at.port && (to.host == at.host || to.isLocal() && (at.isLocal() || at.isEverywhere())) {
			return true
		}
	}
	return false
}

// isLoop tells whether what an exporter sends to a receiver comes back to the exporter.
func (c *configuration) isLoop(exporter, receiver *entry) bool {
	for _, sending := range c.pipelines {
		if !slices.Contains(sending.exporters, exporter) {
			continue
		}
		for _, before := range c.feeding(sending) {
			if before.signal == sending.signal && slices.Contains(before.receivers, receiver) {
				return true
			}
		}
	}
	return false
}

// scrapeLoops finds prometheus receivers that scrape a prometheus exporter to which their own metrics go.
func (c *configuration) scrapeLoops(found *findings) {
	for _, exporter := range c.running("exporters") {
		at := exporter.address([]string{"endpoint"})
		if !exporter.is("prometheus") || at.port == "" || exporter.unknown("endpoint") {
			continue
		}
		for _, receiver := range c.running("receivers") {
			if !receiver.is("prometheus") || !c.isLoop(exporter, receiver) {
				continue
			}
			visit(receiver.written, nil, func(path []string, value any) {
				text, _ := value.(string)
				to := addressOf(text)
				isTarget := len(path) > 1 && path[len(path)-2] == "targets"
				if isTarget && to.port == at.port && (to.isLocal() || to.host == at.host) && !receiver.unknown(path...) {
					found.at(receiver.path(path...), "%s scrapes %s of the same collector, to which its own metrics go",
						receiver.id, exporter.id)
				}
			})
		}
	}
}
