package guard_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/headgate/headgate/layers/supervisor/internal/guard"
)

func TestAConfigurationWithoutPipelinesIsRefused(t *testing.T) {
	for _, row := range []struct {
		name, written string
		refused       bool
	}{
		{"no service", "receivers: {nop: {}}\n", true},
		{"nothing", "", true},
		{"service is null", "service:\n", true},
		{"service is empty", "service: {}\n", true},
		{"only extensions, as the supervisor adds them", "service: {extensions: [opamp], telemetry: {}}\n", true},
		{"pipelines are null", "service: {pipelines: }\n", true},
		{"pipelines are null by name", "service:\n  pipelines: ~\n", true},
		{"pipelines are empty", "service: {pipelines: {}}\n", true},
		{"pipelines are empty by an anchor", "none: &none {}\nservice: {pipelines: *none}\n", true},
		{"a pipeline", "service: {pipelines: {logs: {receivers: [nop], exporters: [nop]}}}\n", false},
		{"a pipeline by an anchor", "all: &all {pipelines: {logs: {}}}\nservice: *all\n", false},
		{"a pipeline by a merge", "all: &all {pipelines: {logs: {}}}\nservice: {<<: *all}\n", false},
		{"pipelines of a variable", "service: {pipelines: '${env:PIPELINES}'}\n", false},
		{"pipelines of another shape", "service: {pipelines: []}\n", false},
		{"service of another shape", "service: []\n", false},
		{"pipelines by a path", "service::pipelines: {logs: {}}\n", false},
		{"a pipeline by a path", "service: {pipelines::logs: {}}\n", false},
		{"no YAML", "{", false},
	} {
		t.Run(row.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "new.yaml")
			if err := os.WriteFile(path, []byte(row.written), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, given := range [][]string{{"validate", "--config", path, "--config", "/old"}, {"validate", "--config=" + path}} {
				if got := guard.Refused(given); (got != "") != row.refused {
					t.Errorf("%q: %q", given, got)
				}
			}
			if got := guard.Refused([]string{"--config", path}); got != "" {
				t.Errorf("a run is refused: %q", got)
			}
		})
	}
	for _, given := range [][]string{nil, {"validate"}, {"validate", "--config"}, {"validate", "--config", "/nonexistent"}} {
		if got := guard.Refused(given); got != "" {
			t.Errorf("%q: %q", given, got)
		}
	}
}
