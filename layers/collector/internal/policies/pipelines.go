package policies

import (
	"slices"
	"strconv"
	"strings"

	"github.com/headgate/headgate/layers/collector/internal/source"
)

// first returns the index of the first component of that kind in a list, -1 without one.
func first(list []*entry, is func(*entry) bool) int { return slices.IndexFunc(list, is) }

// hasReceiver tells whether the pipeline gets data from a receiver, and not only from connectors.
func (p *pipeline) hasReceiver() bool {
	return first(p.receivers, func(one *entry) bool { return one.section == "receivers" }) >= 0
}

func isBatch(one *entry) bool { return one.is("batch") }

// isSampler tells whether a component drops traces, or logs, for there to be fewer.
func isSampler(one *entry) bool { return one.is("tail_sampling", "probabilistic_sampler") }

// listedAt returns where a list of a pipeline names a component; the list's key, if the text has the list elsewhere.
func (c *configuration) listedAt(one *pipeline, list string, of *entry) source.Position {
	path := append(one.path[:len(one.path):len(one.path)], list)
	names, _ := below(c.plain, path).([]any)
	for i, name := range names {
		if text, _ := name.(string); strings.TrimSpace(text) == strings.TrimSpace(of.id) {
			path = append(path, strconv.Itoa(i))
			break
		}
	}
	_, position := c.document.Nearest(path...)
	return position
}

// exporting returns the pipelines that export to an exporter or a connector.
func (c *configuration) exporting(to *entry) []*pipeline {
	if c.exportingTo == nil {
		c.exportingTo = map[*entry][]*pipeline{}
		for _, one := range c.pipelines {
			for _, exporter := range one.exporters {
				c.exportingTo[exporter] = append(c.exportingTo[exporter], one)
			}
		}
	}
	return c.exportingTo[to]
}

// feeding returns the pipelines from which data gets into one, through connectors, and that one itself.
func (c *configuration) feeding(one *pipeline) []*pipeline {
	found := []*pipeline{one}
	seen := map[*pipeline]bool{one: true}
	asked := map[*entry]bool{}
	for i := 0; i < len(found); i++ {
		for _, receiver := range found[i].receivers {
			if receiver.section != "connectors" || asked[receiver] {
				continue
			}
			asked[receiver] = true
			for _, other := range c.exporting(receiver) {
				if !seen[other] {
					seen[other] = true
					found = append(found, other)
				}
			}
		}
	}
	return found
}
