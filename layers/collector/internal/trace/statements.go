package trace

import (
	"cmp"
	"slices"

	"github.com/headgate/headgate/layers/collector/internal/datapoints"
)

// evaluation is a statement or condition of a component: how OTTL has its text, and which one of equal ones it is.
type evaluation struct {
	kind, text string
	nth        int
}

// tally is what a statement or condition did in one call.
type tally struct {
	level              int
	context            string
	evaluated, matched int
	// places are the parts for which its condition held, changes what it made of parts.
	places  []int32
	changes []change
	errors  map[string]int
}

// change is a part after a statement. Replaced is set for a metric whose data points are other ones now.
type change struct {
	number   int // in the order of all changes of the call
	level    int
	place    int32
	content  []byte
	key      key
	replaced bool
}

// statements are what OTTL did in one call.
type statements struct {
	tallies map[evaluation]*tally
	// seen counts the statements of the sequence that is under way on one thing, by their text. made counts the changes.
	seen map[string]int
	on   thing
	made int
	// now are the keys of the parts that statements have changed, by level and place.
	now [levels]map[int32]key
	// points tell which data points a metric had after its last statement, by its place.
	points map[int32]uint64
}

// thing is what OTTL evaluated something on.
type thing struct {
	level    int
	context  string
	identity identity
}

func tallyOf(tallies *map[evaluation]*tally, which evaluation, on thing) *tally {
	if *tallies == nil {
		*tallies = map[evaluation]*tally{}
	}
	found := (*tallies)[which]
	if found == nil {
		found = &tally{level: on.level, context: on.context}
		(*tallies)[which] = found
	}
	return found
}

// began notes that a sequence of statements begins.
func (s *step) began(on thing) {
	s.recorder.mutex.Lock()
	defer s.recorder.mutex.Unlock()
	if f, _ := s.placed(on); f != nil {
		clear(f.seen)
	}
}

// evaluated notes what came of a statement or condition.
func (s *step) evaluated(kind, text string, matched bool, on thing) {
	r := s.recorder
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.cutStatements.Load() || r.failed {
		return
	}
	if r.evaluated++; r.evaluated > mostEvaluations || r.states > mostStates {
		r.cutStatements.Store(true)
		r.leaveOut("statements")
		return
	}
	f, place := s.placed(on)
	which := evaluation{kind: kind, text: text}
	if f == nil {
		found := tallyOf(&s.unplaced, which, on)
		found.count(matched)
		return
	}
	if kind == "statement" {
		if f.seen == nil || f.on != on {
			f.seen, f.on = map[string]int{}, on
		}
		which.nth = f.seen[text]
		f.seen[text]++
	}
	found := tallyOf(&f.tallies, which, on)
	found.count(matched)
	if !matched {
		return
	}
	found.places = append(found.places, place)
	if kind == "statement" {
		f.changed(found, on.level, place)
	}
}

func (t *tally) count(matched bool) {
	t.evaluated++
	if matched {
		t.matched++
	}
}

// failed notes that a statement or condition had an error, which was ignored.
func (s *step) failed(kind, text, message string) {
	r := s.recorder
	r.mutex.Lock()
	defer r.mutex.Unlock()
	tallies := &s.unplaced
	if len(s.open) == 1 {
		tallies = &s.open[0].tallies
	}
	found := tallyOf(tallies, evaluation{kind: kind, text: text}, thing{level: levelRecord})
	if found.errors == nil {
		found.errors = map[string]int{}
	}
	message = r.hidden.Text(shortened(message))
	if _, known := found.errors[message]; !known && len(found.errors) >= mostErrors {
		message = "other errors"
	}
	found.errors[message]++
}

// placed finds the call that was given something, and where it stands in its batch.
func (s *step) placed(on thing) (*frame, int32) {
	if on.identity == nil {
		return nil, 0
	}
	for _, f := range slices.Backward(s.open) {
		if place, known := f.at[on.level][on.identity]; known {
			return f, place
		}
	}
	return nil, 0
}

// changed notes what a statement made of a part, and of what it belongs to.
func (f *frame) changed(by *tally, level int, place int32) {
	own := &f.batch.parts[level][place]
	for above := range level {
		if above < levelMetric || f.batch.signal == signalMetrics {
			f.compare(by, above, own.under[above], false)
		}
	}
	f.compare(by, level, place, false)
	if level == levelMetric {
		f.comparePoints(by, place)
	}
}

// compare looks whether a part is another one than before.
func (f *frame) compare(by *tally, level int, place int32, replaced bool) {
	own := &f.batch.parts[level][place]
	content, err := own.live.content()
	if err != nil {
		return
	}
	f.step.recorder.states += len(content) + 1
	before, known := f.now[level][place]
	if !known {
		before = own.key
	}
	if after := keyOf(content); after != before || replaced {
		if f.now[level] == nil {
			f.now[level] = map[int32]key{}
		}
		f.now[level][place] = after
		f.made++
		by.changes = append(by.changes, change{f.made, level, place, content, after, replaced})
	}
}

// comparePoints looks at the data points after a statement on their metric. They may be other ones than before.
func (f *frame) comparePoints(by *tally, metric int32) {
	live, is := f.batch.parts[levelMetric][metric].live.(metricPart)
	if !is {
		return
	}
	now, were := uint64(0), uint64(0)
	points := map[identity]bool{}
	for _, point := range datapoints.Of(live.Metric) {
		known := identityOf(point)
		points[known] = true
		now = now*31 + uint64(uintptr(known))
	}
	own := f.batch.parts[levelRecord]
	for i := int(f.batch.parts[levelMetric][metric].first); i < len(own) && own[i].under[levelMetric] == metric; i++ {
		if own[i].identity == nil {
			continue
		}
		were = were*31 + uint64(uintptr(own[i].identity))
		if points[own[i].identity] {
			f.compare(by, levelRecord, int32(i), false)
		}
	}
	if before, known := f.points[metric]; known {
		were = before
	}
	if now != were {
		if f.points == nil {
			f.points = map[int32]uint64{}
		}
		f.points[metric] = now
		f.compare(by, levelMetric, metric, true)
	}
}

// writeStatements writes the tallies of a call.
func (f *frame) writeStatements() {
	writeTallies(f.step, f.call, f.tallies)
	f.tallies = nil
}

// writeUnplaced writes what was evaluated on something that no call was given.
func (s *step) writeUnplaced() {
	writeTallies(s, 0, s.unplaced)
	s.unplaced = nil
}

func writeTallies(s *step, call int, tallies map[evaluation]*tally) {
	all := make([]evaluation, 0, len(tallies))
	for which := range tallies {
		all = append(all, which)
	}
	slices.SortFunc(all, func(a, b evaluation) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.text, b.text), cmp.Compare(a.nth, b.nth))
	})
	for _, which := range all {
		found := tallies[which]
		s.recorder.note(s.recorder.file.write(func(p *page) {
			text := p.string(s.recorder.hidden.Text(which.text))
			changes := make([]int, 0, 4*len(found.changes))
			for _, made := range found.changes {
				content := -1
				if !made.replaced {
					content = p.content(made.key, made.content)
				}
				changes = append(changes, made.number, made.level, int(made.place), content)
			}
			places := newRuns()
			slices.Sort(found.places)
			for _, place := range found.places {
				places.add(int(place))
			}
			p.text = append(p.text, newLine("q").int(s.number).int(call).text(which.kind).int(text).int(which.nth).
				text(found.context).int(found.level).int(found.evaluated).int(found.matched).
				raw(places.end()).json(changes).json(found.errors).end()...)
		}))
	}
}
