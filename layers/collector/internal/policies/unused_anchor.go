package policies

import (
	"slices"

	"github.com/headgate/headgate/layers/collector/internal/decoded"
	"github.com/headgate/headgate/layers/collector/internal/source"
	"go.yaml.in/yaml/v3"
)

var unusedAnchor = &Policy{
	Code:     "unused_anchor",
	Title:    "An anchor is not used",
	Severity: Information,
	Why: "An anchor that no alias refers to is the trace of something that was changed halfway: a component that should " +
		"share the settings has its own, or has none.",
	WayOut: "Refer to it by an alias, or remove it.",
	examples: fixed(receivingOTLP+`exporters:
  otlp: &backend
    endpoint: backend.example.com:4317
service:
  pipelines:
    traces:
      receivers: [otlp]
      exporters: [otlp]
`,
		"endpoint: backend.example.com:4317", `endpoint: backend.example.com:4317
  otlp/slow:
    <<: *backend
    timeout: 30s`,
		"exporters: [otlp]", "exporters: [otlp, otlp/slow]",
	),
	check: func(c *configuration, found *findings) {
		used := map[*yaml.Node]bool{}
		var anchored []*yaml.Node
		paths := map[*yaml.Node][]string{}
		c.document.Nodes(func(path []string, node *yaml.Node) {
			if node.Kind == yaml.AliasNode {
				used[node.Alias] = true
			} else if node.Anchor != "" {
				anchored = append(anchored, node)
				paths[node] = slices.Clone(path)
			}
		})
		for _, node := range anchored {
			if !used[node] {
				found.atPosition(paths[node], source.Position{Line: node.Line, Column: node.Column},
					"nothing refers to the anchor &"+decoded.Shortened(node.Anchor, 100))
			}
		}
	},
}
