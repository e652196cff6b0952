package source

import (
	"fmt"

	"go.yaml.in/yaml/v3"
)

// What the collector judges in seconds. The YAML library compares every key of a mapping with every other, and the
// collector goes through what nests again at each level: a mapping of 40,000 keys takes it 6 s of a processor, 1,000
// levels of mappings take 11 s, and twice as many of either four to eight times as long. No configuration that people
// write comes near.
const (
	maxLevels = 400
	maxKeys   = 20_000
	// maxPairs bounds the keys of all mappings together, as often as aliases repeat them.
	maxPairs = float64(maxKeys) * maxKeys
)

// Cost is an error for a document over which the collector would take too long to tell whether it is valid.
type Cost struct {
	Message string
	Line    int
}

// Error makes a Cost an error.
func (c *Cost) Error() string { return c.Message }

// Affordable returns a *Cost for a document that is not. It follows aliases, which nest and repeat what they stand for,
// and counts the components of the documents behind it as well.
func (d *Document) Affordable() error {
	if d.root == nil {
		return nil
	}
	counted := counting{left: mostMappings}
	counted.add(d.root)
	behind, tooMany := d.behind()
	if tooMany != nil {
		return tooMany
	}
	for _, other := range behind {
		counted.add(other)
	}
	if tooMany := counted.Refused(d.root.Line); tooMany != nil {
		return tooMany
	}
	if counted.left < 0 {
		return &Cost{Message: fmt.Sprintf("line %d: its merges come to too much; nothing was checked", d.root.Line), Line: d.root.Line}
	}
	measured := measuring{known: map[*yaml.Node]cost{}}
	if total := measured.of(d.root); measured.found == nil && total.pairs > maxPairs {
		measured.refuse(d.root, "its mappings have too many keys in all")
	}
	if measured.found != nil {
		return measured.found
	}
	return nil
}

type cost struct {
	levels int
	pairs  float64
}

type measuring struct {
	// known are the nodes that an alias can repeat. One that is being measured is there with nothing: decoding refuses
	// what contains itself.
	known map[*yaml.Node]cost
	found *Cost
}

func (m *measuring) of(node *yaml.Node) cost {
	if m.found != nil {
		return cost{}
	}
	if node.Kind == yaml.AliasNode {
		return m.of(node.Alias)
	}
	if known, measured := m.known[node]; measured {
		return known
	}
	if node.Anchor != "" {
		m.known[node] = cost{}
	}
	var total cost
	if node.Kind == yaml.MappingNode {
		keys := len(node.Content) / 2
		if keys > maxKeys {
			m.refuse(node, fmt.Sprintf("a mapping has %d keys, and more than %d take the collector too long", keys, maxKeys))
		}
		total.pairs = float64(keys) * float64(keys)
	}
	for _, child := range node.Content {
		inner := m.of(child)
		total.levels = max(total.levels, inner.levels+1)
		total.pairs += inner.pairs
	}
	if total.levels > maxLevels {
		m.refuse(node, fmt.Sprintf("it nests deeper than %d levels, which takes the collector too long", maxLevels))
	}
	if node.Anchor != "" {
		m.known[node] = total
	}
	return total
}

func (m *measuring) refuse(node *yaml.Node, why string) {
	if m.found == nil {
		m.found = &Cost{Message: fmt.Sprintf("line %d: %s; nothing was checked", node.Line, why), Line: node.Line}
	}
}
