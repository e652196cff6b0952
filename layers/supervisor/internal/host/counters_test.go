package host

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/headgate/headgate/layers/supervisor/internal/metrics"
	"github.com/headgate/headgate/layers/supervisor/internal/variables"
	"github.com/open-telemetry/opamp-go/protobufs"
)

// served is a collector's own metrics, of which a test sets the text.
type served struct {
	text string
}

func (s *served) ServeHTTP(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, s.text) }

// metered is a host whose collector serves metrics.
func metered(t *testing.T) (*bench, *served) {
	t.Helper()
	b, collector := newBench(t), &served{}
	server := httptest.NewServer(collector)
	t.Cleanup(server.Close)
	port := server.URL[strings.LastIndex(server.URL, ":")+1:]
	b.host.meter.since = b.clock
	b.runs("h1", "service: {telemetry: {metrics: {readers: [{pull: {exporter: {prometheus: {host: 0.0.0.0, port: "+port+"}}}}]}}}\n")
	return b, collector
}

// counted are the counters that the next message tells, as JSON, empty if it tells none.
func (b *bench) counted(answer *protobufs.ServerToAgent) string {
	b.Helper()
	_, said := b.exchange(&protobufs.AgentToServer{}, answer)
	if said["counters"] == nil {
		return ""
	}
	data, err := json.Marshal(said["counters"])
	if err != nil {
		b.Fatal(err)
	}
	return string(data)
}

func (s *served) counts(uptime, sent, failures int) {
	s.text = fmt.Sprintf(`# TYPE otelcol_process_uptime_seconds_total counter
otelcol_process_uptime_seconds_total{service_name="otelcol"} %d
# TYPE otelcol_receiver_accepted_spans_total counter
otelcol_receiver_accepted_spans_total{receiver="otlp",transport="grpc"} %d
# TYPE otelcol_exporter_sent_spans counter
otelcol_exporter_sent_spans{exporter="otlphttp/a"} %d
otelcol_exporter_sent_spans{exporter="debug"} 0
# TYPE otelcol_exporter_send_failed_log_records_total counter
otelcol_exporter_send_failed_log_records_total{exporter="otlphttp/a"} %d
# TYPE otelcol_process_memory_rss gauge
otelcol_process_memory_rss 104857600
# TYPE otelcol_process_cpu_seconds counter
otelcol_process_cpu_seconds %v
# TYPE otelcol_exporter_queue_size gauge
otelcol_exporter_queue_size{exporter="otlphttp/a"} 250
# TYPE otelcol_exporter_queue_capacity gauge
otelcol_exporter_queue_capacity{exporter="otlphttp/a"} 1000
`, uptime, sent+failures, sent, failures, 0.15*float64(uptime))
}

func TestCountersAreWhatMovedSinceTheLastAnsweredReport(t *testing.T) {
	b, collector := metered(t)
	collector.counts(10, 10, 0)
	b.clock = b.clock.Add(10 * time.Second)
	b.look()
	want := `{"accepted":10,"cpu":1500,"delivered":{"traces":10},"dropped":0,"exporters":{"otlphttp/a":{"failed":0,"queue":0.25,"sent":10}},"failed":0,"memory":104857600,"queue":0.25,"refused":0,"seconds":10,"sent":10}`
	if got := b.counted(&protobufs.ServerToAgent{}); got != want {
		t.Errorf("the first ones: %s", got)
	}
	if got := b.counted(&protobufs.ServerToAgent{}); got != "" {
		t.Errorf("nothing was read since: %s", got)
	}
	collector.counts(40, 15, 2)
	b.clock = b.clock.Add(30 * time.Second)
	b.look()
	want = `{"accepted":7,"cpu":4500,"delivered":{"traces":5},"dropped":0,"exporters":{"otlphttp/a":{"failed":2,"queue":0.25,"sent":5}},"failed":2,"memory":104857600,"queue":0.25,"refused":0,"seconds":30,"sent":5}`
	for _, answer := range []*protobufs.ServerToAgent{nil, {}} {
		if got := b.counted(answer); got != want {
			t.Errorf("%s", got)
		}
	}
	// It takes nothing any more, which somebody may want to know.
	b.clock = b.clock.Add(30 * time.Second)
	b.look()
	if got := b.counted(&protobufs.ServerToAgent{}); !strings.Contains(got, `"accepted":0`) || !strings.Contains(got, `"seconds":30`) {
		t.Errorf("%s", got)
	}
}

func TestACollectorThatIsStartedAgainLosesNoCounts(t *testing.T) {
	b, collector := metered(t)
	collector.counts(100, 50, 0)
	b.look()
	// It counts from zero, and more than before by now.
	collector.counts(5, 60, 1)
	b.clock = b.clock.Add(30 * time.Second)
	b.look()
	if got := b.counted(&protobufs.ServerToAgent{}); !strings.Contains(got, `"sent":110}`) || !strings.Contains(got, `"failed":1,`) {
		t.Errorf("%s", got)
	}
}

func TestWhatIsReadWhileAReportIsOnItsWayIsToldWithTheNext(t *testing.T) {
	b, collector := metered(t)
	collector.counts(10, 10, 0)
	b.clock = b.clock.Add(time.Second)
	b.look()
	message := &protobufs.AgentToServer{}
	b.host.Outgoing(message)
	collector.counts(20, 13, 0)
	b.clock = b.clock.Add(10 * time.Second)
	b.look()
	b.host.Answered(message, &protobufs.ServerToAgent{})
	if got := b.counted(&protobufs.ServerToAgent{}); !strings.Contains(got, `"seconds":10,"sent":3}`) {
		t.Errorf("%s", got)
	}
}

func TestTheCountsOfAnotherCollectorAreNotThisHosts(t *testing.T) {
	b, collector := metered(t)
	text, err := os.ReadFile(b.written)
	if err != nil {
		t.Fatal(err)
	}
	b.runs("h2", strings.Replace(string(text), "telemetry: {", "telemetry: {resource: {service.instance.id: ours}, ", 1))
	for instance, want := range map[string]bool{"ours": true, "another": false} {
		collector.counts(10, 10, 0)
		collector.text += fmt.Sprintf("# TYPE target_info gauge\ntarget_info{service_instance_id=%q} 1\n", instance)
		b.clock = b.clock.Add(10 * time.Second)
		b.look()
		if got := b.counted(&protobufs.ServerToAgent{}); (got != "") != want {
			t.Errorf("%s: %s", instance, got)
		}
	}
}

func TestAQueueForOneItemIsNeverFull(t *testing.T) {
	for room, want := range map[float64]float64{0: 0, 1: 0, 2: 0.5, 1000: 0} {
		if got := (totals{queued: 1, room: room}).fill(); got != want {
			t.Errorf("%v: %v", room, got)
		}
	}
}

func TestMetricsThatACollectorWouldNotServeMakeNoReportFail(t *testing.T) {
	b, collector := metered(t)
	for _, text := range []string{
		"otelcol_exporter_sent_spans{exporter=\"a\"} NaN\notelcol_exporter_queue_size{exporter=\"a\"} 1\n",
		"otelcol_exporter_sent_spans{exporter=\"a\"} +Inf\notelcol_exporter_queue_capacity{exporter=\"a\"} -1\n",
		"otelcol_exporter_sent_spans{exporter=\"a\"} -5\n",
		"otelcol_exporter_sent_spans{exporter=\"a\\nb\"} 5\n",
		"otelcol_exporter_sent_spans{exporter=\"" + strings.Repeat("x", 5_000) + "\"} 5\n",
		"<html>",
		strings.Repeat("otelcol_exporter_sent_spans 1\n", 200_000),
	} {
		collector.text = text
		b.clock = b.clock.Add(time.Second)
		b.look()
		_, said := b.exchange(full(), &protobufs.ServerToAgent{})
		if said["name"] != "web-1" || strings.Contains(fmt.Sprint(said["counters"]), "-") {
			t.Errorf("%.60q: %v", text, said)
		}
	}
	if known := len(b.host.meter.sum); known > mostCounted {
		t.Errorf("%d", known)
	}
}

func TestManyExportersAreSummedAndThoseThatFailAreNamed(t *testing.T) {
	for _, length := range []int{1, 40, 100, 255, 256, 2_000} {
		counted := &Counters{Sent: mostOfAll, Failed: mostOfAll, Queue: 0.99, Exporters: map[string]exporter{"failing": {Failed: 1}}}
		for i := range 500 {
			counted.Exporters[fmt.Sprintf("otlphttp/%0*d", length, i)] = exporter{Sent: int64(i), Queue: 0.5}
		}
		counted.bound()
		data, err := json.Marshal(counted)
		sent := int64(0)
		for _, one := range counted.Exporters {
			sent += one.Sent
		}
		if err != nil || len(data) > 1024 || len(counted.Exporters) > 16 || counted.Exporters["failing"].Failed != 1 || sent != 499*500/2 || counted.Exporters["other"].Queue != 0.5 {
			t.Errorf("%d bytes: %s, %v", len(data), data, err)
		}
	}
}

func TestWhatGoesToExportersThatDeliverNowhereIsNotDelivered(t *testing.T) {
	b, collector := metered(t)
	text, err := os.ReadFile(b.written)
	if err != nil {
		t.Fatal(err)
	}
	b.runs("h2", "exporters: {debug: {}, nop/a: {}, otlp: {}, file/memory: {path: /dev/shm/a/b}, file/null: {path: /dev/null}, file/disk: {path: "+b.folder+"/a}}\n"+string(text))
	collector.text = ""
	for place, exporter := range []string{"debug", "nop/a", "otlp", "file/memory", "file/null", "file/disk"} {
		for _, signal := range []string{"spans", "log_records", "metric_points"} {
			collector.text += fmt.Sprintf("otelcol_exporter_sent_%s_total{exporter=%q} %d\n", signal, exporter, 1<<place)
		}
	}
	b.clock = b.clock.Add(time.Second)
	b.look()
	want := int64(1<<2 + 1<<5)
	if vanishes(b.folder + "/a") {
		want = 1 << 2
	}
	got := b.host.meter.counters()
	for _, signal := range []string{"logs", "metrics", "traces"} {
		if got.Delivered[signal] != want {
			t.Errorf("%s: %d of %d are delivered, not %d", signal, got.Delivered[signal], got.Sent/3, want)
		}
	}
	if got.Sent != 3*(1<<6-1) {
		t.Errorf("%d were sent", got.Sent)
	}
}

func TestMetricsAreReadWhereTheCollectorWasToldToServeThem(t *testing.T) {
	b, collector := metered(t)
	collector.counts(10, 10, 0)
	served, err := os.ReadFile(b.written)
	if err != nil {
		t.Fatal(err)
	}
	b.runs("h2", "service: {telemetry: {metrics: {level: none}}}\n")
	if err := os.WriteFile(filepath.Join(b.folder, metrics.Name), served, 0o600); err != nil {
		t.Fatal(err)
	}
	b.clock = b.clock.Add(10 * time.Second)
	b.look()
	if got := b.counted(&protobufs.ServerToAgent{}); !strings.Contains(got, `"sent":10`) {
		t.Errorf("%q", got)
	}
}

func TestWhatTheTextTakesFromVariablesIsReadWithThoseThatCameWithIt(t *testing.T) {
	b, collector := metered(t)
	port := b.host.file.metricsAddress[strings.LastIndex(b.host.file.metricsAddress, ":")+1:]
	b.host.settings.Variables = variables.Store{Storage: b.folder}
	// The variables of the install name another port, and a file on the disk.
	t.Setenv("METRICS_PORT", "1")
	t.Setenv("OUTPUT", b.folder+"/out.json")
	digest := strings.Repeat("1a", 32)
	folder := filepath.Join(b.folder, "programs", "variables")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	content := fmt.Sprintf(`{"digest":%q,"variables":{"METRICS_PORT":%q,"OUTPUT":"/dev/null"},"removed":[]}`, digest, port)
	if err := os.WriteFile(filepath.Join(folder, digest+".json"), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	b.runs("h2", `exporters: {"file/a": {path: "${env:OUTPUT}"}}
service: {telemetry: {resource: {headgate.variables: `+digest+`}, metrics: {readers: [{pull: {exporter: {prometheus: {host: localhost, port: "${env:METRICS_PORT}"}}}}]}}}
`)
	collector.text = "otelcol_exporter_sent_spans_total{exporter=\"file/a\"} 5\n"
	b.clock = b.clock.Add(time.Second)
	b.look()
	if got := b.host.meter.counters(); got == nil || got.Sent != 5 || got.Delivered["traces"] != 0 {
		t.Errorf("asked at %s: %+v", b.host.file.metricsAddress, got)
	}
}
