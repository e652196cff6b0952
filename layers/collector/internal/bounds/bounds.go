// Package bounds limits what a configuration may cost the collector that checks it.
//
// source.Document.Affordable limits the text as it is parsed. This package limits the configuration as the components
// read it, with every `${...}` replaced, before any component is decoded: the number of components, and the price of
// their expressions and patterns, multiplied by how often the pipelines build them.
package bounds

import (
	"fmt"
	"strings"

	"github.com/headgate/headgate/layers/collector/internal/lint"
	"github.com/headgate/headgate/layers/collector/internal/pricing"
	"github.com/headgate/headgate/layers/collector/internal/source"
)

// Configuration returns a *source.Cost for a resolved configuration that the collector would take too long over.
func Configuration(plain map[string]any) error {
	count := source.Count{}
	for _, section := range source.Sections {
		content, _ := plain[section].(map[string]any)
		count.Components += len(content)
	}
	built := map[string]int{}
	service, _ := plain["service"].(map[string]any)
	count.IDs += length(service["extensions"])
	pipelines, _ := service["pipelines"].(map[string]any)
	count.Pipelines = len(pipelines)
	for _, body := range pipelines {
		lists, _ := body.(map[string]any)
		for name, list := range lists {
			count.IDs += length(list)
			ids, _ := list.([]any)
			for _, id := range ids {
				built[name+separator+fmt.Sprint(id)]++
			}
		}
	}
	if cost := count.Refused(1); cost != nil {
		return cost
	}
	budget := &budget{built: built}
	for e := range lint.Expressions(plain) {
		effort, reason := pricing.Expression(e.Text, e.Kind)
		if reason != nil {
			return refused(e.Path, reason.Error())
		}
		if err := budget.take(e.Section, e.ID, effort, e.Path); err != nil {
			return err
		}
	}
	for section, content := range plain {
		components, isMapping := content.(map[string]any)
		if !isMapping {
			continue
		}
		for id, body := range components {
			if err := budget.patterns(section, id, []string{section, id}, body); err != nil {
				return err
			}
		}
	}
	return nil
}

const separator = "::"

func length(list any) int {
	if entries, isList := list.([]any); isList {
		return len(entries)
	}
	return 0
}

func refused(path []string, reason string) error {
	return &source.Cost{Message: fmt.Sprintf("%s: %s; nothing was checked", strings.Join(path, separator), reason), Line: 1}
}

// budget is the price that the expressions and patterns of a configuration may have together.
type budget struct {
	// built is how often the pipelines list a component, by section and id.
	built map[string]int
	taken float64
}

// maxBuilt is how often a component that is not a processor is built at most: once for each signal, a connector once
// for each pair of signals.
const maxBuilt = 16

// times returns how often a component reads its configuration: once to validate it, and once each time it is built.
func (b *budget) times(section, id string) float64 {
	listed := b.built[section+separator+id]
	switch section {
	case "processors":
		return float64(1 + listed)
	case "connectors":
		return float64(1 + min(b.built["receivers"+separator+id]*b.built["exporters"+separator+id], maxBuilt))
	default:
		return float64(1 + min(listed, maxBuilt))
	}
}

func (b *budget) take(section, id string, effort float64, path []string) error {
	b.taken += effort * b.times(section, id)
	if b.taken > pricing.RequestEffort {
		return refused(path,
			"the expressions and patterns up to here take the collector too long: it reads them again for each pipeline")
	}
	return nil
}

// patterns prices every text, because any text may be a pattern to its component.
func (b *budget) patterns(section, id string, path []string, value any) error {
	switch content := value.(type) {
	case string:
		return b.take(section, id, pricing.Pattern(content), path)
	case map[string]any:
		for key, entry := range content {
			if err := b.patterns(section, id, append(path[:len(path):len(path)], key), entry); err != nil {
				return err
			}
		}
	case []any:
		for i, entry := range content {
			if err := b.patterns(section, id, append(path[:len(path):len(path)], fmt.Sprint(i)), entry); err != nil {
				return err
			}
		}
	}
	return nil
}
