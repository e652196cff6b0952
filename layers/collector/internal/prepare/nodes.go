package prepare

import (
	"maps"
	"slices"

	"go.yaml.in/yaml/v3"
)

// maxNodes bounds the nodes after aliases are replaced; a configuration of a megabyte has at most half a million.
const maxNodes = 1_000_000

// withoutAliases copies a tree with every alias replaced by its node, so that parts can be moved away from their
// anchors.
func withoutAliases(node *yaml.Node) (*yaml.Node, error) {
	left := maxNodes
	return unfold(node, &left, 0)
}

func unfold(node *yaml.Node, left *int, depth int) (*yaml.Node, error) {
	if *left--; *left < 0 || depth > 1000 {
		return nil, &Problem{Field: "yaml", Message: "its aliases expand to too many nodes, or it nests too deep", Line: node.Line}
	}
	if node.Kind == yaml.AliasNode {
		return unfold(node.Alias, left, depth+1)
	}
	unfolded := *node
	unfolded.Anchor = ""
	unfolded.Content = make([]*yaml.Node, len(node.Content))
	for i, child := range node.Content {
		copied, err := unfold(child, left, depth+1)
		if err != nil {
			return nil, err
		}
		unfolded.Content[i] = copied
	}
	return &unfolded, nil
}

// flattened is a mapping with its merge keys (`<<`) carried out, and those of the mappings in it, so that sections and
// components can be looked up. A mapping's own key comes before a merged one, and an earlier merged one before a later.
func flattened(node *yaml.Node) *yaml.Node {
	if node.Kind != yaml.MappingNode {
		return node
	}
	flat := *node
	flat.Content = nil
	var merged []*yaml.Node
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		if key.Tag != "!!merge" {
			flat.Content = append(flat.Content, key, flattened(value))
			continue
		}
		if value.Kind == yaml.SequenceNode {
			merged = append(merged, value.Content...)
		} else {
			merged = append(merged, value)
		}
	}
	for _, from := range merged {
		from = flattened(from)
		for i := 0; i+1 < len(from.Content); i += 2 {
			if at(&flat, from.Content[i].Value) == nil {
				flat.Content = append(flat.Content, from.Content[i], from.Content[i+1])
			}
		}
	}
	return &flat
}

// at follows keys through mappings; nil where there is none.
func at(node *yaml.Node, path ...string) *yaml.Node {
	for _, name := range path {
		if node == nil || node.Kind != yaml.MappingNode {
			return nil
		}
		var found *yaml.Node
		for i := 0; i+1 < len(node.Content); i += 2 {
			if node.Content[i].Value == name {
				found = node.Content[i+1]
				break
			}
		}
		node = found
	}
	return node
}

func mapping() *yaml.Node {
	return &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
}

func scalar(text string) *yaml.Node {
	node := &yaml.Node{}
	node.SetString(text)
	return node
}

func put(mapping *yaml.Node, key string, value *yaml.Node) {
	mapping.Content = append(mapping.Content, scalar(key), value)
}

func pair(key string, value *yaml.Node) *yaml.Node {
	node := mapping()
	put(node, key, value)
	return node
}

// texts is a mapping of names to texts, given in turn.
func texts(namesAndTexts ...string) *yaml.Node {
	node := mapping()
	for i := 0; i+1 < len(namesAndTexts); i += 2 {
		put(node, namesAndTexts[i], scalar(namesAndTexts[i+1]))
	}
	return node
}

func mappingOf(bodies map[string]*yaml.Node) *yaml.Node {
	node := mapping()
	for _, name := range names(bodies) {
		put(node, name, bodies[name])
	}
	return node
}

func names[V any](of map[string]V) []string {
	return slices.Sorted(maps.Keys(of))
}

func list(entries []string) *yaml.Node {
	node := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Style: yaml.FlowStyle}
	for _, entry := range entries {
		node.Content = append(node.Content, scalar(entry))
	}
	return node
}
