package capture

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// name is the name of all components and pipelines that a capture adds: `filter/headgate_capture`.
const name = "headgate_capture"

// restName is the name of the pipeline with what follows the component.
const restName = name + "_rest"

// needed are the components that a collector must have for a capture, each with the names that versions give it.
var needed = [][]string{
	{"connector/forward"}, {"processor/filter"}, {"processor/batch"}, {"exporter/otlp_http", "exporter/otlphttp"},
}

// Ability is what a host with these components, `processor/batch` and the like, says that it can do: captures, or nothing.
func Ability(components []string) []string {
	if slices.ContainsFunc(needed, func(names []string) bool { return first(components, names) == "" }) {
		return nil
	}
	return []string{can}
}

func first(components, names []string) string {
	for _, one := range names {
		if slices.Contains(components, one) {
			return one[strings.Index(one, "/")+1:]
		}
	}
	return ""
}

type pipeline struct {
	Receivers  []string `yaml:"receivers"`
	Processors []string `yaml:"processors"`
	Exporters  []string `yaml:"exporters"`
}

// branch is a configuration to be merged over the assigned one. It has what the capture adds, and the pipeline that it
// splits.
//
// Everything reaches the rest of the pipeline as it would without the branch. The collector gives each of two consumers
// its own data if one of them changes them; the batch processor takes in what it is given and reports no errors back, and
// its exporter drops what its queue has no room for, so that the branch neither holds up nor fails the pipeline.
func branch(text []byte, order *Order, components []string, address, secret string) ([]byte, error) {
	var assigned struct {
		Connectors map[string]any `yaml:"connectors"`
		Service    struct {
			Pipelines map[string]yaml.Node `yaml:"pipelines"`
		} `yaml:"service"`
	}
	if err := yaml.Unmarshal(text, &assigned); err != nil {
		return nil, fmt.Errorf("the configuration that runs cannot be split: %w", err)
	}
	if strings.Contains(string(text), name) {
		return nil, fmt.Errorf("the configuration that runs uses the name %s itself", name)
	}
	written, there := assigned.Service.Pipelines[order.Pipeline]
	if !there {
		return nil, fmt.Errorf("the configuration that runs has no pipeline %s", order.Pipeline)
	}
	var split pipeline
	if err := written.Decode(&split); err != nil {
		return nil, fmt.Errorf("the components of %s are not lists: %w", order.Pipeline, err)
	}
	if signal, _, _ := strings.Cut(order.Pipeline, "/"); signal != order.Signal {
		return nil, fmt.Errorf("%s is not a pipeline of %s", order.Pipeline, order.Signal)
	}
	exporter := first(components, needed[3])
	forward, source := "forward/"+name, "forward/"+name
	pipelines := map[string]any{}
	at := slices.Index(split.Processors, order.Component) + 1
	if at == 0 {
		if !slices.Contains(split.Receivers, order.Component) {
			return nil, fmt.Errorf("%s has no receiver or processor %s", order.Pipeline, order.Component)
		}
		if len(split.Receivers) > 1 {
			if _, connects := assigned.Connectors[order.Component]; connects {
				return nil, fmt.Errorf("%s has other receivers beside the connector %s: name a processor", order.Pipeline, order.Component)
			}
			// It serves the branch as well, and no other receiver of the pipeline does.
			source = order.Component
		}
	}
	if source == forward {
		pipelines[order.Pipeline] = map[string]any{
			"receivers": split.Receivers, "processors": orNone(split.Processors[:at]), "exporters": []string{forward},
		}
		pipelines[order.Signal+"/"+restName] = map[string]any{
			"receivers": []string{forward}, "processors": orNone(split.Processors[at:]), "exporters": split.Exporters,
		}
	}
	filter, batch, reader := "filter/"+name, "batch/"+name, exporter+"/"+name
	pipelines[order.Signal+"/"+name] = map[string]any{
		"receivers": []string{source}, "processors": []string{filter, batch}, "exporters": []string{reader},
	}
	added := map[string]any{
		"processors": map[string]any{
			filter: filterOf(order),
			batch:  map[string]any{"timeout": "200ms", "send_batch_size": mostRecords, "send_batch_max_size": mostRecords},
		},
		"exporters": map[string]any{reader: map[string]any{
			"endpoint": "http://" + address, "headers": map[string]any{"authorization": "Bearer " + secret},
			"encoding": "json", "compression": "none", "timeout": "2s",
			"retry_on_failure": map[string]any{"enabled": false},
			"sending_queue":    map[string]any{"enabled": true, "num_consumers": 1, "queue_size": 4},
		}},
		"service": map[string]any{"pipelines": pipelines},
	}
	if source == forward {
		added["connectors"] = map[string]any{forward: map[string]any{}}
	}
	return yaml.Marshal(added)
}

// filterOf keeps what the condition is true for: the filter processor drops what one of its conditions is true for.
func filterOf(order *Order) map[string]any {
	contexts := map[string]string{"log": "log_record"}
	context := order.Context
	if named, differs := contexts[context]; differs {
		context = named
	}
	// For the collector, `$` begins a variable.
	condition := "not (" + strings.ReplaceAll(order.Condition, "$", "$$") + ")"
	return map[string]any{"error_mode": "silent", order.Signal: map[string]any{context: []string{condition}}}
}

// orNone is an empty list in place of none, so that it replaces the list that the assigned configuration has.
func orNone(names []string) []string {
	if names == nil {
		return []string{}
	}
	return names
}
