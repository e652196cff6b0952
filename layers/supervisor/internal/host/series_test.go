package host

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/open-telemetry/opamp-go/protobufs"
)

const twoPipelines = `
receivers: {otlp: {}}
processors: {filter: {}}
exporters: {debug: {}, file: {}}
service:
  telemetry: {metrics: {readers: [{pull: {exporter: {prometheus: {host: 127.0.0.1, port: %s}}}}]}}
  pipelines:
    logs: {receivers: [otlp], processors: [filter], exporters: [debug, file]}
    logs/2: {receivers: [otlp], exporters: [file]}
`

// As collector 0.139.0 serves it, shortened.
const plain = `# TYPE otelcol_process_uptime_seconds_total counter
otelcol_process_uptime_seconds_total{} %[1]d
# TYPE otelcol_exporter_queue_size gauge
otelcol_exporter_queue_size{data_type="logs",exporter="debug"} 5
# TYPE otelcol_exporter_queue_capacity gauge
otelcol_exporter_queue_capacity{data_type="logs",exporter="debug"} 10
# TYPE otelcol_exporter_send_failed_log_records_total counter
otelcol_exporter_send_failed_log_records_total{exporter="file"} 0
# TYPE otelcol_exporter_sent_log_records_total counter
otelcol_exporter_sent_log_records_total{exporter="debug"} %[2]d
otelcol_exporter_sent_log_records_total{exporter="file"} %[3]d
# TYPE otelcol_processor_incoming_items_total counter
otelcol_processor_incoming_items_total{otel_signal="logs",processor="filter"} 6
# TYPE otelcol_processor_outgoing_items_total counter
otelcol_processor_outgoing_items_total{otel_signal="logs",processor="filter"} 3
# TYPE otelcol_receiver_accepted_log_records_total counter
otelcol_receiver_accepted_log_records_total{receiver="otlp",transport="http"} 4
otelcol_receiver_accepted_log_records_total{receiver="otlp",transport="grpc"} 2
`

// The same with the gate telemetry.newPipelineTelemetry and the level `detailed`.
const gated = plain + `# TYPE otelcol_processor_consumed_items_total counter
otelcol_processor_consumed_items_total{otel_scope_otelcol_component_id="filter",otel_scope_otelcol_component_kind="processor",otel_scope_otelcol_pipeline_id="logs",otel_scope_otelcol_signal="logs",otelcol_component_outcome="success"} 6
otelcol_processor_consumed_items_total{otel_scope_otelcol_component_id="filter",otel_scope_otelcol_component_kind="processor",otel_scope_otelcol_pipeline_id="logs",otel_scope_otelcol_signal="logs",otelcol_component_outcome="refused"} 1
# TYPE otelcol_processor_produced_items_total counter
otelcol_processor_produced_items_total{otel_scope_otelcol_component_id="filter",otel_scope_otelcol_component_kind="processor",otel_scope_otelcol_pipeline_id="logs",otel_scope_otelcol_signal="logs",otelcol_component_outcome="success"} 3
# TYPE otelcol_processor_consumed_size_total counter
otelcol_processor_consumed_size_total{otel_scope_otelcol_component_id="filter",otel_scope_otelcol_component_kind="processor",otel_scope_otelcol_pipeline_id="logs",otel_scope_otelcol_signal="logs",otelcol_component_outcome="success"} 117
# TYPE otelcol_exporter_consumed_size_total counter
otelcol_exporter_consumed_size_total{otel_scope_otelcol_component_id="file",otel_scope_otelcol_component_kind="exporter",otel_scope_otelcol_signal="logs",otelcol_component_outcome="success"} 183
# TYPE otelcol_receiver_produced_size_total counter
otelcol_receiver_produced_size_total{otel_scope_otelcol_component_id="otlp",otel_scope_otelcol_component_kind="receiver",otel_scope_otelcol_signal="logs",otelcol_component_outcome="success"} 117
`

// flowing is a host that runs two pipelines.
func flowing(t *testing.T) (*bench, *served) {
	t.Helper()
	b, collector := metered(t)
	b.host.meter.flows.began = b.clock
	port := b.host.file.metricsAddress[strings.LastIndex(b.host.file.metricsAddress, ":")+1:]
	b.runs("h2", fmt.Sprintf(twoPipelines, port))
	return b, collector
}

// totals are those that the next message tells, which is answered.
func (b *bench) totals() map[string][]int64 {
	b.Helper()
	_, said := b.exchange(&protobufs.AgentToServer{}, &protobufs.ServerToAgent{})
	data, err := json.Marshal(said["totals"])
	if err != nil {
		b.Fatal(err)
	}
	var told Totals
	if err := json.Unmarshal(data, &told); err != nil {
		b.Fatal(err)
	}
	return told.Of
}

func TestTotalsNameThePipelinesOfEachComponent(t *testing.T) {
	b, collector := flowing(t)
	for _, one := range []struct {
		serves string
		want   map[string][]int64
	}{
		{plain, map[string][]int64{
			"logs|logs/2|receiver/otlp": {6}, "logs|processor/filter": {6, 0, 3},
			"logs|exporter/debug": {0, 0, 3, 0, 0, 0, 0, 50}, "logs|logs/2|exporter/file": {0, 0, 9},
		}},
		{gated, map[string][]int64{
			"logs|logs/2|receiver/otlp": {6, 0, 0, 0, 0, 117}, "logs|processor/filter": {6, 1, 3, 0, 0, 117},
			"logs|exporter/debug": {0, 0, 3, 0, 0, 0, 0, 50}, "logs|logs/2|exporter/file": {0, 0, 9, 0, 0, 0, 183},
		}},
	} {
		b.host.meter = meter{since: b.clock, flows: counting{began: b.clock}}
		collector.text = fmt.Sprintf(one.serves, 10, 3, 9)
		b.clock = b.clock.Add(10 * time.Second)
		b.look()
		if got := b.totals(); !reflect.DeepEqual(got, one.want) {
			t.Errorf("%v\nis not\n%v", got, one.want)
		}
	}
}

func TestTotalsGoOnOverRestartsOfTheCollectorAndWhateverWasAnswered(t *testing.T) {
	b, collector := flowing(t)
	for i, uptime := range []int{10, 20, 5, 15} {
		collector.text = fmt.Sprintf(plain, uptime, uptime, uptime)
		b.clock = b.clock.Add(10 * time.Second)
		b.look()
		got, want := b.totals()["logs|exporter/debug"], []int64{10, 20, 25, 35}[i]
		if len(got) < 3 || got[2] != want {
			t.Errorf("after reading %d: %v, not %d", i, got, want)
		}
	}
}

func TestTotalsOfManyComponentsAreBounded(t *testing.T) {
	sum := counting{began: time.Unix(0, 0)}
	read := map[part]flow{}
	for i := range 500 {
		read[part{component: fmt.Sprintf("exporter/otlp/%03d", i), signal: "logs"}] = flow{ofSent: 1}
	}
	sum.add(read, true, nil, time.Unix(10, 0))
	sum.add(read, true, nil, time.Unix(20, 0))
	told := sum.totals()
	data, err := json.Marshal(told)
	if err != nil {
		t.Fatal(err)
	}
	var all int64
	for _, numbers := range told.Of {
		all += numbers[ofSent]
	}
	if len(data) > largestTotals || all != 1_000 || told.Of["|exporter/other"] == nil {
		t.Errorf("%d bytes, %d sent", len(data), all)
	}
}

func TestAReportThatIsTooLargeLeavesTotalsOut(t *testing.T) {
	large := report{V: 1, Name: "edge", Totals: &Totals{Of: map[string][]int64{strings.Repeat("x", largest): {1}}}}
	data, err := large.encode()
	if err != nil || string(data) != `{"v":1,"name":"edge"}` {
		t.Errorf("%s, %v", data, err)
	}
}
