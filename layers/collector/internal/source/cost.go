package source

import (
	"fmt"

	"go.yaml.in/yaml/v3"
)

// Limits within which the collector needs seconds. The YAML library compares every key of a mapping with every other,
// and the collector visits nested values again at each level: a mapping of 40,000 keys takes 6 s of processor time,
// 1,000 nested mappings take 11 s, and twice as many four to eight times as long. Real configurations are far smaller.
const (
	maxLevels = 400
	maxKeys   = 20_000
	// maxPairs bounds the compared pairs of keys in all mappings, counted each time an alias repeats them.
	maxPairs = float64(maxKeys) * maxKeys
	// maxEntries bounds the entries of all lists, and maxNodes all keys and values, counted in the same way. The collector
	// copies and decodes each several times: 80,000 host names of a loadbalancing exporter take 6.5 s, 80,000 paths 3.2 s.
	maxEntries = 20_000
	maxNodes   = 100_000
	// aliased is where the YAML library itself refuses a document, as one of excessive aliasing: most of so many nodes of
	// a megabyte are aliases.
	aliased = 4_000_000
)

// Cost is the error for a configuration that the collector would take too long to check.
type Cost struct {
	Message string
	Line    int
}

// Error makes a Cost an error.
func (c *Cost) Error() string { return c.Message }

// Affordable returns a *Cost if the collector would take too long over the document. It follows aliases, and counts the
// components of the documents after the first as well.
func (d *Document) Affordable() error {
	if d.root == nil {
		return nil
	}
	counted := counting{left: maxMappings}
	counted.add(d.root)
	later, tooMany := d.laterDocuments()
	if tooMany != nil {
		return tooMany
	}
	for _, other := range later {
		counted.add(other)
	}
	if tooMany := counted.Refused(d.root.Line); tooMany != nil {
		return tooMany
	}
	if counted.left < 0 {
		return &Cost{Message: fmt.Sprintf("line %d: its merge keys (<<) expand to too many mappings; nothing was checked", d.root.Line), Line: d.root.Line}
	}
	measured := measuring{known: map[*yaml.Node]cost{}}
	switch total := measured.of(d.root); {
	case measured.found != nil:
	case total.pairs > maxPairs:
		measured.refuse(d.root, "its mappings together have too many keys")
	case total.nodes > aliased:
	case total.entries > maxEntries:
		measured.refuse(d.root, fmt.Sprintf("its lists together have %.0f entries; the limit is %d", total.entries, maxEntries))
	case total.nodes > maxNodes:
		measured.refuse(d.root, fmt.Sprintf("it has %.0f keys and values; the limit is %d", total.nodes, maxNodes))
	}
	if measured.found != nil {
		return measured.found
	}
	return nil
}

type cost struct {
	levels  int
	pairs   float64
	entries float64
	nodes   float64
}

type measuring struct {
	// known are the costs of nodes that an alias can repeat. A node that is being measured counts as nothing: decoding
	// refuses a node that contains itself.
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
	total := cost{nodes: 1}
	if node.Kind == yaml.SequenceNode {
		total.entries = float64(len(node.Content))
	}
	if node.Kind == yaml.MappingNode {
		keys := len(node.Content) / 2
		if keys > maxKeys {
			m.refuse(node, fmt.Sprintf("a mapping has %d keys; the limit is %d", keys, maxKeys))
		}
		total.pairs = float64(keys) * float64(keys)
	}
	for _, child := range node.Content {
		inner := m.of(child)
		total.levels = max(total.levels, inner.levels+1)
		total.pairs += inner.pairs
		total.entries += inner.entries
		total.nodes += inner.nodes
	}
	if total.levels > maxLevels {
		m.refuse(node, fmt.Sprintf("it nests deeper than the limit of %d levels", maxLevels))
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
