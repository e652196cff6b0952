package steps

import (
	"slices"
	"strings"
)

// orderSteps finds the steps in the order of the pipelines, from those that the receivers feed on.
func (f *follower) orderSteps() {
	connectors := map[named][]int{}
	for _, number := range sortedNumbers(f.steps) {
		own := f.steps[number]
		as := named{own.kind, own.component, own.signal, own.pipeline}
		if f.byID[as] == 0 {
			f.byID[as] = number
		}
		if own.kind == "connector" {
			connectors[as] = append(connectors[as], number)
		}
	}
	var roots []string
	for _, name := range sorted(f.pipelines) {
		if slices.ContainsFunc(f.pipelines[name].Receivers, func(id string) bool { return f.find("receiver", id, name) > 0 }) {
			roots = append(roots, name)
		}
	}
	reached, seen := roots, map[string]bool{}
	for i := 0; i < len(reached); i++ {
		name := reached[i]
		if seen[name] {
			continue
		}
		seen[name] = true
		lists := f.pipelines[name]
		for _, id := range lists.Receivers {
			f.addStep(name, f.find("receiver", id, name))
		}
		for _, id := range lists.Processors {
			f.addStep(name, f.find("processor", id, name))
		}
		for _, id := range lists.Exporters {
			f.addStep(name, f.find("exporter", id, name))
			for _, number := range connectors[named{"connector", id, signalOf(name), ""}] {
				f.addStep(name, number)
				if len(reached) <= mostListed {
					reached = append(reached, f.fedBy(f.steps[number])...)
				}
			}
		}
	}
}

func signalOf(pipeline string) string {
	signal, _, _ := strings.Cut(pipeline, "/")
	return signal
}

// named is how a pipeline names a component.
type named struct{ kind, id, signal, pipeline string }

// find returns the number of a component in a pipeline, 0 if there is none.
func (f *follower) find(kind, id, pipeline string) int {
	if number := f.byID[named{kind, id, signalOf(pipeline), pipeline}]; number > 0 {
		return number
	}
	return f.byID[named{kind, id, signalOf(pipeline), ""}]
}

// fedBy returns the pipelines that a receiver or a connector feeds.
func (f *follower) fedBy(feeding definition) []string {
	fed := []string{}
	for _, name := range sorted(f.pipelines) {
		if signalOf(name) == feeding.outSignal && slices.Contains(f.pipelines[name].Receivers, feeding.component) {
			fed = append(fed, name)
		}
	}
	return fed
}

func (f *follower) addStep(pipeline string, number int) *flow {
	if number == 0 {
		return nil
	}
	at := key{pipeline, number}
	if f.flows[at] == nil {
		f.flows[at] = &flow{key: at, own: f.steps[number], errors: map[string]int{}, waits: holds(f.steps[number].component)}
		f.order = append(f.order, at)
		if _, has := f.first[number]; !has {
			f.first[number] = at
		}
	}
	return f.flows[at]
}

// flowOf returns the step to which a batch belongs: that of the pipeline that it came from.
func (f *follower) flowOf(number int, from *out) *flow {
	own := f.steps[number]
	if own.pipeline != "" {
		return f.addStep(own.pipeline, number)
	}
	if from != nil {
		candidates := from.pipelines
		if own.kind != "receiver" && len(candidates) > 1 {
			candidates = slices.DeleteFunc(slices.Clone(candidates), func(name string) bool {
				lists := f.pipelines[name]
				return len(lists.Processors) > 0 || !slices.Contains(lists.Exporters, own.component)
			})
		}
		if len(candidates) > 0 {
			if from.given == nil {
				from.given = map[int]int{}
			}
			at := from.given[number]
			from.given[number]++
			return f.addStep(candidates[at%len(candidates)], number)
		}
	}
	if at, has := f.first[number]; has {
		return f.flows[at]
	}
	return f.addStep("", number)
}
