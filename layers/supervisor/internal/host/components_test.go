package host

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/headgate/headgate/layers/supervisor/internal/upgrade"
	"github.com/open-telemetry/opamp-go/protobufs"
)

func TestAnotherCollectorIsAskedForItsComponentsOnceItRuns(t *testing.T) {
	folder := t.TempDir()
	upgraded := strings.Repeat("a", 64)
	state := filepath.Join(folder, "programs", upgrade.Name+"-current.json")
	if err := os.Mkdir(filepath.Dir(state), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(state, []byte(`{"current":"`+upgraded+`","known":{"`+upgraded+`":{"version":"2.0.0"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	upgrades, _, err := upgrade.Open(upgrade.Settings{Able: true, Storage: folder, Installed: "/installed", InstalledVersion: "1.0.0"})
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t)
	var asked []string
	b.host = New(Settings{
		Version: "1.2.3", Storage: folder, Effective: b.written, Upgrades: upgrades, Components: []string{"processor/filter"},
		List: func(_ context.Context, program string) ([]string, error) {
			asked = append(asked, program)
			return []string{"processor/batch"}, nil
		},
		Can: func(components []string) []string { return components },
	})
	_, first := b.exchange(full(), &protobufs.ServerToAgent{})
	b.host.list(t.Context())
	if _, said := b.exchange(&protobufs.AgentToServer{}, &protobufs.ServerToAgent{}); len(asked) != 0 || said["can"] != nil || !slices.Contains(first["can"].([]any), any("processor/filter")) {
		t.Errorf("%v asked, %v and %v told", asked, first, said)
	}

	back := offer("v1", "a: 1")
	back.CustomMessage = &protobufs.CustomMessage{Capability: Capability, Type: orderType, Data: []byte(`{"collector":{"installed":true}}`)}
	b.host.Answered(&protobufs.AgentToServer{}, back)
	for range 2 {
		b.host.list(t.Context())
	}

	_, said := b.exchange(&protobufs.AgentToServer{}, &protobufs.ServerToAgent{})
	if !slices.Equal(asked, []string{"/installed"}) || !slices.Equal(b.host.Components(), []string{"processor/batch"}) {
		t.Errorf("%v asked, %v known", asked, b.host.Components())
	}
	told, _ := said["can"].([]any)
	if !slices.Contains(told, any("processor/batch")) || slices.Contains(told, any("processor/filter")) ||
		!reflect.DeepEqual(said["components"], map[string]any{"hash": textHash("processor/batch")}) {
		t.Errorf("told %v", said)
	}
}
