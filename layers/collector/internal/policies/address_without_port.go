package policies

import (
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var addressWithoutPort = &Policy{
	Code:     "address_without_port",
	Title:    "An address to listen on is not a host and a port",
	Severity: Error,
	Why:      "A server needs a port. The collector accepts the address without it, and ends at the start: missing port in address. The same holds for a scheme or a path: an address to listen on is not a URL.",
	WayOut:   "Write the host and the port only, for example 0.0.0.0:8889. An address for all ports does not exist.",
	Seen:     []string{"https://github.com/open-telemetry/opentelemetry-operator/issues/2628"},
	examples: fixed(receivingOTLP+`exporters:
  prometheus:
    endpoint: 0.0.0.0
service:
  pipelines:
    metrics:
      receivers: [otlp]
      exporters: [prometheus]
`,
		"endpoint: 0.0.0.0", "endpoint: 0.0.0.0:8889",
	),
	check: func(c *configuration, found *findings) {
		for _, one := range c.running("receivers", "exporters", "extensions") {
			for _, path := range one.listens() {
				text := strings.TrimSpace(one.text(path...))
				if text == "" || !one.sets(path...) {
					continue
				}
				if wrong := notListenable(text); wrong != "" {
					found.atSetting(one, path, "%s listens on an address %s", one.id, wrong)
				}
			}
		}
	},
}

// notListenable says what keeps a server from listening on an address, "" for nothing. A path without a port is a socket's.
func notListenable(text string) string {
	switch scheme, _, hasScheme := strings.Cut(text, "://"); {
	case hasScheme && (scheme == "http" || scheme == "https" || scheme == "grpc"):
		return "with the scheme " + scheme + "://"
	case pathBehindPort.MatchString(text):
		return "with a path"
	case strings.Contains(text, "/"):
		return ""
	}
	_, port, err := net.SplitHostPort(text)
	if err != nil {
		return "without a port"
	}
	if number, err := strconv.Atoi(port); err == nil && number > 65_535 {
		return "whose port is above 65535"
	}
	return ""
}

var pathBehindPort = regexp.MustCompile(`^[^/]*:\d+/`)

// listens returns the paths of the settings that hold where a component listens: those of the collector's own servers, and
// those of receivers that open a socket of their own.
func (e *entry) listens() [][]string {
	var all [][]string
	for _, server := range e.servers() {
		all = append(all, server.setting("endpoint"))
	}
	for _, key := range ownListeners[plain(e.kind)] {
		all = append(all, strings.Split(key, "."))
	}
	slices.SortFunc(all, slices.Compare)
	return slices.CompactFunc(all, slices.Equal)
}

// ownListeners are the settings of components that listen without the collector's own servers.
var ownListeners = map[string][]string{
	"tcplog": {"listen_address"}, "udplog": {"listen_address"}, "syslog": {"tcp.listen_address", "udp.listen_address"},
	"statsd": {"endpoint"}, "carbon": {"endpoint"}, "zpages": {"endpoint"}, "pprof": {"endpoint"},
	"collectd": {"endpoint"}, "fluentforward": {"endpoint"}, "wavefront": {"endpoint"}, "prometheus": {"endpoint"},
	"otlp": {"protocols.grpc.endpoint", "protocols.http.endpoint"},
}
