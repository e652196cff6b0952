package validate

import (
	"context"
	"maps"
	"regexp"
	"slices"
	"strings"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/service"
	"go.opentelemetry.io/collector/service/pipelines"
)

// maxBuilds bounds how often the pipelines are built to find one error each time: built components stay in memory.
const maxBuilds = 8

// pipelines finds the errors in building the pipelines. The collector stops at the first one, so the component that
// caused it is removed and the pipelines are built again.
func (d *diagnosis) pipelines(ctx context.Context, p *parts) {
	graph := d.graph(p)
	if graph == nil {
		d.unfinished = true
		return
	}
	for range maxBuilds {
		if len(graph.pipelines) == 0 || graph.incomplete() {
			return
		}
		err := graph.build(ctx)
		if err == nil {
			return
		}
		section, id, found := graph.blame(err.Error())
		code := InvalidValue
		if !found || aboutTheGraph.MatchString(err.Error()) {
			code = PipelineGraph
		}
		path := []string{"service", "pipelines"}
		if found {
			path = []string{section, id.String()}
			d.broken[componentOf(path)] = true
		}
		message := strings.TrimPrefix(err.Error(), "failed to build pipelines: ")
		if section != "connectors" || !d.routes(p, id, message) {
			d.ofComponent(code, atKey, path, message, err, func() error { return graph.build(ctx) })
		}
		if !found || section == "connectors" {
			d.unfinished = true
			return
		}
		graph.takeOut(section, id)
	}
	d.unfinished = true
}

// graph returns the pipelines without the components that have errors of their own. It returns nil if a connector has
// one: without it the pipelines are other ones.
func (d *diagnosis) graph(p *parts) *graph {
	graph := newGraph(p)
	for section, list := range map[string]configs{
		"receivers": p.receivers, "processors": p.processors, "exporters": p.exporters, "connectors": p.connectors,
	} {
		for id := range list {
			if d.broken[componentOf([]string{section, id.String()})] || list[id] == nil {
				if section == "connectors" {
					return nil
				}
				graph.takeOut(section, id)
			}
		}
	}
	graph.takeOutUnknown()
	return graph
}

// graph is a copy of the pipelines and their components, from which components can be removed.
type graph struct {
	parts      *parts
	receivers  configs
	processors configs
	exporters  configs
	pipelines  pipelines.Config
}

func newGraph(p *parts) *graph {
	g := &graph{
		parts: p, receivers: maps.Clone(p.receivers), processors: maps.Clone(p.processors), exporters: maps.Clone(p.exporters),
		pipelines: make(pipelines.Config, len(p.service.Pipelines)),
	}
	for id, one := range p.service.Pipelines {
		if one != nil {
			g.pipelines[id] = &pipelines.PipelineConfig{
				Receivers: slices.Clone(one.Receivers), Processors: slices.Clone(one.Processors), Exporters: slices.Clone(one.Exporters),
			}
		}
	}
	g.receivers[standIn] = standInReceiver.CreateDefaultConfig()
	g.exporters[standIn] = standInExporter.CreateDefaultConfig()
	return g
}

// takeOut removes a processor from all pipelines, or replaces a receiver or an exporter by the stand-in.
func (g *graph) takeOut(section string, id component.ID) {
	for _, one := range g.pipelines {
		switch section {
		case "receivers":
			one.Receivers = replaced(one.Receivers, id)
		case "processors":
			one.Processors = slices.DeleteFunc(one.Processors, func(other component.ID) bool { return other == id })
		case "exporters":
			one.Exporters = replaced(one.Exporters, id)
		}
	}
}

// takeOutUnknown removes components that the pipelines name and that are not configured.
func (g *graph) takeOutUnknown() {
	for _, one := range g.pipelines {
		for _, id := range slices.Clone(one.Receivers) {
			if !known(id, g.receivers, g.parts.connectors) {
				one.Receivers = replaced(one.Receivers, id)
			}
		}
		one.Processors = slices.DeleteFunc(one.Processors, func(id component.ID) bool { return !known(id, g.processors) })
		for _, id := range slices.Clone(one.Exporters) {
			if !known(id, g.exporters, g.parts.connectors) {
				one.Exporters = replaced(one.Exporters, id)
			}
		}
	}
}

func replaced(list []component.ID, id component.ID) []component.ID {
	list = slices.DeleteFunc(list, func(other component.ID) bool { return other == id || other == standIn })
	return append(list, standIn)
}

// incomplete reports whether a pipeline has no receivers or exporters, or names a processor twice. That has been
// reported before.
func (g *graph) incomplete() bool {
	for _, one := range g.pipelines {
		if len(one.Receivers) == 0 || len(one.Exporters) == 0 || one.Validate() != nil {
			return true
		}
	}
	return g.pipelines.Validate() != nil
}

func (g *graph) build(ctx context.Context) (err error) {
	defer recovered(&err)
	factories := g.parts.factories
	return service.Validate(ctx, service.Settings{
		ReceiversConfigs:    g.receivers,
		ReceiversFactories:  with(factories.Receivers, standInReceiver),
		ProcessorsConfigs:   g.processors,
		ProcessorsFactories: factories.Processors,
		ExportersConfigs:    g.exporters,
		ExportersFactories:  with(factories.Exporters, standInExporter),
		ConnectorsConfigs:   g.parts.connectors,
		ConnectorsFactories: factories.Connectors,
		TelemetryFactory:    factories.Telemetry,
	}, service.Config{Pipelines: g.pipelines})
}

var (
	// aboutTheGraph matches errors on how components are connected. Other errors are on one component's settings.
	aboutTheGraph = regexp.MustCompile(`not supported|pipeline but not used in|cannot connect from|cycle detected`)

	namedFirst = regexp.MustCompile(`(?:failed to create|error creating) "([^"]+)" (receiver|processor|exporter)`)
	namedLast  = regexp.MustCompile(`(?:error creating )?(receiver|processor|exporter|connector) "([^"]+)"`)
)

// blame finds in the collector's error which component could not be built.
func (g *graph) blame(message string) (section string, id component.ID, found bool) {
	message = strings.TrimPrefix(message, "failed to build pipelines: ")
	if strings.HasPrefix(message, "cycle detected") {
		return "", id, false
	}
	var name string
	if match := namedFirst.FindStringSubmatch(message); match != nil {
		name, section = match[1], match[2]+"s"
	} else if match := namedLast.FindStringSubmatchIndex(message); match != nil && match[0] == 0 {
		section, name = message[match[2]:match[3]]+"s", message[match[4]:match[5]]
	} else if len(g.parts.connectors) == 1 {
		// Only the error of a connector's constructor does not name the component.
		for only := range g.parts.connectors {
			return "connectors", only, true
		}
	}
	if name == "" || id.UnmarshalText([]byte(name)) != nil {
		return "", id, false
	}
	return section, id, true
}
