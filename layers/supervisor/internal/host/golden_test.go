package host

import (
	"bytes"
	"flag"
	"os"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
)

// `go test ./internal/host -update` writes the files, which the service's tests read as well.
var update = flag.Bool("update", false, "write testdata/order.binpb and testdata/report.binpb")

const golden = "testdata/"

// AcceptsStatus, OffersRemoteConfig, OffersConnectionSettings.
const serviceCapabilities = 0x23

func TestOrdersAndTheReportThatAnswersThemAreTheBytesThatTheServiceKnows(t *testing.T) {
	b := quiet(t)
	uid := []byte("0123456789abcdef")
	order := ordered(`{"orders":[{"id":"ord_01k9z6v7w8x9y0a1b2c3d4e5f6","do":"restart"},` +
		`{"id":"ord_01k9z6v7w8x9y0a1b2c3d4e5f7","do":"retry"},{"id":"ord_01k9z6v7w8x9y0a1b2c3d4e5f8","do":"components"}]}`)
	order.InstanceUid, order.Capabilities = uid, serviceCapabilities
	same(t, "order.binpb", order)
	b.asks(order)
	b.host.CollectorStarted()
	b.exits(1, time.Second)
	// A collector of somebody else on this machine may have been read at the default address.
	b.host.meter = meter{since: b.clock, flows: counting{began: b.clock}}
	b.host.meter.add(reading{components: map[string]totals{
		"receiver/otlp": {accepted: 7}, processID: {memory: 150 << 20, cpu: 1.5},
		"exporter/otlphttp/a": {sent: 5, failed: 2, queued: 1, room: 4, delivered: [3]float64{3, 0, 2}},
	}, flows: map[part]flow{
		{component: "receiver/otlp", signal: "traces"}:       {ofAccepted: 7},
		{component: "exporter/otlphttp/a", signal: "traces"}: {ofSent: 5, ofFailed: 2, ofQueue: 25},
	}}, nil, map[part][]string{{component: "receiver/otlp", signal: "traces"}: {"traces", "traces/b"}}, b.clock.Add(30*time.Second))
	report := full()
	report.InstanceUid, report.SequenceNum = uid, 4
	b.host.Outgoing(report)
	same(t, "report.binpb", report)
}

// same compares a message with the file of that name.
func same(t *testing.T, name string, message proto.Message) {
	t.Helper()
	content, err := proto.MarshalOptions{Deterministic: true}.Marshal(message)
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(golden+name, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden + name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(content, want) {
		t.Errorf("%s\nis not\n%s", content, want)
	}
}
