package start

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/headgate/headgate/layers/collector/internal/operation"
	"github.com/headgate/headgate/layers/collector/internal/standin"
	"github.com/headgate/headgate/layers/collector/internal/validate"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/extension"
	"go.opentelemetry.io/collector/otelcol"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/service/telemetry/otelconftelemetry"
)

type settings struct {
	Value string `mapstructure:"value"`
}

// starting is a processor of logs that does something when it is started.
type starting struct {
	standin.Nothing
	begin func(host component.Host) error
}

func (s starting) Start(_ context.Context, host component.Host) error { return s.begin(host) }

func processorThat(name string, begin func(set settings, host component.Host) error) processor.Factory {
	return processor.NewFactory(component.MustNewType(name), func() component.Config { return &settings{} },
		processor.WithLogs(func(
			_ context.Context, _ processor.Settings, config component.Config, _ consumer.Logs,
		) (processor.Logs, error) {
			return starting{begin: func(host component.Host) error { return begin(*config.(*settings), host) }}, nil
		}, component.StabilityLevelStable))
}

func factories() (otelcol.Factories, error) {
	all := otelcol.Factories{Telemetry: otelconftelemetry.NewFactory()}
	var err [4]error
	nop := component.MustNewType("nop")
	all.Receivers, err[0] = otelcol.MakeFactoryMap[receiver.Factory](standin.Receiver(nop))
	all.Exporters, err[1] = otelcol.MakeFactoryMap[exporter.Factory](standin.Exporter(nop))
	all.Extensions, err[2] = otelcol.MakeFactoryMap(extension.NewFactory(component.MustNewType("broken"),
		func() component.Config { return &settings{} },
		func(context.Context, extension.Settings, component.Config) (extension.Extension, error) {
			return nil, errors.New("no key")
		}, component.StabilityLevelStable), standin.Extension(nop))
	all.Processors, err[3] = otelcol.MakeFactoryMap(
		processorThat("right", func(settings, component.Host) error { return nil }),
		processorThat("refusing", func(set settings, _ component.Host) error {
			return fmt.Errorf("unknown policy %q of those of %q", set.Value, "refusing")
		}),
		processorThat("panicking", func(settings, component.Host) error { panic("out of my depth") }),
		processorThat("hanging", func(settings, component.Host) error { select {} }),
		processorThat("reading", func(settings, component.Host) error {
			_, err := os.Open("/no/such/database")
			return err
		}),
		processorThat("reporting", func(_ settings, host component.Host) error {
			componentstatus.ReportStatus(host, componentstatus.NewFatalErrorEvent(errors.New("lost its way")))
			return nil
		}),
		processorThat("asking", func(_ settings, host component.Host) error {
			if _, is := host.GetExtensions()[component.MustNewID("nop")]; !is {
				return errors.New("there is no extension nop")
			}
			return nil
		}),
	)
	return all, errors.Join(err[:]...)
}

func startedText(t *testing.T, text string) *Result {
	t.Helper()
	env := &operation.Environment{BuildInfo: component.BuildInfo{Version: "0.0.1"}, Factories: factories}
	result, err := Start(context.Background(), env, validate.Request{YAML: text})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func text(processors string, names ...string) string {
	return "receivers:\n  nop:\nextensions:\n  nop:\n  broken:\nexporters:\n  nop:\nprocessors:\n" + processors +
		"service:\n  extensions: [nop]\n  pipelines:\n    logs:\n      receivers: [nop]\n      processors: [" +
		strings.Join(names, ", ") + "]\n      exporters: [nop]\n"
}

func TestWhatStartingShowsIsAtItsComponent(t *testing.T) {
	for name, row := range map[string]struct {
		processors string
		names      []string
		expected   []string
	}{
		"nothing of what is right": {"  right:\n", []string{"right"}, nil},
		"an error at the value that it quotes": {
			"  refusing:\n    value: slowest\n", []string{"refusing"}, []string{"start_failed processors::refusing::value 10:12"},
		},
		"a panic": {"  panicking:\n", []string{"panicking"}, []string{"crash processors::panicking 9:3"}},
		"a file":  {"  reading:\n", []string{"reading"}, []string{"depends_on_host processors::reading 9:3"}},
		"a status": {
			"  reporting:\n", []string{"reporting"}, []string{"start_failed processors::reporting 9:3"},
		},
		"an extension that is there": {"  asking:\n", []string{"asking"}, nil},
		"all of them at once": {
			"  panicking:\n  refusing:\n  right:\n  refusing/two:\n", []string{"panicking", "refusing", "right", "refusing/two"},
			[]string{
				"crash processors::panicking 9:3", "start_failed processors::refusing 10:3",
				"start_failed processors::refusing/two 12:3",
			},
		},
		"nothing of what no pipeline lists": {"  right:\n  panicking:\n", []string{"right"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			result := startedText(t, text(row.processors, row.names...))
			var described []string
			for _, finding := range result.Findings {
				described = append(described, fmt.Sprintf("%s %s %d:%d", finding.Code, finding.ComponentPath, finding.Line, finding.Column))
			}
			slices.Sort(described)
			if !slices.Equal(described, row.expected) || len(result.Started) != len(row.names) {
				t.Errorf("%q, not %q; started %q", described, row.expected, result.Started)
			}
		})
	}
}

func TestAnExtensionThatIsNotBuiltIsTold(t *testing.T) {
	broken := strings.Replace(text("  right:\n", "right"), "extensions: [nop]", "extensions: [nop, broken]", 1)

	result := startedText(t, broken)

	if len(result.Findings) != 1 || result.Findings[0].ComponentPath != "extensions::broken" ||
		result.Findings[0].Message != "it is not built: no key" {
		t.Errorf("%+v", result.Findings)
	}
}

func TestWhatDoesNotEndIsLeftAndTheOthersAreStarted(t *testing.T) {
	result := startedText(t, text("  hanging:\n  refusing:\n", "refusing", "hanging"))

	codes := map[string]validate.Code{}
	for _, finding := range result.Findings {
		codes[finding.ComponentPath] = finding.Code
	}
	if codes["processors::hanging"] != validate.DependsOnHost || codes["processors::refusing"] != validate.StartFailed {
		t.Errorf("%+v", result.Findings)
	}
}

func TestNothingIsStartedOfATextWithoutPipelines(t *testing.T) {
	for _, text := range []string{"", "a: [", "receivers: {}", "service: {pipelines: {logs: {}}}"} {
		if result := startedText(t, text); len(result.Started)+len(result.Findings) != 0 {
			t.Errorf("%q: %+v", text, result)
		}
	}
}

const withoutFiles = "HEADGATE_OPENS_NOTHING"

// TestAProcessThatStartsComponentsOpensNothing limits a process of its own, for the limit cannot be taken off.
func TestAProcessThatStartsComponentsOpensNothing(t *testing.T) {
	if os.Getenv(withoutFiles) != "" {
		if err := openNothing(); err != nil {
			t.Fatal(err)
		}
		for name, attempt := range map[string]func() error{
			"a file":           func() error { _, err := os.Open("/proc/self/environ"); return err },
			"a new file":       func() error { _, err := os.Create("/tmp/headgate-opened"); return err },
			"a listener":       func() error { _, err := net.Listen("tcp", "127.0.0.1:0"); return err },
			"a Unix socket":    func() error { _, err := net.Dial("unix", "/run/docker.sock"); return err },
			"a datagram":       func() error { _, err := net.Dial("udp", "127.0.0.1:53"); return err },
			"another program":  func() error { return exec.Command("/bin/true").Run() },
			"more descriptors": func() error { _, _, err := os.Pipe(); return err },
		} {
			if attempt() == nil {
				t.Errorf("%s was possible", name)
			}
		}
		return
	}
	command := exec.Command("/proc/self/exe", "-test.run", "^"+t.Name()+"$", "-test.v")
	command.Env = []string{withoutFiles + "=1"}
	said, err := command.CombinedOutput()
	if err != nil || !strings.Contains(string(said), "--- PASS") {
		t.Errorf("%v:\n%s", err, said)
	}
}
