// Package source places the keys and values of a configuration in the text that they were written in.
//
// Lines and columns count from 1. A column is counted in Unicode code points, as the YAML library does; a byte order
// mark is not counted.
package source

import (
	"errors"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Position is a place in a text.
type Position struct {
	Line   int
	Column int
}

// Document is the first document of a YAML text, the only one that the collector reads.
type Document struct {
	written string
	text    *Text
	root    *yaml.Node
}

// Parse reads the first document of a text. It returns the YAML library's error for what is not YAML.
//
// Aliases are followed, never expanded, so a document costs what its text costs. Nothing is said of what decoding
// would refuse: duplicate keys, aliases that blow up, unknown tags.
func Parse(text string) (*Document, error) {
	var node yaml.Node
	if err := yaml.Unmarshal([]byte(text), &node); err != nil {
		return nil, err
	}
	document := &Document{written: text, text: NewText(text)}
	if len(node.Content) > 0 {
		document.root = node.Content[0]
	}
	return document, nil
}

// NotAMapping is said of a text whose outermost node is anything else.
const NotAMapping = "a configuration is a mapping of sections (receivers, exporters, service, ...)"

// Undecodable says why the document is no mapping of sections; err is what the YAML library said to decoding it.
func (d *Document) Undecodable(err error) string {
	if d.root != nil && d.root.Kind != yaml.MappingNode {
		return NotAMapping
	}
	var typed *yaml.TypeError
	if errors.As(err, &typed) {
		return strings.Join(typed.Errors, "; ")
	}
	return strings.TrimPrefix(err.Error(), "yaml: ")
}

// Root is the document's outermost node, nil for an empty one.
func (d *Document) Root() *yaml.Node { return d.root }

// Start is where the document begins.
func (d *Document) Start() Position {
	if d.root == nil {
		return Position{Line: 1, Column: 1}
	}
	return positionOf(d.root)
}

// Key is where the last key of a path stands; of an element of a list, where the element does.
func (d *Document) Key(path ...string) (Position, bool) {
	place, found := d.find(path)
	if !found || place.key == nil {
		return Position{}, false
	}
	return positionOf(place.key), true
}

// Value is where the value at a path stands: for an alias, where the alias does.
func (d *Document) Value(path ...string) (Position, bool) {
	place, found := d.find(path)
	if !found {
		return Position{}, false
	}
	return positionOf(place.value), true
}

// Node is the node at a path, aliases followed. It is nil where there is none.
func (d *Document) Node(path ...string) *yaml.Node {
	place, found := d.find(path)
	if !found {
		return nil
	}
	return Resolve(place.value)
}

// Scalar is the scalar at a path, so that offsets in its value can be placed.
func (d *Document) Scalar(path ...string) (*Scalar, bool) {
	node := d.Node(path...)
	if node == nil || node.Kind != yaml.ScalarNode {
		return nil, false
	}
	return d.ScalarOf(node), true
}

// ScalarOf places offsets in the value of a scalar of this document.
func (d *Document) ScalarOf(node *yaml.Node) *Scalar { return d.text.Scalar(node) }

// Nearest is the node of the longest part of a path that is in the text, and where its key stands. A name that is not
// there is passed over: the collector names embedded structures that no text does (`exporters::otlp::clientconfig`),
// and fields that are left at their default.
func (d *Document) Nearest(path ...string) (node *yaml.Node, key Position) {
	if d.root == nil {
		return nil, d.Start()
	}
	at := place{value: d.root, key: d.root}
	for len(path) > 0 {
		if next, rest, found := step(at.value, path); found {
			at, path = next, rest
		} else {
			path = path[1:]
		}
	}
	return Resolve(at.value), positionOf(at.key)
}

// place is a value and the node that it is found by.
type place struct {
	key   *yaml.Node
	value *yaml.Node
}

func (d *Document) find(path []string) (place, bool) {
	if d.root == nil {
		return place{}, false
	}
	at := place{value: d.root}
	for len(path) > 0 {
		next, rest, found := step(at.value, path)
		if !found {
			return place{}, false
		}
		at, path = next, rest
	}
	return at, true
}

// step goes from a node to what the first name of a path means there, and returns the rest of the path.
//
// The collector splits a key at `::`, so one key of the text may stand for several names of the path.
func step(node *yaml.Node, path []string) (place, []string, bool) {
	node = Resolve(node)
	if node == nil {
		return place{}, nil, false
	}
	switch node.Kind {
	case yaml.SequenceNode:
		index, err := strconv.Atoi(path[0])
		if err != nil || index < 0 || index >= len(node.Content) {
			return place{}, nil, false
		}
		element := node.Content[index]
		return place{key: element, value: element}, path[1:], true
	case yaml.MappingNode:
		return stepInto(node, path, map[*yaml.Node]bool{})
	default:
		return place{}, nil, false
	}
}

// stepInto looks a name up in a mapping, then in what is merged into it. Every mapping is looked at once: merges of
// merges can double with every level.
func stepInto(mapping *yaml.Node, path []string, seen map[*yaml.Node]bool) (place, []string, bool) {
	if seen[mapping] {
		return place{}, nil, false
	}
	seen[mapping] = true
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		key, value := mapping.Content[i], mapping.Content[i+1]
		if isMerge(key) {
			continue
		}
		if rest, matches := cutKey(keyText(key), path); matches {
			return place{key: key, value: value}, rest, true
		}
	}
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if !isMerge(mapping.Content[i]) {
			continue
		}
		for _, merged := range mergedMappings(mapping.Content[i+1]) {
			if found, rest, ok := stepInto(merged, path, seen); ok {
				return found, rest, true
			}
		}
	}
	return place{}, nil, false
}

// cutKey takes the names that a key stands for off the front of a path.
func cutKey(key string, path []string) ([]string, bool) {
	if key == path[0] {
		return path[1:], true
	}
	if !strings.Contains(key, "::") {
		return nil, false
	}
	names := strings.Split(key, "::")
	if len(names) > len(path) {
		return nil, false
	}
	for i, name := range names {
		if name != path[i] {
			return nil, false
		}
	}
	return path[len(names):], true
}

// mergedMappings are the mappings that the value of a merge key names, the one that wins first.
func mergedMappings(value *yaml.Node) []*yaml.Node {
	value = Resolve(value)
	if value == nil {
		return nil
	}
	switch value.Kind {
	case yaml.MappingNode:
		return []*yaml.Node{value}
	case yaml.SequenceNode:
		var mappings []*yaml.Node
		for _, element := range value.Content {
			if element = Resolve(element); element != nil && element.Kind == yaml.MappingNode {
				mappings = append(mappings, element)
			}
		}
		return mappings
	default:
		return nil
	}
}

// Resolve follows an alias to the node it stands for.
func Resolve(node *yaml.Node) *yaml.Node {
	for node != nil && node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	return node
}

func isMerge(key *yaml.Node) bool {
	return key.Kind == yaml.ScalarNode && key.Value == "<<" && (key.Tag == "" || key.Tag == "!" || key.ShortTag() == "!!merge")
}

func keyText(key *yaml.Node) string {
	if key = Resolve(key); key != nil && key.Kind == yaml.ScalarNode {
		return key.Value
	}
	return ""
}

func positionOf(node *yaml.Node) Position {
	return Position{Line: node.Line, Column: node.Column}
}
