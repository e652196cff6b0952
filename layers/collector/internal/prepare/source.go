package prepare

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/headgate/headgate/layers/collector/internal/bounds"
	places "github.com/headgate/headgate/layers/collector/internal/source"
	"github.com/headgate/headgate/layers/collector/internal/validate"
	"go.yaml.in/yaml/v3"
)

// source is a configuration as the request gives it.
type source struct {
	root *yaml.Node
	// pipelines and connectors are as the collector reads them, with `${...}` replaced.
	pipelines  map[string]pipeline
	connectors map[string]bool
}

type pipeline struct {
	receivers, processors, exporters []string
}

func read(ctx context.Context, text string, env map[string]string) (*source, error) {
	document, err := places.Parse(text)
	if err != nil {
		return nil, notYAML(err)
	}
	if err := document.Affordable(); err != nil {
		return nil, err
	}
	// Decoding finds what parsing into nodes does not: duplicate keys, aliases that expand too far.
	var decoded map[string]any
	if err := yaml.Unmarshal([]byte(text), &decoded); err != nil {
		return nil, notYAML(errors.New(document.Undecodable(err)))
	}
	if document.Root() == nil {
		return &source{root: mapping()}, nil
	}
	root, err := withoutAliases(document.Root())
	if err != nil {
		return nil, err
	}
	s := &source{root: flattened(root)}
	return s, s.readGraph(ctx, env)
}

var yamlLine = regexp.MustCompile(`line (\d+)`)

func notYAML(err error) error {
	problem := &Problem{Field: "yaml", Message: "it is not a collector configuration: " + err.Error()}
	if match := yamlLine.FindStringSubmatch(err.Error()); match != nil {
		problem.Line, _ = strconv.Atoi(match[1])
	}
	return problem
}

// readGraph reads the pipelines and the names of the connectors through the collector's own resolver.
func (s *source) readGraph(ctx context.Context, env map[string]string) error {
	graph := mapping()
	if pipelines := at(s.root, "service", "pipelines"); pipelines != nil {
		put(graph, "pipelines", pipelines)
	}
	connectors := mapping()
	if declared := at(s.root, "connectors"); declared != nil && declared.Kind == yaml.MappingNode {
		for i := 0; i < len(declared.Content); i += 2 {
			put(connectors, declared.Content[i].Value, scalar(""))
		}
	}
	put(graph, "connectors", connectors)
	text, err := yaml.Marshal(graph)
	if err != nil {
		return fmt.Errorf("writing the configuration's pipelines: %w", err)
	}
	conf, err := validate.Resolved(ctx, string(text), env)
	if cost := new(places.Cost); errors.As(err, &cost) {
		return cost
	}
	if err != nil {
		return &Refusal{"the configuration's pipelines refer to something outside the configuration: " + err.Error()}
	}
	resolved := conf.ToStringMap()
	s.connectors = map[string]bool{}
	for id := range section(resolved, "connectors") {
		s.connectors[id] = true
	}
	s.pipelines = map[string]pipeline{}
	for id, body := range section(resolved, "pipelines") {
		parts, _ := body.(map[string]any)
		s.pipelines[id] = pipeline{ids(parts["receivers"]), ids(parts["processors"]), ids(parts["exporters"])}
	}
	return nil
}

func section(conf map[string]any, name string) map[string]any {
	content, _ := conf[name].(map[string]any)
	return content
}

func ids(value any) []string {
	entries, _ := value.([]any)
	var found []string
	for _, entry := range entries {
		if id, isText := entry.(string); isText && id != "" {
			found = append(found, id)
		}
	}
	return found
}

// runnable refuses a run whose configuration refers to something outside it, would open something, or would take the
// collector too long to start. It returns the configuration with `${...}` replaced.
func runnable(ctx context.Context, text string, env map[string]string) (map[string]any, error) {
	conf, err := validate.Resolved(ctx, text, env)
	if cost := new(places.Cost); errors.As(err, &cost) {
		return nil, cost
	}
	if err != nil {
		reason := strings.TrimPrefix(err.Error(), "cannot resolve the configuration: ")
		return nil, &Refusal{"a run reads nothing outside the configuration: " + reason}
	}
	resolved := conf.ToStringMap()
	if err := refuseOperators(resolved); err != nil {
		return nil, err
	}
	return resolved, bounds.Configuration(resolved)
}

// component returns the body of a declared component, or nil.
func (s *source) component(section, id string) *yaml.Node {
	return at(s.root, section, id)
}
