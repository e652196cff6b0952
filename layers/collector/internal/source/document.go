// Package source finds the positions of a configuration's keys and values in its text.
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
	// indexes are those of the mappings with many keys that were asked for one.
	indexes map[*yaml.Node]*keyIndex
}

// Parse reads the first document of a text. It returns the YAML library's error for what is not YAML.
//
// Aliases are followed, not expanded, so the cost depends only on the text's length. It does not report what decoding
// would refuse: duplicate keys, aliases that expand too far, unknown tags.
func Parse(text string) (*Document, error) {
	var node yaml.Node
	if err := yaml.Unmarshal([]byte(text), &node); err != nil {
		return nil, err
	}
	document := &Document{written: text, text: NewText(text), indexes: map[*yaml.Node]*keyIndex{}}
	if len(node.Content) > 0 {
		document.root = node.Content[0]
	}
	return document, nil
}

// NotAMapping is the message for a text whose outermost node is not a mapping.
const NotAMapping = "a configuration is a mapping of sections (receivers, exporters, service, ...)"

// Undecodable returns why the document is not a mapping of sections; err is the YAML library's error from decoding it.
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

// Root returns the document's outermost node, nil for an empty document.
func (d *Document) Root() *yaml.Node { return d.root }

// Lines returns the lines of the text, all documents of it, without their breaks and without a byte order mark.
func (d *Document) Lines() []string {
	starts := d.text.lines.starts
	lines := make([]string, len(starts))
	for i, start := range starts {
		end := len(d.written)
		if i+1 < len(starts) {
			end = starts[i+1]
		}
		lines[i] = strings.TrimRight(d.written[start:end], "\r\n\u0085\u2028\u2029")
	}
	lines[0] = strings.TrimPrefix(lines[0], byteOrderMark(d.written))
	return lines
}

// Start returns the position at which the document begins.
func (d *Document) Start() Position {
	if d.root == nil {
		return Position{Line: 1, Column: 1}
	}
	return positionOf(d.root)
}

// Value returns the position of the value at a path: for an alias, the alias's own.
func (d *Document) Value(path ...string) (Position, bool) {
	place, found := d.find(path)
	if !found {
		return Position{}, false
	}
	return positionOf(place.value), true
}

// Node returns the node at a path, with aliases followed, nil if there is none.
func (d *Document) Node(path ...string) *yaml.Node {
	place, found := d.find(path)
	if !found {
		return nil
	}
	return Resolve(place.value)
}

// ScalarOf returns the Scalar of a node of this document.
func (d *Document) ScalarOf(node *yaml.Node) *Scalar { return d.text.Scalar(node) }

// Keys returns the keys of the mapping at a path, those that are merged into it as well. A key that stands for several
// names counts for the first.
func (d *Document) Keys(path ...string) []string {
	var keys []string
	counted := counting{left: maxMappings}
	counted.merged(d.Node(path...), func(key string, _ *yaml.Node) { keys = append(keys, key) })
	return keys
}

// Nearest returns the node of the longest part of a path that is in the text, and the position of its key. Names that
// are not in the text are skipped: the collector's paths contain embedded structures (`exporters::otlp::clientconfig`)
// and fields that have their default.
func (d *Document) Nearest(path ...string) (node *yaml.Node, key Position) {
	if d.root == nil {
		return nil, d.Start()
	}
	at := place{value: d.root, key: d.root}
	for len(path) > 0 {
		if next, rest, found := d.step(at.value, path); found {
			at, path = next, rest
		} else {
			path = path[1:]
		}
	}
	return Resolve(at.value), positionOf(at.key)
}

// place is a value and its key; for an element of a list, the element itself.
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
		next, rest, found := d.step(at.value, path)
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
func (d *Document) step(node *yaml.Node, path []string) (place, []string, bool) {
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
		return d.stepInto(node, path, map[*yaml.Node]bool{})
	default:
		return place{}, nil, false
	}
}

// stepInto looks a name up in a mapping, then in what is merged into it. Every mapping is looked at once: merges of
// merges can double with every level.
func (d *Document) stepInto(mapping *yaml.Node, path []string, seen map[*yaml.Node]bool) (place, []string, bool) {
	if seen[mapping] {
		return place{}, nil, false
	}
	seen[mapping] = true
	keys := d.keysOf(mapping)
	first, known := keys.whole[path[0]]
	for _, i := range keys.split {
		if known && i > first {
			break
		}
		if rest, matches := cutKey(keyText(mapping.Content[i]), path); matches {
			return place{key: mapping.Content[i], value: mapping.Content[i+1]}, rest, true
		}
	}
	if known {
		return place{key: mapping.Content[first], value: mapping.Content[first+1]}, path[1:], true
	}
	for _, i := range keys.merges {
		for _, merged := range mergedMappings(mapping.Content[i+1]) {
			if found, rest, ok := d.stepInto(merged, path, seen); ok {
				return found, rest, true
			}
		}
	}
	return place{}, nil, false
}

// keyIndex has where in a mapping's content the keys are: whole ones by their text, those that stand for several names,
// and merge keys. Of two that are the same, it has the first.
type keyIndex struct {
	whole  map[string]int
	split  []int
	merges []int
}

// keysOf returns the index of a mapping, which is made once: components are looked up by the hundred.
func (d *Document) keysOf(mapping *yaml.Node) *keyIndex {
	if known, made := d.indexes[mapping]; made {
		return known
	}
	keys := &keyIndex{whole: make(map[string]int, len(mapping.Content)/2)}
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		key := mapping.Content[i]
		text := keyText(key)
		switch _, twice := keys.whole[text]; {
		case isMerge(key):
			keys.merges = append(keys.merges, i)
		case strings.Contains(text, "::"):
			keys.split = append(keys.split, i)
		case !twice:
			keys.whole[text] = i
		}
	}
	d.indexes[mapping] = keys
	return keys
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
