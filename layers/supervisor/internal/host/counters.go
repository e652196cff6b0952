package host

import (
	"cmp"
	"context"
	"io"
	"log"
	"maps"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

const (
	// The collector's own metrics have some hundred lines.
	largestMetrics = 4 << 20
	scrapeTimeout  = 2 * time.Second
	// mostExporters are reported one by one, so that a report with counters stays under 1 KB; the others are summed.
	mostExporters = 8
)

// Counters are the collector's own, of log records, spans and data points together, since the last answered report.
// Queue is how full the fullest sending queue is, from 0 to 1.
type Counters struct {
	Seconds   int                 `json:"seconds"`
	Accepted  int64               `json:"accepted"`
	Refused   int64               `json:"refused"`
	Sent      int64               `json:"sent"`
	Failed    int64               `json:"failed"`
	Dropped   int64               `json:"dropped"`
	Queue     float64             `json:"queue"`
	Exporters map[string]exporter `json:"exporters,omitempty"`
}

type exporter struct {
	Sent   int64   `json:"sent"`
	Failed int64   `json:"failed"`
	Queue  float64 `json:"queue"`
}

// exporterPrefix begins the ids of exporters among those of components.
const exporterPrefix = "exporter/"

// totals are the counters of one component since the collector's start.
type totals struct {
	accepted, refused, sent, failed, dropped float64
	queued, room                             float64
}

// since is what was added since then. A collector that was restarted counts from zero.
func (t totals) since(before totals) totals {
	moved := func(now, then float64) float64 {
		if now < then {
			return now
		}
		return now - then
	}
	return totals{
		accepted: moved(t.accepted, before.accepted), refused: moved(t.refused, before.refused),
		sent: moved(t.sent, before.sent), failed: moved(t.failed, before.failed), dropped: moved(t.dropped, before.dropped),
	}
}

// fill is how full the sending queue is, from 0 to 1, in hundredths.
func (t totals) fill() float64 {
	if t.room <= 0 || t.queued <= 0 {
		return 0
	}
	return math.Round(100*min(1, t.queued/t.room)) / 100
}

func (c *Counters) isStill() bool {
	return c.Accepted+c.Refused+c.Sent+c.Failed+c.Dropped == 0 && c.Queue == 0
}

// bound sums the exporters beyond the most telling ones: those that fail, then those that send most.
func (c *Counters) bound() {
	if len(c.Exporters) <= mostExporters {
		return
	}
	names := slices.SortedFunc(maps.Keys(c.Exporters), func(a, b string) int {
		one, other := c.Exporters[a], c.Exporters[b]
		return cmp.Or(cmp.Compare(other.Failed, one.Failed), cmp.Compare(other.Sent, one.Sent), strings.Compare(a, b))
	})
	rest := exporter{}
	for _, name := range names[mostExporters-1:] {
		one := c.Exporters[name]
		rest = exporter{rest.Sent + one.Sent, rest.Failed + one.Failed, max(rest.Queue, one.Queue)}
		delete(c.Exporters, name)
	}
	c.Exporters["other"] = rest
}

// counted are the collector's metrics by name, without the unit and `_total` that some versions add, and what they say.
// A signal's name follows: spans, metric_points, log_records.
var counted = []struct {
	prefix, component, label string
	add                      func(*totals, float64)
}{
	{"otelcol_receiver_accepted_", "receiver/", "receiver", func(t *totals, v float64) { t.accepted += v }},
	{"otelcol_receiver_refused_", "receiver/", "receiver", func(t *totals, v float64) { t.refused += v }},
	{"otelcol_exporter_sent_", exporterPrefix, "exporter", func(t *totals, v float64) { t.sent += v }},
	{"otelcol_exporter_send_failed_", exporterPrefix, "exporter", func(t *totals, v float64) { t.failed += v }},
	{"otelcol_exporter_enqueue_failed_", exporterPrefix, "exporter", func(t *totals, v float64) { t.dropped += v }},
	{"otelcol_processor_dropped_", "processor/", "processor", func(t *totals, v float64) { t.dropped += v }},
	{"otelcol_exporter_queue_size", exporterPrefix, "exporter", func(t *totals, v float64) { t.queued += v }},
	{"otelcol_exporter_queue_capacity", exporterPrefix, "exporter", func(t *totals, v float64) { t.room += v }},
}

// sums are the totals by component.
func sums(families map[string]*dto.MetricFamily) map[string]totals {
	found := map[string]totals{}
	for name, family := range families {
		for _, known := range counted {
			if !strings.HasPrefix(name, known.prefix) {
				continue
			}
			for _, metric := range family.Metric {
				component := known.component + label(metric, known.label)
				total := found[component]
				known.add(&total, value(metric))
				found[component] = total
			}
		}
	}
	return found
}

func label(metric *dto.Metric, name string) string {
	for _, pair := range metric.Label {
		if pair.GetName() == name {
			return pair.GetValue()
		}
	}
	return ""
}

func value(metric *dto.Metric) float64 {
	switch {
	case metric.Counter != nil:
		return metric.Counter.GetValue()
	case metric.Gauge != nil:
		return metric.Gauge.GetValue()
	case metric.Untyped != nil:
		return metric.Untyped.GetValue()
	}
	return 0
}

// scraper reads the collector's own metrics, as a Prometheus server would.
type scraper struct {
	client *http.Client
	told   map[string]totals
	at     time.Time
	// next is what the message on its way tells, to be kept once it is answered.
	next   map[string]totals
	nextAt time.Time
	failed bool
}

func newScraper() *scraper {
	return &scraper{
		client: &http.Client{
			Timeout:       scrapeTimeout,
			Transport:     &http.Transport{DisableKeepAlives: true},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// since returns the counters since the last answered report; nil if there are none, or nothing has moved.
func (s *scraper) since(address string, now time.Time) *Counters {
	s.next = nil
	if address == "" {
		return nil
	}
	read, err := s.read(address)
	if err != nil {
		if !s.failed {
			log.Printf("the collector's own metrics cannot be read, so Headgate does not see what it sends: %v", err)
		}
		s.failed = true
		return nil
	}
	s.failed = false
	s.next, s.nextAt = read, now
	if s.told == nil {
		// Nothing to compare with yet.
		s.commit()
		return nil
	}
	counted := &Counters{Seconds: int(math.Round(now.Sub(s.at).Seconds())), Exporters: map[string]exporter{}}
	for id, total := range read {
		moved := total.since(s.told[id])
		counted.Accepted += int64(moved.accepted)
		counted.Refused += int64(moved.refused)
		counted.Sent += int64(moved.sent)
		counted.Failed += int64(moved.failed)
		counted.Dropped += int64(moved.dropped)
		counted.Queue = max(counted.Queue, total.fill())
		if name, isExporter := strings.CutPrefix(id, exporterPrefix); isExporter {
			counted.Exporters[name] = exporter{int64(moved.sent), int64(moved.failed), total.fill()}
		}
	}
	if counted.isStill() {
		return nil
	}
	counted.bound()
	return counted
}

// commit keeps what was told. The counters of a report that was not answered are told again with the next one.
func (s *scraper) commit() {
	if s.next != nil {
		s.told, s.at, s.next = s.next, s.nextAt, nil
	}
}

func (s *scraper) read(address string) (map[string]totals, error) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/metrics", nil)
	if err != nil {
		return nil, err
	}
	answer, err := s.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(io.LimitReader(answer.Body, largestMetrics))
	if err != nil {
		return nil, err
	}
	return sums(families), nil
}
