package source

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Sections are those that declare components.
var Sections = []string{"receivers", "processors", "exporters", "connectors", "extensions"}

// Limits within which the collector needs seconds: 19,500 entries of sigv4auth took it 20 s and all its memory.
const (
	maxComponents = 2_000
	maxPipelines  = 1_000
	// maxIDs bounds the entries of all pipelines' lists together: a processor is built once for each entry.
	maxIDs = 5_000
	// maxDocuments bounds the documents after the first. The collector does not read them, but they are counted.
	maxDocuments = 100
)

// Count is how much a configuration declares and builds.
type Count struct {
	Components, Pipelines, IDs int
}

// Refused returns an error if the configuration declares or builds too much, else nil.
func (c Count) Refused(line int) *Cost {
	for _, limit := range []struct {
		what       string
		count, max int
	}{
		{"components", c.Components, maxComponents},
		{"pipelines", c.Pipelines, maxPipelines},
		{"components listed in pipelines", c.IDs, maxIDs},
	} {
		if limit.count > limit.max {
			return &Cost{Line: line, Message: fmt.Sprintf("line %d: it has %d %s; the limit is %d; nothing was checked",
				line, limit.count, limit.what, limit.max)}
		}
	}
	return nil
}

// counting counts what documents declare, with aliases and merge keys followed, up to the limits.
type counting struct {
	Count
	// left is how many more mappings are visited: nested merge keys can multiply with every level.
	left int
}

const maxMappings = 200_000

func (c *counting) add(root *yaml.Node) {
	c.merged(root, func(key string, value *yaml.Node) {
		switch {
		case slices.Contains(Sections, key):
			c.merged(value, func(string, *yaml.Node) { c.Components++ })
		case key == "service":
			c.addService(value)
		}
	})
}

func (c *counting) addService(service *yaml.Node) {
	c.merged(service, func(key string, value *yaml.Node) {
		switch key {
		case "extensions":
			c.IDs += len(value.Content)
		case "pipelines":
			c.merged(value, func(_ string, pipeline *yaml.Node) {
				c.Pipelines++
				c.merged(pipeline, func(_ string, list *yaml.Node) { c.IDs += len(list.Content) })
			})
		}
	})
}

// merged calls visit for the entries of a mapping and of the mappings merged into it. An entry in two of them is
// visited twice.
func (c *counting) merged(node *yaml.Node, visit func(key string, value *yaml.Node)) {
	node = Resolve(node)
	if c.left--; node == nil || node.Kind != yaml.MappingNode || c.left < 0 || c.Refused(1) != nil {
		return
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], Resolve(node.Content[i+1])
		if !isMerge(key) {
			visit(keyText(key), value)
			continue
		}
		for _, from := range mergedMappings(value) {
			c.merged(from, visit)
		}
	}
}

// laterDocuments returns the documents after the first, up to the first that is not YAML.
func (d *Document) laterDocuments() ([]*yaml.Node, *Cost) {
	if !strings.Contains(d.written, "\n---") && !strings.Contains(d.written, "\n...") {
		return nil, nil
	}
	var documents []*yaml.Node
	decoder := yaml.NewDecoder(strings.NewReader(d.written))
	for number := 0; ; number++ {
		var document yaml.Node
		if decoder.Decode(&document) != nil {
			return documents, nil
		}
		if number > maxDocuments {
			return nil, &Cost{Line: document.Line, Message: fmt.Sprintf(
				"line %d: it has more than %d documents, but the collector reads only the first; nothing was checked",
				document.Line, maxDocuments)}
		}
		if number > 0 && len(document.Content) > 0 {
			documents = append(documents, document.Content[0])
		}
	}
}
