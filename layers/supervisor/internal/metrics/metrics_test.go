package metrics_test

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/headgate/headgate/layers/supervisor/internal/metrics"
	"go.yaml.in/yaml/v3"
)

func TestMetricsAreAskedOfThisMachineOnly(t *testing.T) {
	t.Setenv("METRICS_PORT", "9999")
	t.Setenv("ELSEWHERE", "169.254.169.254")
	served := func(at string) string {
		return "service: {telemetry: {metrics: {readers: [{pull: {exporter: {prometheus: {" + at + "}}}}]}}}"
	}
	for text, want := range map[string]string{
		"receivers: {}": "127.0.0.1:8888",
		"service: {telemetry: {metrics: {level: none}}}":                      "",
		"service: {telemetry: {metrics: {readers: [{periodic: {}}]}}}":        "",
		served("host: 169.254.169.254, port: 80"):                             "",
		served("host: example.com, port: 80"):                                 "",
		served(`host: "::1", port: 9`):                                        "[::1]:9",
		served(`host: localhost, port: "${env:METRICS_PORT}"`):                "127.0.0.1:9999",
		served(`host: "${env:NOT_SET:-0.0.0.0}", port: "${METRICS_PORT:-1}"`): "127.0.0.1:9999",
		served(`host: localhost, port: "${env:NOT_SET}"`):                     "",
		served(`host: "${env:ELSEWHERE}", port: 80`):                          "",
		served("host: localhost, port: 0"):                                    "",
		served("host: localhost, port: 1"):                                    "127.0.0.1:1",
		served("host: localhost, port: 65535"):                                "127.0.0.1:65535",
		served("host: localhost, port: 65536"):                                "",
	} {
		root := map[string]any{}
		if err := yaml.Unmarshal([]byte(text), &root); err != nil {
			t.Fatal(err)
		}
		if got := metrics.Address(root, os.LookupEnv); got != want {
			t.Errorf("%s: %q instead of %q", text, got, want)
		}
	}
}

func TestATextThatServesNoMetricsHereGetsAPlaceBesideItsOwn(t *testing.T) {
	t.Setenv("LEVEL", "None")
	remote := "{periodic: {exporter: {otlp: {endpoint: 'https://a', protocol: grpc}}}}"
	for text, want := range map[string]string{
		"receivers: {}": "",
		"service: {telemetry: {metrics: {level: detailed}}}":                        "",
		"service: {telemetry: {metrics: {level: none}}}":                            "level: normal readers: 1",
		"service: {telemetry: {metrics: {level: '${env:LEVEL}'}}}":                  "level: normal readers: 1",
		"service: {telemetry: {metrics: {level: none, readers: [" + remote + "]}}}": "level: normal readers: 1",
		"service: {telemetry: {metrics: {readers: [" + remote + "]}}}":              "level: <nil> readers: 2",
		"service: {telemetry: {metrics: {readers: []}}}":                            "level: <nil> readers: 1",
		"service: [": "",
	} {
		folder := t.TempDir()
		path, added := filepath.Join(folder, "effective.yaml"), filepath.Join(folder, metrics.Name)
		for file, content := range map[string]string{path: text, added: "an earlier one"} {
			if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got := metrics.Add(path, added, os.LookupEnv); got != (want != "") {
			t.Errorf("%s: %v", text, got)
		}
		content, _ := os.ReadFile(added)
		root := map[string]any{}
		if err := yaml.Unmarshal(content, &root); err != nil {
			t.Fatal(err)
		}
		if want == "" {
			if len(content) > 0 || metrics.Added(added, os.LookupEnv) != "" {
				t.Errorf("%s: %s is left", text, content)
			}
			continue
		}
		own := metrics.At(root, "service", "telemetry", "metrics")
		readers, _ := metrics.At(own, "readers").([]any)
		if got := fmt.Sprintf("level: %v readers: %d", metrics.At(own, "level"), len(readers)); got != want {
			t.Errorf("%s: %s", text, content)
		}
		if address, err := url.Parse("http://" + metrics.Added(added, os.LookupEnv)); err != nil || address.Hostname() != "127.0.0.1" {
			t.Errorf("%s: %s", text, metrics.Added(added, os.LookupEnv))
		}
	}
}
