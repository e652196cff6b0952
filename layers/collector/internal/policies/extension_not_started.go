package policies

import (
	"fmt"
	"reflect"
	"strings"

	"go.opentelemetry.io/collector/component"
)

var extensionNotStarted = &Policy{
	Code:     "extension_not_started",
	Title:    "A component needs an extension that is not started",
	Severity: Error,
	Why: "A configuration with a storage or an authenticator that service::extensions does not list is valid, and the " +
		"collector fails when it starts.",
	WayOut: "Add the extension to service::extensions, and declare it under extensions.",
	Seen:   []string{"https://github.com/SumoLogic/sumologic-otel-collector/pull/105"},
	examples: fixed(receivingOTLP+`extensions:
  basicauth:
    client_auth:
      username: collector
      password: ${env:BACKEND_PASSWORD}
exporters:
  otlp:
    endpoint: backend.example.com:4317
    auth:
      authenticator: basicauth
service:
  pipelines:
    traces:
      receivers: [otlp]
      exporters: [otlp]
`,
		"service:", `service:
  extensions: [basicauth]`,
	),
	check: func(c *configuration, found *findings) {
		listed := map[string]bool{}
		for _, name := range listAt(c.plain, "service", "extensions") {
			listed[strings.TrimSpace(fmt.Sprint(name))] = true
		}
		for _, one := range c.running("receivers", "processors", "exporters", "connectors") {
			config := one.read()
			if config == nil || c.unknown("service", "extensions") {
				continue
			}
			references(reflect.ValueOf(config), nil, maxDepth, func(path []string, id component.ID) {
				if !listed[id.String()] && one.sets(path...) {
					found.atSetting(one, path, "%s needs the extension %s, which service::extensions does not list", one.id, id)
				}
			})
		}
	},
}

// references calls what for the ids of components that a configuration holds. The ids in the configurations of receivers,
// processors, exporters and connectors are those of extensions.
func references(value reflect.Value, path []string, depth int, what func([]string, component.ID)) {
	seek(value, path, depth, func(path []string, of reflect.Value) bool {
		id, is := of.Interface().(component.ID)
		if is && id != (component.ID{}) {
			what(path, id)
		}
		return !is
	})
}
