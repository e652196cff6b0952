package policies

import (
	"regexp"
	"slices"
)

var expressionAsText = &Policy{
	Code:     "expression_as_text",
	Title:    "An expression stands where a text is taken",
	Severity: Warning,
	Why: "Headers of exporters, values of attributes and resource, and those of the operator add are texts: a server or a " +
		"record gets the words attributes[\"tenant\"], and not the tenant.",
	WayOut: "Use from_attribute in attributes and resource, EXPR(…) or copy in operators, and for headers headers_setter or a route for each value.",
	Seen: []string{
		"https://github.com/open-telemetry/opentelemetry-collector/issues/12947",
		"https://github.com/open-telemetry/opentelemetry-collector-contrib/issues/35686",
	},
	examples: fixed(receivingOTLP+`exporters:
  otlp:
    endpoint: backend.example.com:4317
    headers:
      x-tenant: attributes["tenant"]
`+tracesThroughOTLP,
		`x-tenant: attributes["tenant"]`, "x-tenant: shop",
	),
	check: func(c *configuration, found *findings) {
		for _, one := range c.running("receivers", "processors", "exporters") {
			for path, text := range one.texts() {
				takesText := path[len(path)-1] == "value" && (slices.Contains(path, "operators") || one.is("attributes", "resource")) ||
					one.section == "exporters" && slices.Contains(path, "headers")
				if takesText && isPath.MatchString(text) {
					found.atSetting(one, path, "%s takes this as a text, not as an expression", one.id)
				}
			}
		}
	},
}

// isPath matches a path of OTTL or of the operators, and nothing that somebody sends as a text.
var isPath = regexp.MustCompile(`^(?:(?:resource|scope|span|log|metric|datapoint)\.)?(?:attributes|resource)\[["'][^"']+["']\]$` +
	`|^(?:resource\.)?attributes\.[a-zA-Z_][\w.]*$|^(?:resource|body)\.[a-z_][\w.]*$`)
