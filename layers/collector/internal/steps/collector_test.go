package steps

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/headgate/headgate/layers/collector/internal/operation"
	"github.com/headgate/headgate/layers/collector/internal/trace"
	"github.com/headgate/headgate/layers/collector/internal/tracefile"
	"github.com/open-telemetry/opentelemetry-collector-contrib/connector/countconnector"
	"github.com/open-telemetry/opentelemetry-collector-contrib/processor/filterprocessor"
	"github.com/open-telemetry/opentelemetry-collector-contrib/processor/groupbyattrsprocessor"
	"github.com/open-telemetry/opentelemetry-collector-contrib/processor/tailsamplingprocessor"
	"github.com/open-telemetry/opentelemetry-collector-contrib/processor/transformprocessor"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/provider/yamlprovider"
	"go.opentelemetry.io/collector/connector"
	"go.opentelemetry.io/collector/connector/forwardconnector"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/otelcol"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pipeline"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/collector/processor/batchprocessor"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/service/telemetry/otelconftelemetry"
)

// run is one collector in this process, with real components between a receiver that sends a sample once and an exporter
// that keeps what it gets.
type run struct {
	sample string
	sent   sync.WaitGroup
	mutex  sync.Mutex
	output []string
}

func (r *run) factories() (otelcol.Factories, error) {
	factories := otelcol.Factories{Telemetry: otelconftelemetry.NewFactory()}
	var failures [4]error
	factories.Receivers, failures[0] = otelcol.MakeFactoryMap(r.receiver())
	factories.Exporters, failures[1] = otelcol.MakeFactoryMap(r.exporter())
	factories.Processors, failures[2] = otelcol.MakeFactoryMap[processor.Factory](transformprocessor.NewFactory(),
		filterprocessor.NewFactory(), batchprocessor.NewFactory(), groupbyattrsprocessor.NewFactory(), tailsamplingprocessor.NewFactory())
	factories.Connectors, failures[3] = otelcol.MakeFactoryMap[connector.Factory](forwardconnector.NewFactory(),
		countconnector.NewFactory(), copying())
	return factories, errors.Join(failures[:]...)
}

type sending struct {
	component.ShutdownFunc
	start func()
}

func (s sending) Start(context.Context, component.Host) error {
	go s.start()
	return nil
}

// receiver sends the sample's documents, one after the other.
func (r *run) receiver() receiver.Factory {
	each := func(send func(document []byte)) sending {
		r.sent.Add(1)
		return sending{start: func() {
			defer r.sent.Done()
			for document := range strings.Lines(r.sample) {
				send([]byte(document))
			}
		}}
	}
	ctx := context.Background()
	return receiver.NewFactory(component.MustNewType("sample"), func() component.Config { return &struct{}{} },
		receiver.WithLogs(func(_ context.Context, _ receiver.Settings, _ component.Config, next consumer.Logs) (receiver.Logs, error) {
			return each(func(document []byte) {
				batch, _ := new(plog.JSONUnmarshaler).UnmarshalLogs(document)
				_ = next.ConsumeLogs(ctx, batch)
			}), nil
		}, component.StabilityLevelStable),
		receiver.WithTraces(func(_ context.Context, _ receiver.Settings, _ component.Config, next consumer.Traces) (receiver.Traces, error) {
			return each(func(document []byte) {
				batch, _ := new(ptrace.JSONUnmarshaler).UnmarshalTraces(document)
				_ = next.ConsumeTraces(ctx, batch)
			}), nil
		}, component.StabilityLevelStable),
		receiver.WithMetrics(func(_ context.Context, _ receiver.Settings, _ component.Config, next consumer.Metrics) (receiver.Metrics, error) {
			return each(func(document []byte) {
				batch, _ := new(pmetric.JSONUnmarshaler).UnmarshalMetrics(document)
				_ = next.ConsumeMetrics(ctx, batch)
			}), nil
		}, component.StabilityLevelStable))
}

type keeping struct {
	component.StartFunc
	component.ShutdownFunc
	consumer.ConsumeLogsFunc
	consumer.ConsumeTracesFunc
	consumer.ConsumeMetricsFunc
}

func (keeping) Capabilities() consumer.Capabilities { return consumer.Capabilities{} }

func (r *run) exporter() exporter.Factory {
	keep := func(document []byte, err error) error {
		r.mutex.Lock()
		defer r.mutex.Unlock()
		r.output = append(r.output, string(document))
		return err
	}
	return exporter.NewFactory(component.MustNewType("kept"), func() component.Config { return &struct{}{} },
		exporter.WithLogs(func(context.Context, exporter.Settings, component.Config) (exporter.Logs, error) {
			return keeping{ConsumeLogsFunc: func(_ context.Context, batch plog.Logs) error {
				return keep(new(plog.JSONMarshaler).MarshalLogs(batch))
			}}, nil
		}, component.StabilityLevelStable),
		exporter.WithTraces(func(context.Context, exporter.Settings, component.Config) (exporter.Traces, error) {
			return keeping{ConsumeTracesFunc: func(_ context.Context, batch ptrace.Traces) error {
				return keep(new(ptrace.JSONMarshaler).MarshalTraces(batch))
			}}, nil
		}, component.StabilityLevelStable),
		exporter.WithMetrics(func(context.Context, exporter.Settings, component.Config) (exporter.Metrics, error) {
			return keeping{ConsumeMetricsFunc: func(_ context.Context, batch pmetric.Metrics) error {
				return keep(new(pmetric.JSONMarshaler).MarshalMetrics(batch))
			}}, nil
		}, component.StabilityLevelStable))
}

// copying sends a copy of the first half of each batch to the first pipeline, and one of all of it to the second, as a
// connector that chooses does.
type copies struct {
	component.StartFunc
	component.ShutdownFunc
	router connector.LogsRouterAndConsumer
}

func (copies) Capabilities() consumer.Capabilities { return consumer.Capabilities{} }

func (c copies) ConsumeLogs(ctx context.Context, batch plog.Logs) error {
	ids := c.router.PipelineIDs()
	slices.SortFunc(ids, func(a, b pipeline.ID) int { return strings.Compare(a.String(), b.String()) })
	for n, id := range ids {
		next, err := c.router.Consumer(id)
		if err != nil {
			return err
		}
		part := plog.NewLogs()
		batch.CopyTo(part)
		records := part.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords()
		half, at := records.Len()/2, 0
		records.RemoveIf(func(plog.LogRecord) bool { at++; return n == 0 && at > half })
		if err := next.ConsumeLogs(ctx, part); err != nil {
			return err
		}
	}
	return nil
}

func copying() connector.Factory {
	return connector.NewFactory(component.MustNewType("copying"), func() component.Config { return &struct{}{} },
		connector.WithLogsToLogs(func(_ context.Context, _ connector.Settings, _ component.Config, next consumer.Logs) (connector.Logs, error) {
			router, is := next.(connector.LogsRouterAndConsumer)
			if !is {
				return nil, errors.New("it is not a router")
			}
			return copies{router: router}, nil
		}, component.StabilityLevelStable))
}

const quiet = "\nservice::telemetry: {metrics: {level: none}, logs: {level: error, output_paths: [/dev/null]}}\n"

// collect runs a configuration and returns its output, and its trace if a folder is given.
func collect(t *testing.T, text, sample, folder string) (output []string, events string) {
	t.Helper()
	r := &run{sample: sample}
	settings := otelcol.CollectorSettings{
		Factories: r.factories, DisableGracefulShutdown: true, SkipSettingGRPCLogger: true,
		ConfigProviderSettings: otelcol.ConfigProviderSettings{ResolverSettings: confmap.ResolverSettings{
			URIs:              []string{"yaml:" + text, "yaml:" + quiet},
			ProviderFactories: []confmap.ProviderFactory{yamlprovider.NewFactory()},
		}},
	}
	if folder != "" {
		settings = trace.New(folder).Around(settings)
	}
	collector, err := otelcol.NewCollector(settings)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() { ended <- collector.Run(context.Background()) }()
	for collector.GetState() == otelcol.StateStarting {
	}
	r.sent.Wait()
	collector.Shutdown()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{tracefile.First, tracefile.Second} {
		content, _ := os.ReadFile(filepath.Join(folder, name))
		events += string(content)
	}
	return r.output, events
}

// told runs a configuration with and without a trace, compares the outputs, and returns the steps.
func told(t *testing.T, text, sample string) *Document {
	t.Helper()
	folder := t.TempDir()
	plain, _ := collect(t, text, sample, "")
	output, events := collect(t, text, sample, folder)
	// The collector itself gives a batch to several exporters in no particular order.
	slices.Sort(plain)
	slices.Sort(output)
	if strings.Join(plain, "\n") != strings.Join(output, "\n") {
		t.Errorf("with a trace, the output is\n%s\nand without\n%s", output, plain)
	}
	return asked(t, events, text)
}

func environment() *operation.Environment {
	return &operation.Environment{Factories: new(run).factories}
}

func asked(t *testing.T, events, text string) *Document {
	t.Helper()
	question, err := json.Marshal(request{Events: events, YAML: text})
	if err != nil {
		t.Fatal(err)
	}
	result, err := Handle(context.Background(), environment(), question)
	if err != nil {
		t.Fatal(err)
	}
	return result.(*Document)
}
