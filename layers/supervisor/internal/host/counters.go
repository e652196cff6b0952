package host

import (
	"cmp"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"
)

const (
	// largestCounters bounds a report's counters as JSON, in bytes.
	largestCounters = 1 << 10
	// mostExporters is how many the service takes, with the others as one.
	mostExporters = 16
	// longestExporter bounds an exporter's id that is reported, in bytes.
	longestExporter = 255
	// mostCounted bounds the components that are counted; no configuration has so many.
	mostCounted = 1_000
	// otherExporters are those that have no room of their own.
	otherExporters = "other"
	// mostOfAll is what the service takes at most; no collector counts so far.
	mostOfAll = 1 << 53
)

// Counters are the collector's own, of log records, spans and data points together, since the last answered report.
// Queue is how full the fullest sending queue is, from 0 to 1. Exporters are those that did something. Delivered is what
// was sent, by signal, without what went to exporters that deliver nothing. Memory is what the collector has, in bytes,
// and CPU what it used, in milliseconds.
type Counters struct {
	Seconds   int                 `json:"seconds"`
	Accepted  int64               `json:"accepted"`
	Refused   int64               `json:"refused"`
	Sent      int64               `json:"sent"`
	Failed    int64               `json:"failed"`
	Dropped   int64               `json:"dropped"`
	Queue     float64             `json:"queue"`
	Memory    int64               `json:"memory"`
	CPU       int64               `json:"cpu"`
	Delivered map[string]int64    `json:"delivered"`
	Exporters map[string]exporter `json:"exporters,omitempty"`
}

type exporter struct {
	Sent   int64   `json:"sent"`
	Failed int64   `json:"failed"`
	Queue  float64 `json:"queue"`
}

// totals are the counters of one component.
type totals struct {
	accepted, refused, sent, failed, dropped float64
	queued, room                             float64
	// memory is in bytes, cpu in seconds; of the collector itself.
	memory, cpu float64
	// delivered is what was sent, by signal.
	delivered [len(signals)]float64
}

// signals are those that are counted, as the service and as the collector's metrics call them.
var signals = [...]struct{ name, counted string }{
	{"logs", "log_records"}, {"metrics", "metric_points"}, {"traces", "spans"},
}

// plus adds counters. Queues and memory are not added: they are as they were read last.
func (t totals) plus(other totals) totals {
	sum := totals{
		accepted: t.accepted + other.accepted, refused: t.refused + other.refused, sent: t.sent + other.sent,
		failed: t.failed + other.failed, dropped: t.dropped + other.dropped, cpu: t.cpu + other.cpu,
	}
	for i := range signals {
		sum.delivered[i] = t.delivered[i] + other.delivered[i]
	}
	return sum
}

// since is what was added since then. What counts less than before has counted from zero.
func (t totals) since(before totals) totals {
	moved := func(now, then float64) float64 {
		if now < then {
			return now
		}
		return now - then
	}
	rest := totals{
		accepted: moved(t.accepted, before.accepted), refused: moved(t.refused, before.refused),
		sent: moved(t.sent, before.sent), failed: moved(t.failed, before.failed), dropped: moved(t.dropped, before.dropped),
		cpu: moved(t.cpu, before.cpu),
	}
	for i := range signals {
		rest.delivered[i] = moved(t.delivered[i], before.delivered[i])
	}
	return rest
}

// fill is how full the sending queue is, from 0 to 1, in hundredths. A queue for one item
// counts as empty: it would be full whenever something is sent.
func (t totals) fill() float64 {
	share := t.queued / t.room
	if math.IsNaN(share) || share < 0 || t.room <= 1 {
		return 0
	}
	return math.Round(100*min(1, share)) / 100
}

// whole is a count as the service takes it.
func whole(count float64) int64 {
	if math.IsNaN(count) {
		return 0
	}
	return int64(max(0, min(count, mostOfAll)))
}

// meter sums what the collector counts, also over its restarts, until the service knows it.
type meter struct {
	// last is what the collector counted when it was last read, since its start.
	last *reading
	// sum is what was added since `since`, by component; at is the time of the last reading.
	sum   map[string]totals
	since time.Time
	at    time.Time
	// next is what the message on its way tells, and up to when.
	next   map[string]totals
	nextAt time.Time
	// flows are what is counted over time.
	flows counting
}

// add notes a reading. The supervisor that runs this program has started the collector, so that its counters from zero
// on are new.
//
// What goes to an exporter among `discards` is not delivered.
func (m *meter) add(read reading, discards map[string]bool, known map[part][]string, at time.Time) {
	before := map[string]totals{}
	goesOn := m.last != nil && read.uptime >= m.last.uptime
	if goesOn {
		before = m.last.components
	}
	m.flows.add(read.flows, !goesOn, known, at)
	if m.sum == nil {
		m.sum = map[string]totals{}
	}
	for id, total := range read.components {
		if _, known := m.sum[id]; !known && len(m.sum) >= mostCounted {
			continue
		}
		moved := total.since(before[id])
		if discards[strings.TrimPrefix(id, exporterPrefix)] {
			moved.delivered = [len(signals)]float64{}
		}
		m.sum[id] = m.sum[id].plus(moved)
	}
	m.last, m.at = &read, at
}

// counters are those since the last answered report; nil if nothing was read since.
func (m *meter) counters() *Counters {
	m.next = nil
	if !m.at.After(m.since) {
		return nil
	}
	m.next, m.nextAt = maps.Clone(m.sum), m.at
	var all totals
	counted := &Counters{Seconds: int(math.Round(m.at.Sub(m.since).Seconds())), Exporters: map[string]exporter{}}
	for id, total := range m.sum {
		all = all.plus(total)
		fill := m.last.components[id].fill()
		counted.Queue = max(counted.Queue, fill)
		if name, isExporter := strings.CutPrefix(id, exporterPrefix); isExporter {
			one := exporter{whole(total.sent), whole(total.failed), fill}
			if one != (exporter{}) {
				counted.Exporters[name] = one
			}
		}
	}
	counted.Accepted, counted.Refused, counted.Sent = whole(all.accepted), whole(all.refused), whole(all.sent)
	counted.Failed, counted.Dropped = whole(all.failed), whole(all.dropped)
	counted.Memory, counted.CPU = whole(m.last.components[processID].memory), whole(1_000*all.cpu)
	counted.Delivered = map[string]int64{}
	for i, signal := range signals {
		if delivered := whole(all.delivered[i]); delivered > 0 {
			counted.Delivered[signal.name] = delivered
		}
	}
	counted.bound()
	return counted
}

// told notes that the service knows what the message on its way told. What was read meanwhile stays.
func (m *meter) told() {
	if m.next == nil {
		return
	}
	for id, total := range m.next {
		rest := m.sum[id].since(total)
		if rest == (totals{}) {
			delete(m.sum, id)
		} else {
			m.sum[id] = rest
		}
	}
	m.since, m.next = m.nextAt, nil
}

// bound sums the exporters beyond those that have room: first those that fail, then those that send most.
func (c *Counters) bound() {
	all := c.Exporters
	names := slices.SortedFunc(maps.Keys(all), func(a, b string) int {
		one, other := all[a], all[b]
		return cmp.Or(
			cmp.Compare(other.Failed, one.Failed), cmp.Compare(other.Sent, one.Sent), cmp.Compare(other.Queue, one.Queue),
			strings.Compare(a, b),
		)
	})
	c.Exporters = map[string]exporter{}
	// There is room for the largest rest.
	room := largestCounters - c.size() - len(`,"exporters":{"other":{"sent":9007199254740992,"failed":9007199254740992,"queue":0.99}}`)
	rest := exporter{}
	for _, name := range names {
		one := all[name]
		entry, _ := json.Marshal(map[string]exporter{name: one})
		room -= len(entry)
		if room < 0 || len(c.Exporters) == mostExporters-1 || len(name) > longestExporter || !printed(name) {
			room = max(room, -1)
			rest = exporter{min(mostOfAll, rest.Sent+one.Sent), min(mostOfAll, rest.Failed+one.Failed), max(rest.Queue, one.Queue)}
			continue
		}
		c.Exporters[name] = one
	}
	if rest != (exporter{}) {
		c.Exporters[otherExporters] = rest
	}
}

func (c *Counters) size() int {
	data, _ := json.Marshal(c)
	return len(data)
}

// printed reports whether the service takes a name: one line.
func printed(name string) bool {
	return !strings.ContainsFunc(name, func(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' })
}
