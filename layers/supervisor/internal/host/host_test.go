package host

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/open-telemetry/opamp-go/protobufs"
)

const (
	applied = protobufs.RemoteConfigStatuses_RemoteConfigStatuses_APPLIED
	failed  = protobufs.RemoteConfigStatuses_RemoteConfigStatuses_FAILED
)

// bench is a host whose service answers what a test lets it answer.
type bench struct {
	*testing.T
	host    *Host
	folder  string
	written string
	clock   time.Time
}

func newBench(t *testing.T) *bench {
	t.Helper()
	folder := t.TempDir()
	b := &bench{T: t, folder: folder, written: filepath.Join(folder, "effective.yaml"), clock: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	b.start()
	return b
}

// start is a start of the program on this host.
func (b *bench) start() {
	b.host = New(Settings{
		Version: "1.2.3", Name: "web-1", Labels: map[string]string{"zone": "a"}, Storage: b.folder, Effective: b.written,
	})
	b.host.now = func() time.Time { return b.clock }
}

func (b *bench) write(text string) {
	b.Helper()
	if err := os.WriteFile(b.written, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
}

// exchange sends a message, which the service answers, and returns it with its report as JSON, empty if it has none.
func (b *bench) exchange(message *protobufs.AgentToServer, answer *protobufs.ServerToAgent) (*protobufs.AgentToServer, map[string]any) {
	b.Helper()
	b.host.Outgoing(message)
	if answer != nil {
		b.host.Answered(message, answer)
	}
	said := map[string]any{}
	if custom := message.CustomMessage; custom != nil {
		if custom.Capability != "io.headgate.host" || custom.Type != "report" {
			b.Errorf("%s %s", custom.Capability, custom.Type)
		}
		if err := json.Unmarshal(custom.Data, &said); err != nil {
			b.Fatal(err)
		}
	}
	return message, said
}

func full() *protobufs.AgentToServer {
	return &protobufs.AgentToServer{AgentDescription: &protobufs.AgentDescription{}}
}

func status(hash string, is protobufs.RemoteConfigStatuses) *protobufs.AgentToServer {
	return &protobufs.AgentToServer{RemoteConfigStatus: &protobufs.RemoteConfigStatus{LastRemoteConfigHash: []byte(hash), Status: is}}
}

func offer(hash, text string) *protobufs.ServerToAgent {
	files := map[string]*protobufs.AgentConfigFile{"": {Body: []byte(text)}}
	return &protobufs.ServerToAgent{RemoteConfig: &protobufs.AgentRemoteConfig{
		ConfigHash: []byte(hash), Config: &protobufs.AgentConfigMap{ConfigMap: files},
	}}
}

// runs lets the host be offered a text, and apply it.
func (b *bench) runs(hash, text string) {
	b.Helper()
	b.exchange(&protobufs.AgentToServer{}, offer(hash, text))
	b.write(text)
	b.exchange(status(hash, applied), &protobufs.ServerToAgent{})
}

func (b *bench) exits(times int, every time.Duration) {
	for range times {
		b.clock = b.clock.Add(every)
		b.host.Exited()
	}
}

func TestAFullReportNamesTheHostAndOthersOnlyWhatChanged(t *testing.T) {
	b := newBench(t)
	message, said := b.exchange(full(), &protobufs.ServerToAgent{})

	if said["name"] != "web-1" || !reflect.DeepEqual(said["labels"], map[string]any{"zone": "a"}) {
		t.Errorf("%v", said)
	}
	if !reflect.DeepEqual(said["supervisor"], map[string]any{"version": "1.2.3"}) {
		t.Errorf("%v", said)
	}
	if !reflect.DeepEqual(message.CustomCapabilities.GetCapabilities(), []string{"io.headgate.host"}) {
		t.Errorf("%v", message.CustomCapabilities)
	}
	if _, said := b.exchange(&protobufs.AgentToServer{}, &protobufs.ServerToAgent{}); len(said) != 0 {
		t.Errorf("nothing has changed, and it says %v", said)
	}
	b.host.Exited()
	if _, said := b.exchange(&protobufs.AgentToServer{}, nil); said["exits"] == nil || said["name"] != nil {
		t.Errorf("%v", said)
	}
	if _, said := b.exchange(&protobufs.AgentToServer{}, &protobufs.ServerToAgent{}); said["exits"] == nil {
		t.Errorf("what was not answered is not said again: %v", said)
	}
}

func TestTheHashIsThatOfTheAssignedTextAlsoAfterARestart(t *testing.T) {
	b := newBench(t)
	b.runs("h1", "receivers: {}\nexporters: {otlp: {headers: {a: ${env:SECRET}}}}\n")
	b.start()
	_, said := b.exchange(full(), &protobufs.ServerToAgent{})

	// sha256sum of the text
	const want = "ee35299c00a39c728e8401855f9f4a706d40defca23da660f821a8548c6e9682"
	config := said["config"].(map[string]any)
	if config["hash"] != want || fmt.Sprint(config["drifted"]) != "[]" {
		t.Errorf("%v", said)
	}
	info, err := os.Stat(filepath.Join(b.folder, configsFile))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}

func TestAChangeByHandIsToldByItsTopLevelKeysWithoutValues(t *testing.T) {
	b := newBench(t)
	b.runs("h1", "receivers: {a: 1}\nexporters: {b: 2}\n")
	for text, keys := range map[string]string{
		"exporters: {b: 2} # a comment\nreceivers:\n  a: 1\n":              "[]",
		"receivers: {a: hidden}\nexporters: {b: 2}\n":                      "[receivers]",
		"receivers: {a: 1}\nprocessors: {hidden: 3}\n":                     "[exporters processors]",
		"receivers: {a: 1}\nexporters: {b: 2}\n\"${env:X}\\nhidden\": 4\n": "[envXhidden]",
		"receivers: {": "[exporters receivers]",
	} {
		b.write(text)
		message, said := b.exchange(full(), &protobufs.ServerToAgent{})
		if got := fmt.Sprint(said["config"].(map[string]any)["drifted"]); got != keys {
			t.Errorf("%q: %s instead of %s", text, got, keys)
		}
		if keys != "[envXhidden]" && strings.Contains(string(message.CustomMessage.Data), "hidden") {
			t.Errorf("a value left this host: %s", message.CustomMessage.Data)
		}
	}
}

func TestThreeEndsSoonAfterAnApplyAreAFailureOfThatConfiguration(t *testing.T) {
	b := newBench(t)
	b.runs("good", "receivers: {a: 1}\n")
	b.runs("bad", "receivers: {a: 2}\n")
	b.exits(2, 25*time.Second)
	if message, _ := b.exchange(&protobufs.AgentToServer{}, &protobufs.ServerToAgent{}); message.RemoteConfigStatus != nil {
		t.Errorf("two ends: %v", message)
	}
	b.exits(1, 25*time.Second)
	message, said := b.exchange(&protobufs.AgentToServer{}, offer("good", "receivers: {a: 1}\n"))
	if got := message.RemoteConfigStatus; got.GetStatus() != failed || string(got.LastRemoteConfigHash) != "bad" ||
		!strings.HasPrefix(got.ErrorMessage, "The collector ended 3 times in the 10 minutes after") {
		t.Errorf("%v", got)
	}
	if said["crash_loop"].(map[string]any)["exits"] != 3.0 {
		t.Errorf("%v", said)
	}
	// The supervisor itself still believes in it.
	if message, _ := b.exchange(status("bad", applied), &protobufs.ServerToAgent{}); message.RemoteConfigStatus.Status != failed {
		t.Errorf("%v", message)
	}
	message, _ = b.exchange(status("good", applied), &protobufs.ServerToAgent{})
	if message.RemoteConfigStatus.Status != applied {
		t.Errorf("%v", message)
	}
	if message, _ := b.exchange(&protobufs.AgentToServer{}, &protobufs.ServerToAgent{}); message.RemoteConfigStatus != nil {
		t.Errorf("%v", message)
	}
}

func TestLaterEndsAreNoFailureOfTheConfiguration(t *testing.T) {
	b := newBench(t)
	b.runs("h1", "receivers: {a: 1}\n")
	b.clock = b.clock.Add(11 * time.Minute)
	b.exits(5, time.Minute)
	message, said := b.exchange(&protobufs.AgentToServer{}, &protobufs.ServerToAgent{})
	if message.RemoteConfigStatus != nil || said["exits"].(map[string]any)["since_apply"] != 5.0 {
		t.Errorf("%v, %v", message, said)
	}
}

func TestWithoutTheServiceTheHostGoesBackByItselfOnce(t *testing.T) {
	b := newBench(t)
	b.runs("good", "receivers: {a: 1}\n")
	b.runs("bad", "receivers: {a: 2}\n")
	b.exits(3, time.Second)
	b.start()
	b.exits(3, time.Second)
	if answer := b.host.WithoutService(&protobufs.AgentToServer{}); answer != nil {
		t.Errorf("a new process does not know when it was applied: %v", answer)
	}
	b.runs("good", "receivers: {a: 1}\n")
	b.runs("bad", "receivers: {a: 2}\n")
	b.exits(3, time.Second)
	answer := b.host.WithoutService(&protobufs.AgentToServer{InstanceUid: []byte("uid")})
	if string(answer.GetRemoteConfig().GetConfigHash()) != "good" || string(answer.InstanceUid) != "uid" {
		t.Errorf("%v", answer)
	}
	if again := b.host.WithoutService(&protobufs.AgentToServer{}); again != nil {
		t.Errorf("%v", again)
	}
	message, said := b.exchange(status("good", applied), &protobufs.ServerToAgent{})
	if message.RemoteConfigStatus.Status != applied || said["crash_loop"] == nil {
		t.Errorf("the service must know why: %v, %v", message, said)
	}
}

func TestCountersAreWhatMovedSinceTheLastAnsweredReport(t *testing.T) {
	b := newBench(t)
	sent, failures := 10, 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, `# TYPE otelcol_receiver_accepted_spans_total counter
otelcol_receiver_accepted_spans_total{receiver="otlp",transport="grpc"} %d
# TYPE otelcol_exporter_sent_spans counter
otelcol_exporter_sent_spans{exporter="otlphttp/a"} %d
otelcol_exporter_sent_spans{exporter="debug"} 1
# TYPE otelcol_exporter_send_failed_log_records_total counter
otelcol_exporter_send_failed_log_records_total{exporter="otlphttp/a"} %d
# TYPE otelcol_exporter_queue_size gauge
otelcol_exporter_queue_size{exporter="otlphttp/a"} 250
# TYPE otelcol_exporter_queue_capacity gauge
otelcol_exporter_queue_capacity{exporter="otlphttp/a"} 1000
`, sent+failures, sent, failures)
	}))
	defer server.Close()
	port := server.URL[strings.LastIndex(server.URL, ":")+1:]
	b.runs("h1", "service: {telemetry: {metrics: {readers: [{pull: {exporter: {prometheus: {host: 0.0.0.0, port: "+port+"}}}}]}}}\n")
	b.exchange(&protobufs.AgentToServer{}, &protobufs.ServerToAgent{})
	b.clock, sent, failures = b.clock.Add(30*time.Second), 15, 2
	want := `{"seconds":30,"accepted":7,"refused":0,"sent":5,"failed":2,"dropped":0,"queue":0.25,"exporters":{"debug":{"sent":0,"failed":0,"queue":0},"otlphttp/a":{"sent":5,"failed":2,"queue":0.25}}}`
	for _, answer := range []*protobufs.ServerToAgent{nil, {}} {
		message, _ := b.exchange(&protobufs.AgentToServer{}, answer)
		if !strings.Contains(string(message.CustomMessage.GetData()), want) {
			t.Errorf("%s", message.CustomMessage.GetData())
		}
	}
	// The collector was started again, and counts from zero.
	sent, failures = 3, 0
	if message, _ := b.exchange(&protobufs.AgentToServer{}, &protobufs.ServerToAgent{}); !strings.Contains(string(message.CustomMessage.GetData()), `"sent":3,"failed":0,"dropped"`) {
		t.Errorf("%s", message.CustomMessage.GetData())
	}
}

func TestMetricsAreAskedOfThisMachineOnly(t *testing.T) {
	for text, want := range map[string]string{
		"receivers: {}": "127.0.0.1:8888",
		"service: {telemetry: {metrics: {level: none}}}":                                                                        "",
		"service: {telemetry: {metrics: {readers: [{pull: {exporter: {prometheus: {host: 169.254.169.254, port: 80}}}}]}}}":     "",
		"service: {telemetry: {metrics: {readers: [{pull: {exporter: {prometheus: {host: example.com, port: 80}}}}]}}}":         "",
		"service: {telemetry: {metrics: {readers: [{pull: {exporter: {prometheus: {host: \"::1\", port: 9}}}}]}}}":              "[::1]:9",
		"service: {telemetry: {metrics: {readers: [{pull: {exporter: {prometheus: {host: localhost, port: \"${env:P}\"}}}}]}}}": "",
		"service: {telemetry: {metrics: {readers: [{periodic: {}}]}}}":                                                          "",
	} {
		_, root, err := digests([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if got := metricsAddress(root); got != want {
			t.Errorf("%s: %q instead of %q", text, got, want)
		}
	}
}

func TestManyExportersAreSummedAndThoseThatFailAreNamed(t *testing.T) {
	counted := &Counters{Exporters: map[string]exporter{"failing": {Failed: 1}}}
	for i := range 500 {
		counted.Exporters[fmt.Sprintf("otlphttp/%0100d", i)] = exporter{Sent: int64(i)}
	}
	counted.bound()
	data, err := json.Marshal(counted)
	if err != nil || len(data) > 2048 || len(counted.Exporters) != mostExporters || counted.Exporters["failing"].Failed != 1 {
		t.Errorf("%d bytes: %s, %v", len(data), data, err)
	}
}
