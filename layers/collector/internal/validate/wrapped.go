package validate

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/headgate/headgate/layers/collector/internal/operation"
	"github.com/headgate/headgate/layers/collector/internal/source"
	"go.yaml.in/yaml/v3"
)

// Part is a configuration inside of another text: a Kubernetes resource, the values of a Helm chart, a task definition.
type Part struct {
	// Path leads to it: names and indices, joined by dots.
	Path string `json:"path"`
	Line int    `json:"line"`
	// YAML is the configuration as a text of its own.
	YAML string `json:"yaml"`

	// Errors and Warnings are those about it, at their places in the whole text.
	Errors   []Finding `json:"errors"`
	Warnings []Finding `json:"warnings"`

	// inPlace is the configuration at the lines and columns that it has in the whole text, "" if it has escapes.
	inPlace string
	column  int
	// kind is that of the Kubernetes resource around it, "" for another text.
	kind string
}

// Limits on the search for a configuration in another text.
const (
	maxWrapDepth = 12
	maxWrapNodes = 5_000
	maxWrapText  = 1 << 20
	// maxWrapDocuments bounds how often the rest of a text is parsed.
	maxWrapDocuments = 10
	// maxWrapTexts bounds how many texts inside of a document are parsed again for what is in them.
	maxWrapTexts = 10
)

// Unwrap returns the configuration inside of another text, false if the text is a configuration or has none. It looks into
// each document of the text.
func Unwrap(text string, first *source.Document) (Part, bool) {
	root := first.Root()
	if root == nil || root.Kind != yaml.MappingNode || hasComponents(root) {
		return Part{}, false
	}
	if part, found := unwrap(first, new(int)); found {
		return part, true
	}
	lines := strings.SplitAfter(text, "\n")
	for i, searched := 1, 0; i < len(lines) && searched < maxWrapDocuments; i++ {
		if strings.TrimRight(lines[i], " \t\r\n") != "---" {
			continue
		}
		searched++
		// With as many lines before it as it has in the text.
		document, err := source.Parse(strings.Repeat("\n", i+1) + strings.Join(lines[i+1:], ""))
		if err != nil || document.Affordable() != nil {
			return Part{}, false
		}
		if part, found := unwrap(document, new(int)); found {
			return part, true
		}
	}
	return Part{}, false
}

// unwrap counts the texts inside of texts that it has parsed.
func unwrap(document *source.Document, texts *int) (Part, bool) {
	root := document.Root()
	if root == nil || root.Kind != yaml.MappingNode || hasComponents(root) {
		return Part{}, false
	}
	search := &wrapSearch{document: document, left: maxWrapNodes, texts: texts}
	level := []wrapNode{{node: root}}
	for depth := 0; depth < maxWrapDepth && len(level) > 0; depth++ {
		var below []wrapNode
		for _, one := range level {
			if part, found := search.at(one); found && depth > 0 {
				part.kind = resourceKind(root)
				return part, true
			}
			below = append(below, search.below(one)...)
		}
		level = below
	}
	return Part{}, false
}

type wrapSearch struct {
	document *source.Document
	left     int
	texts    *int
}

type wrapNode struct {
	path []string
	node *yaml.Node
}

func (s *wrapSearch) below(one wrapNode) []wrapNode {
	var children []wrapNode
	switch node := source.Resolve(one.node); node.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			children = append(children, wrapNode{append(slices.Clone(one.path), node.Content[i].Value), node.Content[i+1]})
		}
	case yaml.SequenceNode:
		for i, entry := range node.Content {
			children = append(children, wrapNode{append(slices.Clone(one.path), fmt.Sprint(i)), entry})
		}
	}
	children = children[:min(len(children), max(s.left, 0))]
	s.left -= len(children)
	return children
}

// at returns the configuration that a node is, or that is written in its text.
func (s *wrapSearch) at(one wrapNode) (Part, bool) {
	node := one.node
	part := Part{Path: strings.Join(one.path, "."), Line: node.Line, column: node.Column}
	switch {
	case node.Kind == yaml.MappingNode && isConfiguration(node):
		from, to, known := s.document.Extent(node)
		if encoded, err := yaml.Marshal(node); err == nil {
			part.YAML = string(encoded)
		}
		if known {
			part.inPlace = s.document.Alone(from, to)
			part.YAML = dedented(part.inPlace)
		}
		return part, true
	case node.Kind == yaml.ScalarNode && len(node.Value) <= maxWrapText && strings.Contains(node.Value, "service"):
		part.YAML = node.Value
		if node.Style&yaml.LiteralStyle != 0 {
			if from, to, known := s.document.Extent(node); known {
				part.inPlace = s.document.Alone(s.document.Content(node, from), to)
			}
		}
		inner, err := source.Parse(node.Value)
		switch {
		case err != nil:
			return part, len(sectionLine.FindAllString(node.Value, -1)) > 1
		case inner.Root() == nil:
			return Part{}, false
		case isConfiguration(inner.Root()):
			return part, true
		}
		if *s.texts++; *s.texts > maxWrapTexts {
			return Part{}, false
		}
		return part.deeper(s.texts)
	}
	return Part{}, false
}

// sectionLine matches the line of a section in a text that is not YAML.
var sectionLine = regexp.MustCompile(`(?m)^(?:receivers|processors|exporters|connectors|extensions|service):\s*$`)

// deeper returns the configuration inside of a part that is not one itself, such as the values of a chart in the text of an
// Argo CD application, if the part stands in the whole text as it is.
func (p *Part) deeper(texts *int) (Part, bool) {
	document, err := source.Parse(p.inPlace)
	if err != nil || document.Affordable() != nil {
		return Part{}, false
	}
	inner, found := unwrap(document, texts)
	inner.Path = p.Path + "." + inner.Path
	return inner, found
}

// isConfiguration tells whether a mapping has at least two sections of a configuration, and components among them.
func isConfiguration(node *yaml.Node) bool {
	count := 0
	for i := 0; i+1 < len(node.Content); i += 2 {
		if slices.Contains(sections, node.Content[i].Value) {
			count++
		}
	}
	return count >= 2 && hasComponents(node)
}

// hasComponents tells whether a mapping has a section of components, or a service with pipelines. The values of a Helm
// chart have a `service` of another kind.
func hasComponents(node *yaml.Node) bool {
	if node.Kind != yaml.MappingNode {
		return false
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i].Value, source.Resolve(node.Content[i+1])
		if slices.Contains(source.Sections, key) {
			return true
		}
		if key != "service" || value.Kind != yaml.MappingNode {
			continue
		}
		for k := 0; k+1 < len(value.Content); k += 2 {
			if value.Content[k].Value == "pipelines" {
				return true
			}
		}
	}
	return false
}

// dedented moves lines to the left by the blanks that the first one begins with, and leaves out empty ones before it.
func dedented(text string) string {
	text = strings.TrimLeft(text, "\r\n")
	indent := len(text) - len(strings.TrimLeft(text, " "))
	var moved strings.Builder
	for line := range strings.Lines(text) {
		moved.WriteString(line[min(indent, len(line)-len(strings.TrimLeft(line, " "))):])
	}
	if !strings.HasSuffix(moved.String(), "\n") {
		moved.WriteByte('\n')
	}
	return moved.String()
}

// InPlace returns the configuration at the lines and columns that it has in the whole text, "" if it has escapes there.
func (p *Part) InPlace() string { return p.inPlace }

// wrapped is the error that says where the configuration is.
func (r *report) wrapped(part Part) {
	what := "this text"
	if part.kind != "" {
		what = "this text is a Kubernetes " + part.kind + " and"
	}
	at := source.Position{Line: part.Line, Column: part.column}
	r.addAt(&r.result.Errors, at, Wrapped, strings.Split(part.Path, "."), fmt.Sprintf(
		"%s is not a collector configuration: the configuration is under %s; take it out", what, part.Path))
}

// resourceKind returns the kind of a Kubernetes resource, "" for something else.
func resourceKind(root *yaml.Node) string {
	if root == nil || root.Kind != yaml.MappingNode {
		return ""
	}
	kind, hasVersion := "", false
	for i := 0; i+1 < len(root.Content); i += 2 {
		switch value := root.Content[i+1]; root.Content[i].Value {
		case "apiVersion":
			hasVersion = true
		case "kind":
			if value.Kind == yaml.ScalarNode && len(value.Value) < 100 {
				kind = value.Value
			}
		}
	}
	if !hasVersion {
		return ""
	}
	return kind
}

// checkWrapped checks the configuration inside of another text.
func (r *report) checkWrapped(ctx context.Context, env *operation.Environment, request Request, part Part) error {
	r.wrapped(part)
	text := part.inPlace
	if text == "" {
		text = part.YAML
	}
	inner, _, err := Check(ctx, env, Request{YAML: text, Env: request.Env, Files: request.Files})
	if err != nil {
		return err
	}
	part.Errors, part.Warnings = inner.Errors, inner.Warnings
	if part.inPlace == "" {
		for _, list := range [][]Finding{part.Errors, part.Warnings} {
			for i := range list {
				list[i].Line, list[i].Column, list[i].Fix = part.Line, part.column, nil
			}
		}
	}
	r.result.Environment = inner.Environment
	r.result.Wrapped = &part
	return nil
}
