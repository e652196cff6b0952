package validate

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/headgate/headgate/layers/collector/internal/nearest"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/pipeline"
	"go.yaml.in/yaml/v3"
)

// namesPipelines matches the paths of the settings by which connectors name pipelines.
var namesPipelines = regexp.MustCompile(`pipelines|^priority_levels::`)

// routes replaces the error of a connector that could not be built by one for each pipeline in its settings that it cannot
// send to. It reports whether there are any.
func (d *diagnosis) routes(p *parts, id component.ID, message string) bool {
	path := []string{"connectors", id.String()}
	var names, sources []string
	for name, one := range p.service.Pipelines {
		names = append(names, name.String())
		if one != nil && slices.Contains(one.Exporters, id) {
			sources = append(sources, name.Signal().String())
		}
	}
	slices.Sort(names)
	slices.Sort(sources)
	before := len(d.result.Errors)
	d.document.Scalars(func(at []string, node *yaml.Node) bool {
		if !isWithin(at, path) || !namesPipelines.MatchString(strings.Join(at[len(path):], separator)) &&
			!strings.Contains(message, `"`+node.Value+`"`) {
			return true
		}
		var target pipeline.ID
		if target.UnmarshalText([]byte(node.Value)) != nil {
			return true
		}
		reason := ""
		one, configured := p.service.Pipelines[target]
		switch {
		case !configured:
			reason = fmt.Sprintf("there is no pipeline %s%s", target, nearest.DidYouMean(target.String(), names))
		case one == nil:
		case !slices.Contains(one.Receivers, id):
			reason = fmt.Sprintf("the pipeline %s does not receive from %s: add it to its receivers", target, id)
			if len(sources) > 0 && !slices.Contains(sources, target.Signal().String()) {
				reason = fmt.Sprintf("%s is a pipeline of %s, and %s routes %s", target, target.Signal(), id, strings.Join(slices.Compact(sources), ", "))
			}
		case len(sources) > 0 && !slices.Contains(sources, target.Signal().String()):
			reason = fmt.Sprintf("%s is a pipeline of %s, and %s routes %s", target, target.Signal(), id, strings.Join(slices.Compact(sources), ", "))
		}
		if reason != "" {
			d.error(PipelineGraph, atValue, at, message+"; "+reason)
		}
		return true
	})
	if targets := receiversOf(p, id); len(d.result.Errors) == before && strings.Contains(message, "not used in any supported") {
		reason := fmt.Sprintf("no pipeline has %s among its receivers", id)
		switch {
		case len(sources) == 0:
			reason = fmt.Sprintf("no pipeline has %s among its exporters", id)
		case len(targets) > 0:
			reason = fmt.Sprintf("%s cannot send %s to %s", id, strings.Join(slices.Compact(sources), " and "), strings.Join(targets, " and "))
		}
		d.error(PipelineGraph, atKey, path, message+"; "+reason)
	}
	return len(d.result.Errors) > before
}

// receiversOf returns the pipelines that receive from a connector, by name.
func receiversOf(p *parts, id component.ID) []string {
	var targets []string
	for name, one := range p.service.Pipelines {
		if one != nil && slices.Contains(one.Receivers, id) {
			targets = append(targets, name.String())
		}
	}
	slices.Sort(targets)
	return targets
}
