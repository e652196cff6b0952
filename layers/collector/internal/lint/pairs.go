package lint

import (
	"iter"

	"go.yaml.in/yaml/v3"
)

// pairs yields the keys and values of a mapping, its own first, then those that merge keys (`<<`) add, in the order in
// which YAML looks up a key. Other nodes yield nothing.
func pairs(node *yaml.Node) iter.Seq2[string, *yaml.Node] {
	return func(yield func(string, *yaml.Node) bool) {
		seen := map[string]bool{}
		eachPair(resolve(node), seen, 0, yield)
	}
}

// maxMerges bounds how deeply merge keys may nest.
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
