package sandbox

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

var (
	// unmade matches what the collector says of a component that it could not create or start.
	unmade = regexp.MustCompile(`failed to (?:create|start) (?:extension )?\\*"([^"\\]+)\\*"(?: (processor|connector|extension))?`)
	// logging matches the fields of a component's warning or error.
	logging = regexp.MustCompile(`(?m)^\d{4}-\d\d-\d\dT[^\t\n]*\t(?:warn|error)\t.*"otelcol\.component\.id": ("(?:[^"\\]|\\.)*")`)
	// outside are signs that a component lacked something that a sandbox does not have.
	outside = regexp.MustCompile(`(?i)dial (?:tcp|udp|unix)|no such host|connection refused|network is unreachable|no such file|` +
		`permission denied|operation not permitted|i/o timeout|deadline exceeded|kube ?client|KUBERNETES_SERVICE|socket:`)
)

// enrichers are the processors that add resource attributes from what is around a collector, by the name of their type
// without underscores, with attributes that they are there for.
var enrichers = map[string][]string{
	"k8sattributes":     {"k8s.namespace.name", "k8s.pod.name"},
	"resourcedetection": {"host.name"},
	"geoip":             {"geo.country.iso_code"},
	"awsecsattributes":  {"aws.ecs.task.arn"},
}

// proposal tells how to run the test without the component that made a collector fail because it is in a sandbox; empty
// if there is none. The configuration is that of the run.
func proposal(config, stderr []byte) string {
	var run struct {
		Processors map[string]yaml.Node `yaml:"processors"`
		Extensions map[string]yaml.Node `yaml:"extensions"`
	}
	if yaml.Unmarshal(config, &run) != nil {
		return ""
	}
	for _, id := range atFault(stderr) {
		if _, extends := run.Extensions[id]; extends && outside.Match(stderr) {
			if users := usersOf(id, run.Processors); len(users) > 0 {
				return fmt.Sprintf("the extension %s cannot work in a test run, which has no network and no host: leave out what uses it, "+
					"%s (%s)", id, asJSON("skip", users), options("--skip ", users))
			}
		}
		if _, processes := run.Processors[id]; !processes {
			continue
		}
		kind, _, _ := strings.Cut(id, "/")
		attributes, enriches := enrichers[strings.ReplaceAll(kind, "_", "")]
		if !enriches && !outside.Match(stderr) {
			continue
		}
		text := fmt.Sprintf("processors::%s cannot work in a test run, which has no network, no host and no cluster: leave it out, %s (--skip %s)",
			id, asJSON("skip", []string{id}), id)
		if enriches {
			values, given := map[string]string{}, []string{}
			for _, key := range attributes {
				values[key] = "..."
				given = append(given, id+":"+key+"=...")
			}
			text += fmt.Sprintf(`, or say what it would add, %s (%s)`,
				asJSON("attributes", map[string]any{id: values}), options("--attribute ", given))
		}
		return text
	}
	return ""
}

// atFault returns the components that the collector names as failing, the surest first.
func atFault(stderr []byte) []string {
	var found []string
	for _, match := range unmade.FindAllSubmatch(stderr, -1) {
		found = append(found, string(match[1]))
	}
	for _, match := range logging.FindAllSubmatch(stderr, -1) {
		var id string
		if json.Unmarshal(match[1], &id) == nil {
			found = append(found, id)
		}
	}
	return found
}

// usersOf returns the processors whose settings name an extension, sorted.
func usersOf(extension string, processors map[string]yaml.Node) []string {
	var users []string
	for _, id := range slices.Sorted(maps.Keys(processors)) {
		if node := processors[id]; names(&node, extension) {
			users = append(users, id)
		}
	}
	return users
}

func names(node *yaml.Node, extension string) bool {
	if node.Kind == yaml.ScalarNode {
		return node.Value == extension
	}
	return slices.ContainsFunc(node.Content, func(child *yaml.Node) bool { return names(child, extension) })
}

// asJSON returns a field of the request as it is written there.
func asJSON(field string, value any) string {
	encoded, err := json.Marshal(value)
	if err != nil {
		return field
	}
	return fmt.Sprintf("%q: %s", field, encoded)
}

func options(option string, values []string) string { return option + strings.Join(values, " "+option) }
