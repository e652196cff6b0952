// Package trace records what goes into and comes out of every component of a collector, for a test run.
//
// The factories are wrapped (see package around), so that each component's next consumer is a recorder, and so is each
// component itself. A record is followed through a component that changes it in place by its place in memory, which no
// component can see or change; from one component to the next by its place in the batch; and through a component that
// copies or holds it by what it contains, later, by the reader of the trace.
//
// What OTTL does is taken from its own debug log, which names each statement, whether its condition held, and the very
// record: so it is what happened in this run, also for functions like UUID and Now.
package trace

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/headgate/headgate/layers/collector/internal/around"
	"github.com/headgate/headgate/layers/collector/internal/hiding"
	"go.opentelemetry.io/collector/featuregate"
)

// Limits on what recording may cost a run, whatever its sample and configuration are. What exceeds them is not recorded, nor
// is a batch that no file has room for.
const (
	// mostBytes bounds the batches that are taken apart, mostStates the records that are marshalled after statements, both
	// in bytes. mostEvaluations bounds the log messages of OTTL.
	mostBytes       = 1 << 30
	mostStates      = 256 << 20
	mostEvaluations = 200_000
	// mostOpen bounds the parts of the batches of all calls that are under way: each is some hundred bytes, and a pipeline
	// of many processors has many calls open at once.
	mostOpen = 600_000
	// longestError bounds the text of an error, mostErrors the different ones of a statement or a component.
	longestError = 300
	mostErrors   = 20
)

// Recorder writes the trace of one collector.
type Recorder struct {
	mutex sync.Mutex
	file  file
	// byPlace is false if places in memory are used again while something holds them.
	byPlace                  bool
	steps, calls, outs       int
	received                 int
	bytes, states, evaluated int
	pipeline                 pipelineNamed
	failed                   bool
	// hidden replaces the values of the collector's variables in what is not telemetry.
	hidden *hiding.Hider
	// cut is set if nothing more is recorded, cutStatements if no more statements are.
	cut           bool
	cutStatements atomic.Bool
	// leftOut is what the trace does not have, open counts the parts of the calls that are under way.
	leftOut []string
	open    int
}

// New returns a recorder that writes into a folder. It opens its files when there is something to write.
func New(folder string) *Recorder {
	env := map[string]string{}
	for _, variable := range os.Environ() {
		name, value, _ := strings.Cut(variable, "=")
		env[name] = value
	}
	return &Recorder{file: file{folder: folder}, byPlace: true, hidden: hiding.New(env)}
}

// step is a component as the collector built it.
type step struct {
	recorder *Recorder
	number   int
	receives bool
	// open are the calls that are under way.
	open []*frame
	// unplaced counts evaluations on what none of the open calls was given.
	unplaced map[evaluation]*tally
}

// frame is a call of a component that has not returned.
type frame struct {
	step   *step
	call   int
	closed bool
	// skipped is set if the call is not recorded: nor is what comes out of it.
	skipped bool
	batch   *batch
	// at finds a part of the batch by its place in memory.
	at [levels]map[identity]int32
	statements
}

type (
	frameKey struct{}
	outKey   struct{}
)

// newStep describes a component that is about to be created.
func (r *Recorder) newStep(place around.Place) *step {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.steps++
	s := &step{recorder: r, number: r.steps, receives: place.Section == "receivers"}
	pipeline := ""
	if place.Section == "processors" && r.pipeline.component == place.ID.String() {
		pipeline = r.pipeline.pipeline
	}
	line := newLine("s").int(s.number).text(strings.TrimSuffix(place.Section, "s")).text(place.ID.String()).
		text(pipeline).text(place.From.String()).text(place.To.String())
	r.note(r.file.describe(line.end()))
	return s
}

// note remembers that the trace cannot be written. A run must not fail for that.
func (r *Recorder) note(err error) {
	if err != nil && !errors.Is(err, errTooLarge) {
		r.failed = true
	}
}

// lost is the number of a batch that the trace does not have.
const lost = -1

// taken takes a batch apart. It is not ok if the trace is not to have it.
func (r *Recorder) taken(take func() (*batch, error)) (given *batch, ok bool) {
	if r.failed || r.cut {
		return nil, false
	}
	given, err := take()
	switch {
	case errors.Is(err, errTooLarge):
		r.leaveOut("large")
		return nil, false
	case err != nil:
		return nil, false
	}
	if r.bytes += given.size; r.bytes > mostBytes || r.open+given.count() > mostOpen {
		r.cut = true
		r.leaveOut("batches")
		return nil, false
	}
	return given, true
}

// leaveOut notes that the trace does not have something, once.
func (r *Recorder) leaveOut(what string) {
	if !slices.Contains(r.leftOut, what) {
		r.leftOut = append(r.leftOut, what)
		r.note(r.file.describe(newLine("x").text(what).end()))
	}
}

// lose notes that the trace does not have what becomes of a batch that came out (k), or what came out of a call (l), or
// some of the sample's records (r).
func (r *Recorder) lose(kind string, number int) {
	if !r.failed {
		r.note(r.file.write(func(p *page) { p.text = append(p.text, newLine(kind).int(number).end()...) }))
	}
}

// enter begins a call of a component with a batch, which take takes apart. It returns the context for the call.
func (s *step) enter(ctx context.Context, take func() (*batch, error)) (context.Context, *frame) {
	r := s.recorder
	r.mutex.Lock()
	defer r.mutex.Unlock()
	from, _ := ctx.Value(outKey{}).(int)
	if from == lost {
		return context.WithValue(ctx, frameKey{}, &frame{step: s, skipped: true}), nil
	}
	given, ok := r.taken(take)
	if !ok {
		r.lose("k", from)
		return context.WithValue(ctx, frameKey{}, &frame{step: s, skipped: true}), nil
	}
	r.calls++
	r.open += given.count()
	f := &frame{step: s, call: r.calls, batch: given}
	if r.byPlace {
		for level := range levels {
			f.at[level] = make(map[identity]int32, len(given.parts[level]))
			for i := range given.parts[level] {
				if known := given.parts[level][i].identity; known != nil {
					f.at[level][known] = int32(i)
				}
			}
		}
	}
	r.note(r.file.write(func(p *page) {
		line := newLine("i").int(f.call).int(s.number).int(from)
		if from == 0 {
			line.raw(p.shape(given))
		}
		p.text = append(p.text, line.end()...)
	}))
	s.open = append(s.open, f)
	return context.WithValue(ctx, frameKey{}, f), f
}

// leave writes what came out of a component, so many records, for these pipelines if it is a connector. It returns the
// context for the next one.
func (s *step) leave(ctx context.Context, pipelines []string, records int, take func() (*batch, error)) context.Context {
	r := s.recorder
	r.mutex.Lock()
	defer r.mutex.Unlock()
	f, _ := ctx.Value(frameKey{}).(*frame)
	if f != nil && (f.step != s || f.closed) {
		f = nil
	}
	if f != nil && f.skipped {
		return context.WithValue(ctx, outKey{}, lost)
	}
	given, ok := r.taken(take)
	if !ok {
		if s.receives {
			r.received += records
			r.lose("r", r.received)
		} else if f != nil {
			r.lose("l", f.call)
		}
		return context.WithValue(ctx, outKey{}, lost)
	}
	r.outs++
	out, first, call := r.outs, 0, 0
	if s.receives {
		first = r.received + 1
		r.received += given.records()
	}
	if f != nil {
		call = f.call
	} else {
		s.writeUnplaced()
	}
	err := r.file.write(func(p *page) {
		line := newLine("o").int(out).int(s.number).int(call).int(first).texts(pipelines)
		if f != nil {
			line.raw(f.origins(given))
		} else {
			line.raw([]byte("[]"))
		}
		if f != nil && f.batch.key == given.key {
			line.int(0)
		} else {
			line.raw(p.shape(given))
		}
		p.text = append(p.text, line.end()...)
	})
	r.note(err)
	if err != nil {
		r.leaveOut("large")
		out = lost
		if f != nil {
			r.lose("l", f.call)
		}
	}
	return context.WithValue(ctx, outKey{}, out)
}

// origins returns where the records of a batch were in the call's own batch, as runs of [place, how many], with the place
// -1 for what was not there.
func (f *frame) origins(out *batch) []byte {
	runs := newRuns()
	for i := range out.parts[levelRecord] {
		place, known := f.at[levelRecord][out.parts[levelRecord][i].identity]
		if !known {
			place = -1
		}
		runs.add(int(place))
	}
	return runs.end()
}

// exit ends a call.
func (f *frame) exit(err error) {
	if f == nil {
		return
	}
	r := f.step.recorder
	r.mutex.Lock()
	defer r.mutex.Unlock()
	f.closed = true
	r.open -= f.batch.count()
	for i, other := range f.step.open {
		if other == f {
			f.step.open = append(f.step.open[:i], f.step.open[i+1:]...)
			break
		}
	}
	if r.failed {
		return
	}
	f.writeStatements()
	if err != nil {
		r.note(r.file.write(func(p *page) {
			p.text = append(p.text, newLine("e").int(f.call).text(r.hidden.Text(shortened(err.Error()))).end()...)
		}))
	}
	// A component may keep the context of a call.
	f.batch, f.at = nil, [levels]map[identity]int32{}
}

// configured is called when the collector has its configuration and feature gates.
func (r *Recorder) configured(pipelines any) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	featuregate.GlobalRegistry().VisitAll(func(gate *featuregate.Gate) {
		if gate.ID() == "pdata.useProtoPooling" && gate.IsEnabled() {
			r.byPlace = false
		}
	})
	r.note(r.file.describe(newLine("g").json(pipelines).end()))
}

// shape returns the numbers of a batch's contents: [[resource, [[scope, [record, …]], …]], …], and for metrics
// [[resource, [[scope, [[metric, [point, …]], …]], …]], …].
func (p *page) shape(b *batch) []byte {
	numbers := [levels][]int{}
	for level := range levels {
		numbers[level] = make([]int, len(b.parts[level]))
		for i := range b.parts[level] {
			own := &b.parts[level][i]
			if _, none := own.live.(nothing); none {
				continue
			}
			numbers[level][i] = p.content(own.key, own.content)
		}
	}
	bottom := levelScope
	if b.signal == signalMetrics {
		bottom = levelMetric
	}
	var text []byte
	var at [levels]int
	var write func(level int, above int32)
	write = func(level int, above int32) {
		text = append(text, '[')
		for first := true; at[level] < len(b.parts[level]); first = false {
			own := &b.parts[level][at[level]]
			if level > 0 && own.under[holder(level, bottom)] != above {
				break
			}
			if !first {
				text = append(text, ',')
			}
			number := at[level]
			at[level]++
			if level == levelRecord {
				text = appendInt(text, numbers[level][number])
				continue
			}
			text = append(appendInt(append(text, '['), numbers[level][number]), ',')
			if level == bottom {
				write(levelRecord, int32(number))
			} else {
				write(level+1, int32(number))
			}
			text = append(text, ']')
		}
		text = append(text, ']')
	}
	write(levelResource, 0)
	return text
}

// holder is the level of what holds a part.
func holder(level, bottom int) int {
	if level == levelRecord {
		return bottom
	}
	return level - 1
}
