package mutants

import (
	"github.com/headgate/headgate/layers/collector/internal/source"
	"go.yaml.in/yaml/v3"
)

// change is one change of a document: an entry of a list or a mapping left out, or a part of a scalar replaced.
type change struct {
	// parent and index are the entry that is left out; pair is set for one of a mapping.
	parent *yaml.Node
	index  int
	pair   bool
	// scalar is the value of which the bytes from start up to end become with.
	scalar     *yaml.Node
	start, end int
	with       string
}

// edit returns the change as an edit of the text. It is not ok where the place cannot be told.
func (c change) edit(document *source.Document) (source.Edit, bool) {
	switch {
	case c.pair:
		return document.WithoutPair(c.parent, c.index)
	case c.parent != nil:
		return document.Without(c.parent, c.index)
	}
	from, to, ok := document.ScalarOf(c.scalar).Region(c.start, c.end)
	return source.Edit{From: from, To: to, With: c.with}, ok
}

// confirmed tells whether a document is another one with the change, and nothing else.
func (c change) confirmed(before, after *yaml.Node) bool {
	if before == c.scalar {
		return after.Kind == yaml.ScalarNode && after.Anchor == before.Anchor &&
			after.Value == before.Value[:c.start]+c.with+before.Value[c.end:]
	}
	if before.Kind != after.Kind || before.Value != after.Value || before.Tag != after.Tag || before.Anchor != after.Anchor {
		return false
	}
	content := before.Content
	if before == c.parent {
		width := 1
		if c.pair {
			width = 2
		}
		content = append(content[:c.index:c.index], content[c.index+width:]...)
	}
	if len(content) != len(after.Content) {
		return false
	}
	for i, child := range content {
		if !c.confirmed(child, after.Content[i]) {
			return false
		}
	}
	return true
}
