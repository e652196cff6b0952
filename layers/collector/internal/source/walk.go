package source

import (
	"strconv"

	"go.yaml.in/yaml/v3"
)

// Scalars calls visit for every scalar value of the document with its path, in the order of the text, until visit
// returns false. What an alias stands for is visited once, where it is written.
func (d *Document) Scalars(visit func(path []string, node *yaml.Node) bool) {
	if d.root != nil {
		walk(d.root, nil, visit)
	}
}

func walk(node *yaml.Node, path []string, visit func([]string, *yaml.Node) bool) bool {
	switch node.Kind {
	case yaml.ScalarNode:
		return visit(path, node)
	case yaml.SequenceNode:
		for i, element := range node.Content {
			if !walk(element, append(path, strconv.Itoa(i)), visit) {
				return false
			}
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			if !walk(node.Content[i+1], append(path, keyText(node.Content[i])), visit) {
				return false
			}
		}
	case yaml.DocumentNode, yaml.AliasNode:
	}
	return true
}

// Exceeds tells whether the document has more nodes, or deeper ones, than that. Aliases count as one node.
func (d *Document) Exceeds(nodes, depth int) bool {
	return d.root != nil && exceeds(d.root, &nodes, depth)
}

func exceeds(node *yaml.Node, left *int, depth int) bool {
	*left--
	if *left < 0 || depth < 0 {
		return true
	}
	for _, child := range node.Content {
		if exceeds(child, left, depth-1) {
			return true
		}
	}
	return false
}

// DuplicateKeys calls report for every key that its mapping already has, with the path of the mapping.
func (d *Document) DuplicateKeys(report func(mapping []string, key, first *yaml.Node)) {
	if d.root != nil {
		duplicates(d.root, nil, report)
	}
}

func duplicates(node *yaml.Node, path []string, report func([]string, *yaml.Node, *yaml.Node)) {
	switch node.Kind {
	case yaml.SequenceNode:
		for i, element := range node.Content {
			duplicates(element, append(path, strconv.Itoa(i)), report)
		}
	case yaml.MappingNode:
		first := make(map[string]*yaml.Node, len(node.Content)/2)
		for i := 0; i+1 < len(node.Content); i += 2 {
			key := node.Content[i]
			if key.Kind == yaml.ScalarNode {
				if earlier, known := first[key.Value]; known {
					report(path, key, earlier)
				} else {
					first[key.Value] = key
				}
			}
			duplicates(node.Content[i+1], append(path, keyText(key)), report)
		}
	case yaml.DocumentNode, yaml.ScalarNode, yaml.AliasNode:
	}
}
