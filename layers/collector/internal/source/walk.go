package source

import (
	"strconv"
	"strings"

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

// Visit is a scalar of the document as it stands in the configuration. A scalar that aliases or merge keys repeat has a
// visit for each place.
type Visit struct {
	// Path leads to the value, or to the value of the key; it has one name more than keys where a key contains `::`.
	Path []string
	Node *yaml.Node
	// Key is set for a key, and for a part of one that contains `::`; that part begins at Offset of the node's value.
	Key    bool
	Offset int
}

// Expanded calls visit for every scalar of the document with aliases and merge keys followed, keys before their values,
// until visit returns false. Merged entries are visited even where a key of the mapping itself hides them. The paths are
// valid only during the visit. It returns false if there are more than most visits.
func (d *Document) Expanded(most int, visit func(Visit) bool) bool {
	if d.root == nil {
		return true
	}
	e := expansion{left: most, visit: visit}
	e.value(d.root, nil)
	return e.left >= 0
}

type expansion struct {
	left  int
	ended bool
	visit func(Visit) bool
}

func (e *expansion) scalar(one Visit) {
	if e.left--; e.left < 0 || e.ended || !e.visit(one) {
		e.ended = true
	}
}

func (e *expansion) value(node *yaml.Node, path []string) {
	node = Resolve(node)
	if node == nil || e.ended {
		return
	}
	switch node.Kind {
	case yaml.ScalarNode:
		e.scalar(Visit{Path: path, Node: node})
	case yaml.SequenceNode:
		for i, element := range node.Content {
			e.value(element, append(path, strconv.Itoa(i)))
		}
	case yaml.MappingNode:
		e.entries(node, path)
	case yaml.DocumentNode, yaml.AliasNode:
	}
}

func (e *expansion) entries(mapping *yaml.Node, path []string) {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		key, value := mapping.Content[i], mapping.Content[i+1]
		if isMerge(key) {
			if e.left--; e.left < 0 || e.ended {
				e.ended = true
				return
			}
			for _, merged := range mergedMappings(value) {
				e.entries(merged, path)
			}
			continue
		}
		below := path
		if key = Resolve(key); key.Kind == yaml.ScalarNode {
			offset := 0
			for _, name := range strings.Split(key.Value, "::") {
				below = append(below, name)
				e.scalar(Visit{Path: below, Node: key, Key: true, Offset: offset})
				offset += len(name) + len("::")
			}
		} else {
			below = append(below, "")
		}
		e.value(value, below)
	}
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

// Nodes calls visit for every node of the document, with its path, where it is written.
func (d *Document) Nodes(visit func(path []string, node *yaml.Node)) {
	if d.root != nil {
		everyNode(d.root, nil, visit)
	}
}

func everyNode(node *yaml.Node, path []string, visit func([]string, *yaml.Node)) {
	visit(path, node)
	switch node.Kind {
	case yaml.SequenceNode:
		for i, element := range node.Content {
			everyNode(element, append(path, strconv.Itoa(i)), visit)
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			below := append(path, keyText(node.Content[i]))
			everyNode(node.Content[i], below, visit)
			everyNode(node.Content[i+1], below, visit)
		}
	case yaml.DocumentNode, yaml.ScalarNode, yaml.AliasNode:
	}
}
