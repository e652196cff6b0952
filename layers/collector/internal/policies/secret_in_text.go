package policies

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/headgate/headgate/layers/collector/internal/source"
	"go.yaml.in/yaml/v3"
)

var secretInText = &Policy{
	Code:     "secret_in_text",
	Title:    "A secret is written into the text",
	Severity: Error,
	Why: "A configuration is stored, shown, compared and copied. A key in it is known to everybody who may read it, and " +
		"stays in its versions when it is removed.",
	WayOut: "Write ${env:NAME} in its place and give the variable to the collector only, or use a setting that names a file. " +
		"Revoke the secret that was written.",
	Seen: []string{"https://github.com/open-telemetry/opentelemetry-collector-contrib/issues/12414"},
	examples: fixed(receivingOTLP+`exporters:
  otlp:
    endpoint: backend.example.com:4317
    headers:
      x-api-key: c4f1a9e27b8d5036f2e1
`+tracesThroughOTLP,
		"x-api-key: c4f1a9e27b8d5036f2e1", "x-api-key: ${env:BACKEND_API_KEY}",
	),
	check: func(c *configuration, found *findings) {
		byLine := map[int]string{}
		column := map[int]int{}
		// Comments, keys and further documents keep secrets as well.
		for i, line := range c.document.Lines() {
			if what, at := knownSecret(line); what != "" {
				byLine[i+1], column[i+1] = what, utf8.RuneCountInString(line[:at])+1
			}
		}
		named := namesIn(c.document)
		c.document.Scalars(func(path []string, node *yaml.Node) bool {
			what := ""
			for line := node.Line; line <= node.Line+strings.Count(node.Value, "\n") && what == ""; line++ {
				what = byLine[line]
				delete(byLine, line)
			}
			if what == "" && len(node.Value) <= maxSecret {
				what = secretAt(named.of(path), node.Value)
			}
			if what != "" {
				found.atPosition(slices.Clone(path), source.Position{Line: node.Line, Column: node.Column},
					fmt.Sprintf("%s holds %s", strings.Join(path, separator), what))
			}
			return true
		})
		for _, line := range slices.Sorted(maps.Keys(byLine)) {
			found.atPosition(nil, source.Position{Line: line, Column: column[line]}, "the line holds "+byLine[line])
		}
	},
}
