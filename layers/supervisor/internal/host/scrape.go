package host

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
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
	// watchEvery is how much of the counters a restart of the collector may lose.
	watchEvery = 5 * time.Second
	// exporterPrefix begins the ids of exporters among those of components.
	exporterPrefix = "exporter/"
	// sentPrefix begins the names of what exporters sent; a signal follows.
	sentPrefix = "otelcol_exporter_sent_"
	// processID is the collector itself among components.
	processID = "process/"
	// uptimePrefix begins the name of the collector's own time since its start.
	uptimePrefix = "otelcol_process_uptime"
	targetInfo   = "target_info"
	// captureSuffix ends the ids of the components that internal/capture adds.
	captureSuffix = "/headgate_capture"
)

// reading is what the collector counts since its start, `uptime` seconds ago. Instance is who it says it is, or empty.
type reading struct {
	instance   string
	uptime     float64
	components map[string]totals
	flows      map[part]flow
}

// counted are the collector's metrics by name, without the unit and `_total` that some versions add, and what they say.
// A signal's name follows: spans, metric_points, log_records.
var counted = []struct {
	prefix, component, label string
	add                      func(*totals, float64)
}{
	{"otelcol_receiver_accepted_", "receiver/", "receiver", func(t *totals, v float64) { t.accepted += v }},
	{"otelcol_receiver_refused_", "receiver/", "receiver", func(t *totals, v float64) { t.refused += v }},
	// With a feature gate, the collector tells what failed in the receiver from what was refused behind it; nobody took either.
	{"otelcol_receiver_failed_", "receiver/", "receiver", func(t *totals, v float64) { t.refused += v }},
	{sentPrefix, exporterPrefix, "exporter", func(t *totals, v float64) { t.sent += v }},
	{"otelcol_exporter_send_failed_", exporterPrefix, "exporter", func(t *totals, v float64) { t.failed += v }},
	{"otelcol_exporter_enqueue_failed_", exporterPrefix, "exporter", func(t *totals, v float64) { t.dropped += v }},
	{"otelcol_processor_dropped_", "processor/", "processor", func(t *totals, v float64) { t.dropped += v }},
	{"otelcol_exporter_queue_size", exporterPrefix, "exporter", func(t *totals, v float64) { t.queued += v }},
	{"otelcol_exporter_queue_capacity", exporterPrefix, "exporter", func(t *totals, v float64) { t.room += v }},
	{"otelcol_process_memory_rss", processID, "", func(t *totals, v float64) { t.memory = v }},
	{"otelcol_process_cpu_seconds", processID, "", func(t *totals, v float64) { t.cpu += v }},
}

func read(families map[string]*dto.MetricFamily) *reading {
	found := &reading{components: map[string]totals{}, flows: flows(families)}
	for name, family := range families {
		if len(family.Metric) == 0 {
			continue
		}
		if strings.HasPrefix(name, uptimePrefix) {
			found.uptime = value(family.Metric[0])
		}
		if name == targetInfo {
			found.instance = label(family.Metric[0], "service_instance_id")
		}
		for _, known := range counted {
			if !strings.HasPrefix(name, known.prefix) {
				continue
			}
			for _, metric := range family.Metric {
				// A capture's own exporter says nothing of the version.
				if strings.HasSuffix(label(metric, known.label), captureSuffix) {
					continue
				}
				component := known.component + label(metric, known.label)
				total := found.components[component]
				known.add(&total, value(metric))
				total.countSent(name, value(metric))
				found.components[component] = total
			}
		}
	}
	return found
}

// countSent notes what was sent of a signal, if that is what the metric counts.
func (t *totals) countSent(name string, count float64) {
	for i, signal := range signals {
		if strings.HasPrefix(name, sentPrefix+signal.counted) {
			t.delivered[i] += count
		}
	}
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

// read returns what the collector of that instance serves at the address, nil if it serves nothing there.
func (s *scraper) read(ctx context.Context, address, instance string) *reading {
	if address == "" {
		return nil
	}
	families, err := s.families(ctx, address)
	found := read(families)
	if err == nil && instance != "" && found.instance != "" && found.instance != instance {
		err = fmt.Errorf("another collector serves %s", address)
	}
	if err != nil && !s.failed && ctx.Err() == nil {
		log.Printf("the collector's own metrics cannot be read, so Headgate does not see what it sends: %v", err)
	}
	s.failed = err != nil
	if err != nil {
		return nil
	}
	return found
}

func (s *scraper) families(ctx context.Context, address string) (map[string]*dto.MetricFamily, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/metrics", nil)
	if err != nil {
		return nil, err
	}
	answer, err := s.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers %s", address, answer.Status)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	return parser.TextToMetricFamilies(io.LimitReader(answer.Body, largestMetrics))
}
