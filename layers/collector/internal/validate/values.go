package validate

import (
	"fmt"

	"github.com/headgate/headgate/layers/collector/internal/source"
	"go.yaml.in/yaml/v3"
)

// Limits on what the values of variables are, which the collector reads as YAML each time a text refers to one: a mapping
// of 16,000 keys takes 2 s, a list of 400,000 entries made by aliases 5 s.
const (
	// maxEntries bounds the nodes of all values that a text refers to, counted for each reference.
	maxEntries = 20_000
	maxLevels  = 100
	maxKeys    = 1_000
	// unreadable is how many bytes of a value that is not YAML take as long as a node of one.
	unreadable = 64
)

// spendValue counts what reading a value takes. It returns a *source.Cost if that is too much.
func (r *recorder) spendValue(name, value string) error {
	if r.prices == nil {
		r.prices = map[string]int{}
	}
	price, known := r.prices[value]
	if !known {
		price = priceOf(value)
		r.prices[value] = price
	}
	if r.entries += price; r.entries > maxEntries {
		return &source.Cost{Line: 1, Message: fmt.Sprintf(
			"the value of %s is a list or mapping that is too large, too deep, or used too often; nothing was checked", name)}
	}
	return nil
}

// priceOf returns how many nodes a value has, with aliases followed, or more than any value may have.
func priceOf(value string) int {
	var node yaml.Node
	if err := yaml.Unmarshal([]byte(value), &node); err != nil {
		return len(value) / unreadable
	}
	left := maxEntries
	if !fits(&node, &left, 0) {
		return maxEntries + 1
	}
	return maxEntries - left
}

// fits counts the nodes down, and tells whether there are few enough.
func fits(node *yaml.Node, left *int, level int) bool {
	if *left--; *left < 0 || level > maxLevels || node.Kind == yaml.MappingNode && len(node.Content) > 2*maxKeys {
		return false
	}
	if node.Kind == yaml.AliasNode {
		return fits(node.Alias, left, level+1)
	}
	for _, child := range node.Content {
		if !fits(child, left, level+1) {
			return false
		}
	}
	return true
}
