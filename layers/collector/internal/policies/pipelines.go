package policies

import "slices"

// first returns the index of the first component of that kind in a list, -1 without one.
func first(list []*entry, is func(*entry) bool) int { return slices.IndexFunc(list, is) }

// hasReceiver tells whether the pipeline gets data from a receiver, and not only from connectors.
func (p *pipeline) hasReceiver() bool {
	return first(p.receivers, func(one *entry) bool { return one.section == "receivers" }) >= 0
}

func isBatch(one *entry) bool { return one.is("batch") }

// isSampler tells whether a component drops traces, or logs, for there to be fewer.
func isSampler(one *entry) bool { return one.is("tail_sampling", "probabilistic_sampler") }

// feeding returns the pipelines from which data gets into one, through connectors, and that one itself.
func (c *configuration) feeding(one *pipeline) []*pipeline {
	found := []*pipeline{one}
	for i := 0; i < len(found); i++ {
		for _, other := range c.pipelines {
			joins := func(e *entry) bool { return e.section == "connectors" && slices.Contains(found[i].receivers, e) }
			if first(other.exporters, joins) >= 0 && !slices.Contains(found, other) {
				found = append(found, other)
			}
		}
	}
	return found
}
