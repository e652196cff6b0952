package lint

import (
	"iter"

	"go.yaml.in/yaml/v3"
)

// pairs are the keys and values of a mapping, its own first, then those that merge keys (`<<`) bring, in the order in
// which YAML looks a key up. Anything but a mapping has none.
func pairs(node *yaml.Node) iter.Seq2[string, *yaml.Node] {
	return func(yield func(string, *yaml.Node) bool) {
		seen := map[string]bool{}
		eachPair(resolve(node), seen, 0, yield)
	}
}

// maxMerges bounds how deep merge keys may lie in each other.
const maxMerges = 50

func eachPair(node *yaml.Node, seen map[string]bool, depth int, yield func(string, *yaml.Node) bool) bool {
	if node.Kind != yaml.MappingNode || depth > maxMerges {
		return true
	}
	var merged []*yaml.Node
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := resolve(node.Content[i]), node.Content[i+1]
		if key.ShortTag() == "!!merge" {
			merged = append(merged, mergedMappings(value)...)
			continue
		}
		if seen[key.Value] {
			continue
		}
		seen[key.Value] = true
		if !yield(key.Value, value) {
			return false
		}
	}
	for _, from := range merged {
		if !eachPair(from, seen, depth+1, yield) {
			return false
		}
	}
	return true
}

func mergedMappings(value *yaml.Node) []*yaml.Node {
	value = resolve(value)
	if value.Kind != yaml.SequenceNode {
		return []*yaml.Node{value}
	}
	var mappings []*yaml.Node
	for _, entry := range value.Content {
		mappings = append(mappings, resolve(entry))
	}
	return mappings
}
