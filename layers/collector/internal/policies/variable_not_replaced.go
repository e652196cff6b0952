package policies

import "regexp"

var variableNotReplaced = &Policy{
	Code:     "variable_not_replaced",
	Title:    "A variable without braces is a text",
	Severity: Error,
	Why: "The collector replaces ${env:NAME} and ${NAME}. Since 0.104.0 it leaves $NAME as it stands: a backend gets the " +
		"words $API_KEY for a key.",
	WayOut: "Write ${env:NAME}. If the text itself is meant, write $$NAME.",
	examples: fixed(receivingOTLP+`exporters:
  otlp:
    endpoint: backend.example.com:4317
    headers:
      api-key: $API_KEY
`+tracesThroughOTLP,
		"api-key: $API_KEY", "api-key: ${env:API_KEY}",
	),
	check: func(c *configuration, found *findings) {
		if !c.hasReferences {
			return
		}
		for _, one := range c.running() {
			for path, text := range one.texts() {
				if !unbraced.MatchString(text) {
					continue
				}
				place := one.path(path...)
				if node := c.document.Node(place...); node != nil && node.Value == text {
					found.at(place, "%s gets the name of a variable here: without braces, the collector does not replace it", one.id)
				}
			}
		}
	},
}

// unbraced matches a value that is a variable as shells or the arguments of a container write it, alone or in an address or a
// header.
var unbraced = regexp.MustCompile(`^(?:[a-zA-Z]+ |https?://)?\$(?:[A-Z_][A-Z0-9_]+|\([A-Z_][A-Z0-9_]+\))(?:[:/.][\w:/.-]*)?$`)
