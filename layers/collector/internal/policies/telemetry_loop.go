package policies

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
	examples: fixed(receivingOTLP+`exporters:
  otlp:
    endpoint: localhost:4317
    tls:
      insecure: true
`+tracesThroughOTLP,
		`endpoint: localhost:4317
    tls:
      insecure: true`, "endpoint: backend.example.com:4317",
	),
	check: func(c *configuration, found *findings) {
		listening := map[string][]endpoint{}
		for _, receiver := range c.running("receivers") {
			for _, server := range receiver.servers() {
				one := endpointOf(receiver, server.setting("endpoint"))
				listening[one.key()] = append(listening[one.key()], one)
			}
		}
		scraped := c.scraped()
		for _, exporter := range c.running("exporters") {
			var back map[*entry]bool
			comesBack := func(receiver *entry) bool {
				if back == nil {
					back = c.comingBack(exporter)
				}
				return back[receiver]
			}
			for _, client := range exporter.clients() {
				to := endpointOf(exporter, client.setting("endpoint"))
				for _, at := range to.reached(listening) {
					if comesBack(at.of) {
						found.at(exporter.path(to.path...), "%s sends to %s of the same collector, whose pipeline exports to it again",
							exporter.id, at.of.id)
					}
				}
			}
			if !exporter.is("prometheus") {
				continue
			}
			at := endpointOf(exporter, []string{"endpoint"})
			for _, to := range at.reached(scraped) {
				if comesBack(to.of) {
					found.at(to.of.path(to.path...), "%s scrapes %s of the same collector, to which its own metrics go",
						to.of.id, exporter.id)
				}
			}
		}
	},
}

// endpoint is where a component listens or connects. Open is set if that depends on a variable without a value; then
// written, its text, is what can be compared.
type endpoint struct {
	of      *entry
	path    []string
	open    bool
	written string
	address address
}

func endpointOf(one *entry, path []string) endpoint {
	made := endpoint{of: one, path: path, address: one.address(path...)}
	if one.unknown(path...) {
		made.open = true
		if node := one.of.document.Node(one.path(path...)...); node != nil {
			made.written = node.Value
		}
	}
	return made
}

// key is the same for a client's endpoint and that of the server that it reaches, "" for one that reaches nothing here.
// A server that listens everywhere is local as well.
func (e endpoint) key() string {
	switch {
	case e.open:
		return e.written
	case e.address.port == "":
		return ""
	case e.address.isLocal():
		return "local:" + e.address.port
	default:
		return e.address.host + ":" + e.address.port
	}
}

// reached returns the servers that a client reaches.
func (e endpoint) reached(servers map[string][]endpoint) []endpoint {
	var found []endpoint
	for _, one := range servers[e.key()] {
		if e.key() != "" && e.open == one.open {
			found = append(found, one)
		}
	}
	return found
}

// comingBack returns the receivers whose data gets to an exporter.
func (c *configuration) comingBack(exporter *entry) map[*entry]bool {
	back := map[*entry]bool{}
	for _, sending := range c.exporting(exporter) {
		for _, before := range c.feeding(sending) {
			if before.signal == sending.signal {
				for _, receiver := range before.receivers {
					back[receiver] = true
				}
			}
		}
	}
	return back
}

// scraped returns the targets of prometheus receivers, by the key of their endpoints, each receiver once for each key.
func (c *configuration) scraped() map[string][]endpoint {
	targets := map[string][]endpoint{}
	seen := map[string]bool{}
	for _, receiver := range c.running("receivers").of("prometheus") {
		for path, text := range receiver.texts() {
			if len(path) > 1 && path[len(path)-2] == "targets" && !receiver.unknown(path...) {
				one := endpoint{of: receiver, path: path, address: addressOf(text)}
				if once := receiver.id + " " + one.key(); !seen[once] {
					seen[once] = true
					targets[one.key()] = append(targets[one.key()], one)
				}
			}
		}
	}
	return targets
}
