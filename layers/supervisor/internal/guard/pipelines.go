package guard

import (
	"os"
	"strings"

	"go.yaml.in/yaml/v3"
)

// withoutPipelines is what a collector says of such a configuration that is not run by a supervisor: that one switches
// the feature gate service.AllowNoPipelines on, to learn about its collector.
const withoutPipelines = "service::pipelines: service must have at least one pipeline"

// Refused is why a configuration may not even be validated, "" if it may. A supervisor would report as applied what
// collects nothing.
func Refused(arguments []string) string {
	if len(arguments) == 0 || arguments[0] != "validate" {
		return ""
	}
	for i, argument := range arguments {
		if path, found := strings.CutPrefix(argument, "--config="); found {
			return refused(path)
		}
		if argument == "--config" && i+1 < len(arguments) {
			return refused(arguments[i+1])
		}
	}
	return ""
}

func refused(path string) string {
	content, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	// What is not of this shape the collector itself finds wrong, with words of its own.
	var written map[string]yaml.Node
	if err := yaml.Unmarshal(content, &written); err != nil {
		return ""
	}
	service, found := value(written, "service")
	if !found || isEmpty(&service) {
		return withoutPipelines
	}
	var parts map[string]yaml.Node
	if err := service.Decode(&parts); err != nil {
		return ""
	}
	if pipelines, found := value(parts, "pipelines"); !found || isEmpty(&pipelines) {
		return withoutPipelines
	}
	return ""
}

// value is that of a key, or of one that is the first part of a path, as in `service::pipelines`.
func value(of map[string]yaml.Node, name string) (yaml.Node, bool) {
	if found, there := of[name]; there {
		return found, true
	}
	for key := range of {
		if strings.HasPrefix(key, name+"::") {
			return yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: key}, true
		}
	}
	return yaml.Node{}, false
}

// isEmpty tells whether a value is missing, null or an object without anything.
func isEmpty(value *yaml.Node) bool {
	for value.Kind == yaml.AliasNode {
		value = value.Alias
	}
	switch value.Kind {
	case 0:
		return true
	case yaml.ScalarNode:
		return value.Tag == "!!null"
	case yaml.MappingNode:
		return len(value.Content) == 0
	default:
		return false
	}
}
