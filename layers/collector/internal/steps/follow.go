package steps

import (
	"slices"
	"strings"
)

// key is a step: a component in a pipeline. A connector or exporter is one component in several pipelines.
type key struct {
	pipeline   string
	definition int
}

// flow is what went through a step.
type flow struct {
	key     key
	own     definition
	entries []entry
	// sets is set if some records were matched by what they contain, or may have been held.
	sets    bool
	errors  map[string]int
	matcher *matcher
	tallies []*tally
	// waits is set for a component that puts out records after the call that brought them.
	waits bool
}

// entry is a record that went into a step, or one that was created there.
type entry struct {
	node    int32
	created bool
	in, out item
	call    *call
	place   int32
	outputs int
	// targets are the pipelines that it went to, where a component chooses.
	targets []string
	outcome string
	// event is the last one that it came out with.
	event int
	split bool
}

// node is where records come from: one of the sample, or those that went into it. Node 0 is what the trace does not have.
type node struct {
	number  int32
	lost    bool
	parents []int32
}

// call is a batch in a component.
type call struct {
	flow    *flow
	first   int // of the flow's entries
	items   []item
	lost    bool
	tallies []*tally
	// changes are what statements made of each part, in order, and last its last content; held is the first condition that
	// held for a part.
	changes map[place][]stateOf
	last    map[place]int32
	held    map[place]*tally
	judged  bool
	matcher *matcher
	failure string
	nested  bool
	// created is set if something came out that was not found among what went in.
	created bool
}

// place is a part of a batch: its level and number there.
type place struct{ level, number int32 }

// stateOf is a part after a statement.
type stateOf struct {
	number  int
	by      *tally
	level   int
	content int
}

// out is a batch that came out of a component.
type out struct {
	items     []item
	nodes     []int32
	pipelines []string
	call      *call
	// given counts the exporters' calls with it, by component.
	given map[int]int
}

// follower follows every record of a trace.
type follower struct {
	*recorded
	decoder *decoder
	nodes   []node
	flows   map[key]*flow
	order   []key
	calls   map[int]*call
	outs    map[int]*out
	// first is the first step of each component, byID finds components.
	first map[int]key
	byID  map[named]int
	// oldest is the first record of the sample that is followed.
	oldest int
	// followed counts the records that went into components.
	followed int
	lostAny  bool
}

// mostFollowed bounds the records at all steps together; the newest ones are followed.
const mostFollowed = 400_000

func follow(t *recorded) *follower {
	f := &follower{
		recorded: t, decoder: newDecoder(t.contents), nodes: make([]node, 1),
		flows: map[key]*flow{}, calls: map[int]*call{}, outs: map[int]*out{},
		first: map[int]key{}, byID: map[named]int{},
	}
	f.orderSteps()
	instances := 0
	tallies := map[int][]*tally{}
	for i := range t.tallies {
		tallies[t.tallies[i].call] = append(tallies[t.tallies[i].call], &t.tallies[i])
	}
	for i := range t.events {
		e := &t.events[i]
		if e.first > 0 {
			f.received = max(f.received, e.first+len(e.items)-1)
		}
		instances += len(e.items) + len(e.origins)
	}
	f.oldest = 1
	if instances > mostFollowed && f.received > 0 {
		kept := max(1, int(int64(f.received)*mostFollowed/int64(instances)))
		f.oldest = f.received - kept + 1
	}
	for i := range t.events {
		if e := &t.events[i]; e.in {
			f.enter(e, tallies[e.call])
		} else {
			f.leave(e)
		}
	}
	f.conclude()
	f.giveTallies()
	return f
}

func (f *follower) newNode(number int32, parents ...int32) int32 {
	f.nodes = append(f.nodes, node{number: number, parents: parents})
	return int32(len(f.nodes) - 1)
}

// enter follows a batch into a component.
func (f *follower) enter(e *event, tallies []*tally) {
	from := f.outs[e.from]
	c := &call{flow: f.flowOf(e.step, from), tallies: tallies, failure: f.errors[e.call]}
	f.calls[e.call] = c
	var nodes []int32
	switch {
	case e.from == 0:
		c.items, nodes = e.items, make([]int32, len(e.items))
		for i := range nodes {
			nodes[i] = f.newNode(0)
		}
	case from == nil || f.followed+len(from.items) > 2*mostFollowed:
		c.lost, f.lostAny = true, true
		return
	default:
		c.items, nodes = from.items, from.nodes
		if c.failure != "" && from.call != nil {
			from.call.nested = true
		}
	}
	f.followed += len(c.items)
	c.first = len(c.flow.entries)
	pooled := c.flow.matcher != nil
	for i, in := range c.items {
		c.flow.entries = append(c.flow.entries, entry{node: nodes[i], in: in, call: c, place: int32(i)})
	}
	c.index()
	if pooled {
		f.pool(c.flow).add(c.first, len(c.flow.entries))
	}
}

// index sorts what statements and conditions did by the part that they were about.
func (c *call) index() {
	if len(c.tallies) == 0 {
		return
	}
	c.changes, c.last, c.held = map[place][]stateOf{}, map[place]int32{}, map[place]*tally{}
	for _, t := range c.tallies {
		for _, made := range t.changes {
			at := place{int32(made.level), int32(made.place)}
			c.changes[at] = append(c.changes[at], stateOf{made.number, t, made.level, made.content})
		}
		if t.kind != kindCondition {
			continue
		}
		c.judged = true
		for _, number := range t.places {
			if at := (place{int32(t.level), number}); c.held[at] == nil {
				c.held[at] = t
			}
		}
	}
	for at, all := range c.changes {
		slices.SortFunc(all, func(a, b stateOf) int { return a.number - b.number })
		for _, made := range all {
			if made.content >= 0 {
				c.last[at] = int32(made.content)
			}
		}
	}
}

// condition is one that held for a record or for what it belongs to, nil if none did.
func (e *entry) condition() *tally {
	if e.call == nil {
		return nil
	}
	for level := range e.in.parts {
		if found := e.call.held[e.at(level)]; found != nil {
			return found
		}
	}
	return nil
}

// at returns where a part of a record stands in its batch.
func (e *entry) at(level int) place {
	if level == levelRecord {
		return place{levelRecord, e.place}
	}
	return place{int32(level), e.in.under[level]}
}

// last is a record after the component's last statement on it.
func (e *entry) last() item {
	state := e.in
	if e.call == nil {
		return state
	}
	for level := range state.parts {
		if content, changed := e.call.last[e.at(level)]; changed {
			state.parts[level] = content
		}
	}
	return state
}

// leave follows a batch out of a component.
func (f *follower) leave(e *event) {
	own := f.steps[e.step]
	result := &out{items: e.items, pipelines: e.pipelines}
	f.outs[e.id] = result
	if own.kind == "receiver" {
		f.receive(e, result)
		return
	}
	c := f.calls[e.call]
	if e.call != 0 && (c == nil || c.lost || len(c.items) == 0 && e.same) {
		f.lostAny = f.lostAny || c == nil || c.lost
		result.nodes = make([]int32, len(e.items))
		return
	}
	var of *flow
	if c != nil {
		of = c.flow
		if e.same {
			result.items = c.items
		}
	} else {
		of = f.flowOf(e.step, nil)
		of.sets, of.waits = true, true
	}
	result.call = c
	if own.kind == "processor" {
		result.pipelines = []string{of.key.pipeline}
	}
	result.nodes = make([]int32, len(result.items))
	for i := range result.items {
		result.nodes[i] = f.origin(e, c, of, i, result.items[i])
	}
}

// receive numbers the records of the sample.
func (f *follower) receive(e *event, result *out) {
	of := f.flowOf(e.step, nil)
	result.pipelines = f.fedBy(of.own)
	result.nodes = make([]int32, len(e.items))
	for i, made := range e.items {
		if number := e.first + i; number >= f.oldest {
			result.nodes[i] = f.newNode(int32(number))
			of.entries = append(of.entries, entry{node: result.nodes[i], created: true, out: made, outputs: 1, outcome: Created})
		}
	}
}

// origin finds where a record that came out comes from, and returns its node.
func (f *follower) origin(e *event, c *call, of *flow, i int, made item) int32 {
	var found *entry
	exact, converts := false, of.own.signal != of.own.outSignal
	if c != nil && !converts && i < len(e.origins) && e.origins[i] >= 0 && int(e.origins[i]) < len(c.items) {
		found, exact = &of.entries[c.first+int(e.origins[i])], true
	}
	from := f.pool(of)
	if c != nil && found == nil {
		if c.matcher == nil {
			c.matcher = newMatcher(f.decoder, of)
			c.matcher.add(c.first, c.first+len(c.items))
		}
		from = c.matcher
	}
	if found == nil && !converts {
		found, exact = from.find(made, e.id)
	}
	if found == nil {
		if f.leftOut(c, of) {
			return 0
		}
		of.sets = of.sets || c == nil || converts
		if c != nil {
			c.created = true
		}
		created := f.newNode(0)
		of.entries = append(of.entries, entry{node: created, created: true, out: made, outputs: 1, outcome: Created, call: c})
		return created
	}
	of.sets = of.sets || !exact
	if found.outputs == 0 {
		found.out = made
	}
	found.outputs++
	found.event = e.id
	target := strings.Join(e.pipelines, " ")
	found.split = found.split || slices.Contains(found.targets, target)
	if len(found.targets) < 8 {
		found.targets = append(found.targets, target)
	}
	if exact || found.node == 0 {
		return found.node
	}
	copied := f.newNode(0, found.node)
	from.remember(&made, copied)
	return copied
}

// leftOut tells whether what a component made comes of records that the trace does not have.
func (f *follower) leftOut(c *call, of *flow) bool {
	if c == nil {
		return f.lostAny || f.oldest > 1
	}
	for i := range c.items {
		if of.entries[c.first+i].node != 0 {
			return false
		}
	}
	return len(c.items) > 0
}
