package host

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/headgate/headgate/layers/supervisor/internal/metrics"
	dto "github.com/prometheus/client_model/go"
)

// largestTotals bounds the keys of what is counted over time, with room for their numbers, in bytes; what has no room is
// counted together, by kind.
const (
	largestTotals = 4 << 10
	roomOfNumbers = 48
	// others are the components of a kind that have no room of their own.
	others = "other"
)

// Totals are what the collectors of this host counted since this program started at Run, in milliseconds since 1970, in
// the first Milliseconds since then: a report that is lost or repeated changes nothing. Of has, by
// `pipeline|pipeline|kind/id`, what the component accepted, refused, sent, failed to send and dropped, the bytes that it
// accepted and sent, and how full its queue is in percent; zeros at the end are left out.
type Totals struct {
	Run          int64              `json:"run"`
	Milliseconds int64              `json:"milliseconds"`
	Of           map[string][]int64 `json:"of"`
}

// flow is what one component counted, in the order of Totals; the last one is how full its queue is.
type flow [8]float64

const (
	ofAccepted = iota
	ofRefused
	ofSent
	ofFailed
	ofDropped
	ofAcceptedBytes
	ofSentBytes
	ofQueue
)

// part is a component of a signal, in one pipeline if the collector counts by pipeline.
type part struct{ component, signal, pipeline string }

// measure is what a metric says of the components of a kind.
type measure struct {
	prefix, kind string
	place        int
}

// measures are the collector's metrics of components, whose names end with a signal.
var measures = []measure{
	{"otelcol_receiver_accepted_", "receiver", ofAccepted},
	{"otelcol_receiver_refused_", "receiver", ofRefused},
	{"otelcol_receiver_failed_", "receiver", ofRefused},
	{"otelcol_exporter_sent_", "exporter", ofSent},
	{"otelcol_exporter_send_failed_", "exporter", ofFailed},
	{"otelcol_exporter_enqueue_failed_", "exporter", ofDropped},
	{"otelcol_processor_dropped_", "processor", ofDropped},
	{"otelcol_processor_incoming_items", "processor", ofAccepted},
	{"otelcol_processor_outgoing_items", "processor", ofSent},
}

// byPipeline are those of the gate `telemetry.newPipelineTelemetry`, which know pipelines. Sizes come with the level
// `detailed`. What receivers accept and exporters send is counted without the gate, so only their sizes are taken.
var byPipeline = []measure{
	{"otelcol_receiver_produced_size", "receiver", ofAcceptedBytes},
	{"otelcol_exporter_consumed_size", "exporter", ofSentBytes},
	{"otelcol_processor_consumed_items", "processor", ofAccepted},
	{"otelcol_processor_produced_items", "processor", ofSent},
	{"otelcol_processor_consumed_size", "processor", ofAcceptedBytes},
	{"otelcol_processor_produced_size", "processor", ofSentBytes},
	{"otelcol_connector_consumed_items", "connector", ofAccepted},
	{"otelcol_connector_produced_items", "connector", ofSent},
	{"otelcol_connector_consumed_size", "connector", ofAcceptedBytes},
	{"otelcol_connector_produced_size", "connector", ofSentBytes},
}

// flows are what the components counted since the collector's start.
func flows(families map[string]*dto.MetricFamily) map[part]flow {
	found := map[part]flow{}
	queued, room := map[part]float64{}, map[part]float64{}
	gated := false
	for name := range families {
		gated = gated || strings.HasPrefix(name, "otelcol_processor_consumed_items")
	}
	for name, family := range families {
		for _, one := range measures {
			if !strings.HasPrefix(name, one.prefix) || (gated && strings.HasSuffix(one.prefix, "_items")) {
				continue
			}
			for _, metric := range family.Metric {
				found[partOf(metric, one.kind, name)] = added(found, metric, one, name, "")
			}
		}
		for _, one := range byPipeline {
			if !strings.HasPrefix(name, one.prefix) {
				continue
			}
			for _, metric := range family.Metric {
				outcome := label(metric, "otelcol_component_outcome")
				found[partOf(metric, one.kind, name)] = added(found, metric, one, name, outcome)
			}
		}
		for _, metric := range family.Metric {
			switch {
			case strings.HasPrefix(name, "otelcol_exporter_queue_size"):
				queued[partOf(metric, "exporter", name)] += value(metric)
			case strings.HasPrefix(name, "otelcol_exporter_queue_capacity"):
				room[partOf(metric, "exporter", name)] += value(metric)
			}
		}
	}
	for id, size := range queued {
		total := found[id]
		total[ofQueue] = 100 * totals{queued: size, room: room[id]}.fill()
		found[id] = total
	}
	for id := range found {
		// A capture's own exporter says nothing of the version.
		if strings.HasSuffix(id.component, captureSuffix) {
			delete(found, id)
		}
	}
	return found
}

func added(found map[part]flow, metric *dto.Metric, one measure, name, outcome string) flow {
	total := found[partOf(metric, one.kind, name)]
	switch {
	case outcome != "failure" && outcome != "refused":
		total[one.place] += value(metric)
	case one.place == ofAccepted:
		// It did not take it, or what follows did not.
		total[ofRefused] += value(metric)
	}
	return total
}

// partOf is the component that a metric is of. The signal is at the end of the metric's name, or in a label.
func partOf(metric *dto.Metric, kind, name string) part {
	first := func(names ...string) string {
		for _, each := range names {
			if found := label(metric, each); found != "" {
				return found
			}
		}
		return ""
	}
	found := part{
		component: kind + "/" + first(kind, "otel_scope_otelcol_component_id", "otelcol_component_id"),
		signal:    first("otel_signal", "data_type", "otel_scope_otelcol_signal", "otelcol_signal"),
		pipeline:  first("otel_scope_otelcol_pipeline_id", "otelcol_pipeline_id"),
	}
	for _, signal := range signals {
		if strings.Contains(name, "_"+signal.counted) {
			found.signal = signal.name
		}
	}
	return found
}

// pipelines are the pipelines of each component of a configuration, by the part without its pipeline.
func pipelines(root map[string]any) map[part][]string {
	found := map[part][]string{}
	all, _ := metrics.At(root, "service", "pipelines").(map[string]any)
	for _, id := range slices.Sorted(maps.Keys(all)) {
		for section, kind := range map[string]string{"receivers": "receiver", "processors": "processor", "exporters": "exporter"} {
			listed, _ := metrics.At(all[id], section).([]any)
			for _, name := range listed {
				if text, is := name.(string); is {
					one := part{component: kind + "/" + strings.TrimSpace(text), signal: typeOf(id)}
					found[one] = append(found[one], id)
				}
			}
		}
	}
	return found
}

// counting sums the flows over the collectors that this program starts.
type counting struct {
	began time.Time
	last  map[part]flow
	sum   map[string]flow
	size  int
	at    time.Time
}

// add notes what a collector counted; `anew` is whether it was started since the reading before.
func (c *counting) add(read map[part]flow, anew bool, known map[part][]string, at time.Time) {
	if c.sum == nil {
		c.sum = map[string]flow{}
	}
	fills := map[string]float64{}
	for one, now := range read {
		var before flow
		if !anew {
			before = c.last[one]
		}
		key := c.key(one, known)
		total := c.sum[key]
		for place := range ofQueue {
			moved := now[place] - before[place]
			if moved < 0 {
				moved = now[place]
			}
			total[place] += moved
		}
		fills[key] = max(fills[key], now[ofQueue])
		c.sum[key] = total
	}
	for key, total := range c.sum {
		total[ofQueue] = fills[key]
		c.sum[key] = total
	}
	c.last, c.at = read, at
}

// key is under what a component is counted. One in several pipelines is counted for all of them together, if the
// collector does not tell them apart.
func (c *counting) key(one part, known map[part][]string) string {
	in := known[part{component: one.component, signal: one.signal}]
	if one.pipeline != "" {
		in = []string{one.pipeline}
	}
	key := strings.Join(in, "|") + "|" + one.component
	if _, counted := c.sum[key]; counted {
		return key
	}
	kind, _, _ := strings.Cut(one.component, "/")
	if c.size+len(key)+roomOfNumbers > largestTotals || len(key) > 2*longestExporter || !printed(key) {
		return "|" + kind + "/" + others
	}
	c.size += len(key) + roomOfNumbers
	return key
}

// totals are what was counted up to the last reading.
func (c *counting) totals() *Totals {
	told := &Totals{Run: c.began.UnixMilli(), Of: map[string][]int64{}}
	if !c.at.IsZero() {
		told.Milliseconds = c.at.Sub(c.began).Milliseconds()
	}
	for key, total := range c.sum {
		numbers := make([]int64, len(total))
		last := 0
		for place, number := range total {
			numbers[place] = whole(number)
			if numbers[place] != 0 {
				last = place + 1
			}
		}
		told.Of[key] = numbers[:last]
	}
	return told
}
