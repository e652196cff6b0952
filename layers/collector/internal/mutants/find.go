package mutants

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/headgate/headgate/layers/collector/internal/lint"
	"github.com/headgate/headgate/layers/collector/internal/prepare"
	"github.com/headgate/headgate/layers/collector/internal/source"
	"go.yaml.in/yaml/v3"
)

const separator = "::"

// candidate is a place at which something can be changed.
type candidate struct {
	number      int
	kind        Kind
	component   string
	pipelines   []string
	position    source.Position
	description string
	wouldNotice string
	change      change
	// tier is 0 for what leaves a whole thing out, more for finer changes, which are made if there is room.
	tier int
}

func (c *candidate) mutant(text string) Mutant {
	return Mutant{
		ID: fmt.Sprintf("m%05d", c.number), Kind: c.kind, Component: c.component, Pipelines: c.pipelines,
		Line: c.position.Line, Column: c.position.Column, Description: c.description, WouldNotice: c.wouldNotice, YAML: text,
	}
}

// unchanging are the processors that change no record: what they do cannot be seen in an output.
var unchanging = []string{"memory_limiter", "batch"}

// internal are settings on memory and speed, which change no record either.
var internal = []string{
	"num_traces", "expected_new_traces_per_sec", "sampled_cache_size", "non_sampled_cache_size", "max_log_size",
	"num_workers", "max_concurrent_files", "max_stale",
}

// finder collects the candidates of a document, in the order of its parts.
type finder struct {
	document   *source.Document
	reached    map[component][]string
	ottl       map[*yaml.Node]lint.Kind
	visited    map[*yaml.Node]bool
	candidates []*candidate
	// looking is how much text has been looked through for places.
	looking int
}

// component is a component by section and id, and a pipeline by `service` and its name. With a signal, it is what a
// processor does to that one.
type component struct{ section, id, signal string }

func newFinder(document *source.Document, reaches map[string]prepare.Reach) *finder {
	f := &finder{
		document: document, reached: map[component][]string{}, ottl: expressionsOf(document), visited: map[*yaml.Node]bool{},
	}
	for _, target := range slices.Sorted(maps.Keys(reaches)) {
		reach := reaches[target]
		for _, id := range reach.Receivers {
			f.reach(target, component{"receivers", id, ""})
		}
		for _, id := range reach.Connectors {
			f.reach(target, component{"connectors", id, ""})
		}
		for pipeline, processors := range reach.Pipelines {
			f.reach(target, component{"service", pipeline, ""})
			for _, id := range processors {
				f.reach(target, component{"processors", id, ""})
				f.reach(target, component{"processors", id, signalOf(pipeline)})
			}
		}
	}
	return f
}

// reach notes that the run of a target starts a component. Targets come in their order.
func (f *finder) reach(target string, one component) {
	if known := f.reached[one]; len(known) == 0 || known[len(known)-1] != target {
		f.reached[one] = append(known, target)
	}
}

// expressionsOf are the scalars that hold OTTL.
func expressionsOf(document *source.Document) map[*yaml.Node]lint.Kind {
	found := map[*yaml.Node]lint.Kind{}
	var plain map[string]any
	if document.Root() == nil || document.Root().Decode(&plain) != nil {
		return found
	}
	for e := range lint.Expressions(plain) {
		if node := document.Node(e.Path...); node != nil && node.Kind == yaml.ScalarNode {
			found[node] = e.Kind
		}
	}
	return found
}

// find collects the candidates of the processors, connectors and receivers of log lines, then those of the pipelines.
func (f *finder) find() {
	for _, section := range []string{"receivers", "processors", "connectors"} {
		eachPair(f.document.Node(section), func(_ int, key, value *yaml.Node) {
			f.component(section, key.Value, source.Resolve(value))
		})
	}
	eachPair(f.document.Node("service", "pipelines"), func(_ int, key, value *yaml.Node) {
		f.pipeline(key.Value, source.Resolve(value))
	})
}

// eachPair calls visit for the pairs that a mapping has itself.
func eachPair(mapping *yaml.Node, visit func(index int, key, value *yaml.Node)) {
	if mapping == nil || mapping.Kind != yaml.MappingNode {
		return
	}
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if key := mapping.Content[i]; key.Kind == yaml.ScalarNode && key.Tag != "!!merge" {
			visit(i, key, mapping.Content[i+1])
		}
	}
}

func typeOf(id string) string {
	kind, _, _ := strings.Cut(id, "/")
	return strings.TrimSpace(kind)
}

func signalOf(pipeline string) string {
	signal, _, _ := strings.Cut(pipeline, "/")
	return signal
}

// signals are the settings that hold what is done to one signal.
var signals = map[string]string{
	"traces": "traces", "trace_statements": "traces", "trace_conditions": "traces", "spans": "traces", "spanevents": "traces",
	"metrics": "metrics", "metric_statements": "metrics", "metric_conditions": "metrics", "datapoints": "metrics",
	"logs": "logs", "log_statements": "logs", "log_conditions": "logs",
	"profiles": "profiles", "profile_statements": "profiles", "profile_conditions": "profiles",
}

// reading are the settings of a receiver of log lines that a run keeps.
var reading = []string{"operators", "multiline"}

func (f *finder) component(section, id string, body *yaml.Node) {
	if section == "processors" && slices.Contains(unchanging, typeOf(id)) {
		return
	}
	if section == "receivers" && typeOf(id) != "filelog" && typeOf(id) != "file_log" {
		return
	}
	eachPair(body, func(index int, key, value *yaml.Node) {
		signal := ""
		if section == "processors" {
			signal = signals[key.Value]
		}
		pipelines := f.reached[component{section, id, signal}]
		if len(pipelines) == 0 || section == "receivers" && !slices.Contains(reading, key.Value) {
			return
		}
		if slices.Contains(internal, key.Value) {
			return
		}
		p := &part{
			finder: f, section: section, kind: typeOf(id), component: section + separator + id, pipelines: pipelines,
		}
		if p.optional(key.Value) {
			p.add(candidate{
				kind: Entry, position: positionOf(key), change: change{parent: body, index: index, pair: true},
				description: fmt.Sprintf("%s is left out", key.Value), wouldNotice: "a record that it decides on",
			})
			if section == "connectors" {
				return // its entries would be the same
			}
		}
		p.value(key.Value, source.Resolve(value), 0)
	})
}

// pipeline finds the processors of a pipeline, and the connectors that it feeds.
func (f *finder) pipeline(id string, body *yaml.Node) {
	pipelines := f.reached[component{"service", id, ""}]
	if len(pipelines) == 0 {
		return
	}
	p := &part{finder: f, section: "service", component: "service::pipelines::" + id, pipelines: pipelines}
	eachPair(body, func(_ int, key, value *yaml.Node) {
		list := source.Resolve(value)
		if list.Kind != yaml.SequenceNode {
			return
		}
		if f.visited[list] { // by an alias
			f.shared(list, pipelines)
			return
		}
		f.visited[list] = true
		for i, entry := range list.Content {
			name := source.Resolve(entry).Value
			switch {
			case key.Value == "processors" && !slices.Contains(unchanging, typeOf(name)):
				p.add(candidate{
					kind: Processor, position: positionOf(entry), change: change{parent: list, index: i},
					description: fmt.Sprintf("the processor %s is left out of the pipeline %s", shortened(name), shortened(id)),
					wouldNotice: f.noticingProcessor(name),
				})
			case key.Value == "exporters" && f.document.Node("connectors", name) != nil:
				p.add(candidate{
					kind: Connector, position: positionOf(entry), change: change{parent: list, index: i},
					description: fmt.Sprintf("the connector %s is left out of the pipeline %s", shortened(name), shortened(id)),
					wouldNotice: "a rule that counts what comes through the connector",
				})
			}
		}
	})
}

// shared adds to the candidates of a list the pipelines that reach it in another place.
func (f *finder) shared(list *yaml.Node, pipelines []string) {
	for _, one := range f.candidates {
		if one.change.parent == list {
			one.pipelines = slices.Compact(slices.Sorted(slices.Values(slices.Concat(one.pipelines, pipelines))))
		}
	}
}

func positionOf(node *yaml.Node) source.Position {
	return source.Position{Line: node.Line, Column: node.Column}
}

// spread orders the candidates so that the first ones are of all components: whole things before finer changes, and of
// each component one in turn.
func spread(candidates []*candidate) []*candidate {
	ordered := make([]*candidate, 0, len(candidates))
	for tier := range tiers {
		queues := map[string][]*candidate{}
		var names []string
		for _, one := range candidates {
			if one.tier != tier {
				continue
			}
			if _, known := queues[one.component]; !known {
				names = append(names, one.component)
			}
			queues[one.component] = append(queues[one.component], one)
		}
		for len(names) > 0 {
			left := names[:0]
			for _, name := range names {
				ordered = append(ordered, queues[name][0])
				if queues[name] = queues[name][1:]; len(queues[name]) > 0 {
					left = append(left, name)
				}
			}
			names = left
		}
	}
	return ordered
}
