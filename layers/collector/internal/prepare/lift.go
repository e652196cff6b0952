package prepare

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"
)

// lifted is the part of a configuration that a run starts.
type lifted struct {
	target     string
	pipelines  []keptPipeline
	processors []string
	connectors []string
	// unrecorded is set if nothing is recorded of a pipeline that exports.
	unrecorded bool
	// standIns are processors that are not in the configuration, by id.
	standIns map[string]*yaml.Node
}

// keptPipeline is a pipeline as the run starts it: its receivers are connectors, its exporters connectors and the
// recorder.
type keptPipeline struct {
	id                               string
	receivers, processors, exporters []string
	recorded                         bool
}

// lift finds the target pipeline and, over connectors, every pipeline that it feeds.
//
// The sample replaces a connector that feeds the target, like the target's other receivers, unless the target feeds
// that connector: that is a cycle, which the collector reports.
func (s *source) lift(target string, connects Connects) *lifted {
	result := &lifted{target: target}
	reached := []string{target}
	for i := 0; i < len(reached); i++ {
		from := reached[i]
		for _, id := range s.pipelines[from].exporters {
			if !s.connectors[id] {
				continue
			}
			if !slices.Contains(result.connectors, id) {
				result.connectors = append(result.connectors, id)
			}
			for _, to := range s.fedBy(id) {
				if !slices.Contains(reached, to) && connects(id, signalOf(from), signalOf(to)) {
					reached = append(reached, to)
				}
			}
		}
	}
	for _, id := range reached {
		kept := s.keep(id, result.connectors)
		result.pipelines = append(result.pipelines, kept)
		for _, processor := range kept.processors {
			if !slices.Contains(result.processors, processor) {
				result.processors = append(result.processors, processor)
			}
		}
	}
	return result
}

// fedBy returns the pipelines that have the connector as a receiver, sorted, so that the run's configuration is always
// the same.
func (s *source) fedBy(connector string) []string {
	var fed []string
	for _, id := range names(s.pipelines) {
		if slices.Contains(s.pipelines[id].receivers, connector) {
			fed = append(fed, id)
		}
	}
	return fed
}

func (s *source) keep(id string, connectors []string) keptPipeline {
	given := s.pipelines[id]
	kept := keptPipeline{id: id, processors: given.processors}
	for _, receiver := range given.receivers {
		if slices.Contains(connectors, receiver) {
			kept.receivers = append(kept.receivers, receiver)
		}
	}
	for _, exporter := range given.exporters {
		if s.connectors[exporter] {
			kept.exporters = append(kept.exporters, exporter)
		} else {
			kept.recorded = true
		}
	}
	if kept.recorded {
		kept.exporters = append(kept.exporters, RecorderID(signalOf(id)))
	}
	return kept
}

// records reports whether a pipeline of that signal is recorded.
func (l *lifted) records(signal string) bool {
	return slices.ContainsFunc(l.pipelines, func(kept keptPipeline) bool {
		return kept.recorded && signalOf(kept.id) == signal
	})
}

// signals returns the target's signal and those of the recorded pipelines.
func (l *lifted) signals(own string) []string {
	found := []string{own}
	for _, kept := range l.pipelines {
		if signal := signalOf(kept.id); kept.recorded && !slices.Contains(found, signal) {
			found = append(found, signal)
		}
	}
	return found
}

// referring are the keys under which a component names an extension that it uses. `type` is the key of a tail_sampling
// policy, which may come from an extension.
var referring = []string{"storage", "encoding", "authenticator", "type"}

// extensionsFor returns the extensions that the run's components refer to, and notes on them. Only these are started. A
// file storage is given a folder of the run.
func (s *source) extensionsFor(lifted *lifted) (map[string]*yaml.Node, []string) {
	kept := map[string]*yaml.Node{}
	var notes []string
	declared := at(s.root, "extensions")
	for section, ids := range map[string][]string{"processors": lifted.processors, "connectors": lifted.connectors} {
		for _, id := range ids {
			for _, name := range references(s.component(section, id)) {
				if body := at(declared, name); body != nil && kept[name] == nil {
					kept[name] = body
				}
			}
		}
	}
	for _, name := range names(kept) {
		note := fmt.Sprintf("the extension %s is started too, because a processor or connector uses it", name)
		if typeOf(name) == "file_storage" {
			kept[name] = texts("directory", "storage", "create_directory", "true")
			kept[name].Content[3].Tag, kept[name].Content[3].Style = "!!bool", 0
			note += "; it writes to the run's folder"
		}
		notes = append(notes, note)
	}
	return kept, notes
}

func references(node *yaml.Node) []string {
	if node == nil {
		return nil
	}
	var found []string
	for i, child := range node.Content {
		if node.Kind == yaml.MappingNode && i%2 == 1 &&
			child.Kind == yaml.ScalarNode && slices.Contains(referring, node.Content[i-1].Value) {
			found = append(found, child.Value)
		}
		found = append(found, references(child)...)
	}
	return found
}
