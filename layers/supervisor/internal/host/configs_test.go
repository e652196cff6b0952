package host

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/headgate/headgate/layers/supervisor/internal/upgrade"
	"github.com/headgate/headgate/layers/supervisor/internal/variables"
	"github.com/open-telemetry/opamp-go/protobufs"
	"google.golang.org/protobuf/proto"
)

func TestAConfigurationWhoseCollectorDoesNotRunIsTakenOutOfTheSupervisorsFile(t *testing.T) {
	for name, row := range map[string]struct {
		ran, received, undone, want string
	}{
		"it was handed over":              {"old", "new", "new", "old"},
		"it was not handed over":          {"old", "old", "new", "old"},
		"another one was handed over":     {"old", "newer", "new", "newer"},
		"the one before is not known":     {"", "new", "new", ""},
		"nothing was ever handed over":    {"old", "", "new", ""},
		"it ran, and nothing before that": {"old", "old", "old", ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			if row.ran != "" {
				b.runs(row.ran, "receivers: {a: 1}\n")
			}
			path := filepath.Join(b.folder, receivedFile)
			if row.received != "" {
				content, err := proto.Marshal(offer(row.received, "receivers: {a: 2}\n").RemoteConfig)
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, content, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := b.host.Undo([]byte(row.undone)); err != nil {
				t.Fatal(err)
			}
			content, _ := os.ReadFile(path)
			var left protobufs.AgentRemoteConfig
			if err := proto.Unmarshal(content, &left); err != nil || string(left.ConfigHash) != row.want {
				t.Errorf("the supervisor starts with %q: %v", left.ConfigHash, err)
			}
		})
	}
}

func TestTheConfigurationBeforeIsPutBackWhereTheNewOneAlreadyRan(t *testing.T) {
	b := newBench(t)
	b.runs("old", "receivers: {a: 1}\n")
	b.tries("new", "receivers: {a: 2}\n")
	b.restarts(offer("new", "receivers: {a: 2}\n"))
	if err := b.host.Undo([]byte("new")); err != nil {
		t.Fatal(err)
	}
	content, _ := os.ReadFile(filepath.Join(b.folder, receivedFile))
	if !bytes.Contains(content, []byte("a: 1")) || bytes.Contains(content, []byte("a: 2")) {
		t.Errorf("the supervisor starts with %q", content)
	}
}

func TestWhatIsAssignedIsSettledOnceItRunsAndNothingIsUnderWay(t *testing.T) {
	const applying = protobufs.RemoteConfigStatuses_RemoteConfigStatuses_APPLYING
	for name, row := range map[string]struct {
		change  func(b *bench)
		settled bool
	}{
		"it runs":                           {func(*bench) {}, true},
		"another one is offered":            {func(b *bench) { b.exchange(&protobufs.AgentToServer{}, offer("h2", "a: 2\n")) }, false},
		"another one is tried":              {func(b *bench) { b.exchange(status("h2", applying), nil) }, false},
		"another one is tried for too long": {func(b *bench) { b.exchange(status("h2", applying), nil); b.clock = b.clock.Add(longestApply) }, true},
		"it ends again and again":           {func(b *bench) { b.exits(3, 1); b.exchange(&protobufs.AgentToServer{}, nil) }, false},
		"it runs, and was not called so":    {func(b *bench) { b.tries("h2", "a: 2\n") }, false},
	} {
		t.Run(name, func(t *testing.T) {
			b := quiet(t)
			row.change(b)
			if settled := b.host.Settled(); (settled != nil) != row.settled || row.settled && string(settled.ConfigHash) != "h1" {
				t.Errorf("%v", settled)
			}
		})
	}
}

func TestADamagedFileOfConfigurationsBeginsAnew(t *testing.T) {
	for _, content := range []string{"{", `{"running":{"text_hash":"x"},"offered":3}`, strings.Repeat(" ", largestConfigs+1)} {
		b := newBench(t)
		if err := os.WriteFile(filepath.Join(b.folder, configsFile), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		b.start()
		if known := b.host.configs; known.Running.TextHash != "" || known.Offered != nil {
			t.Errorf("%.20q: %+v", content, known)
		}
		b.runs("new", "receivers: {a: 1}\n")
		if _, said := b.exchange(full(), nil); said["config"].(map[string]any)["hash"] != textHash("receivers: {a: 1}\n") {
			t.Errorf("%.20q: %v", content, said)
		}
	}
}

func TestEveryPartOfAReportWhoseAnswerWasLostIsToldAgain(t *testing.T) {
	b := quiet(t)
	upgrades, _, err := upgrade.Open(upgrade.Settings{Able: true, Storage: b.folder, Installed: "/installed", InstalledVersion: "0.139.0"})
	if err != nil {
		t.Fatal(err)
	}
	b.host.settings.Upgrades = upgrades
	b.exits(3, 1)
	parts := []string{"can", "collector", "components", "config", "crash_loop", "exits"}
	partsOf := func(said map[string]any) []string {
		return slices.DeleteFunc(slices.Clone(parts), func(part string) bool { return said[part] == nil })
	}
	if _, said := b.exchange(full(), nil); !slices.Equal(partsOf(said), parts) {
		t.Fatalf("a full report has %q", partsOf(said))
	}
	for _, want := range [][]string{parts, nil} {
		if _, said := b.exchange(&protobufs.AgentToServer{}, &protobufs.ServerToAgent{}); !slices.Equal(partsOf(said), want) {
			t.Errorf("%q, not %q", partsOf(said), want)
		}
	}
}

func TestAnOfferWhoseVariablesCannotBeReadIsRefusedWithTheReason(t *testing.T) {
	for name, row := range map[string]struct{ data, reason string }{
		"a host without a key":     {`{"variables":{"digest":"` + strings.Repeat("1a", 32) + `","sealed":"AAAA"}}`, "cannot be read"},
		"a digest that is not one": {`{"variables":{"digest":"../x"}}`, "cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			b := quiet(t)
			upgrades, _, err := upgrade.Open(upgrade.Settings{Storage: b.folder, Installed: "/installed"})
			if err != nil {
				t.Fatal(err)
			}
			b.host.settings.Upgrades, b.host.settings.Variables = upgrades, variables.Store{Storage: b.folder}
			answer := offer("new", "receivers: {a: 2}\n")
			answer.CustomMessage = ordered(row.data).CustomMessage
			b.exchange(&protobufs.AgentToServer{}, answer)
			if answer.RemoteConfig != nil {
				t.Error("the supervisor gets it")
			}
			message, _ := b.exchange(&protobufs.AgentToServer{}, &protobufs.ServerToAgent{})
			status := message.GetRemoteConfigStatus()
			if !isOf(status, []byte("new")) || status.Status != failed || !strings.Contains(status.ErrorMessage, row.reason) {
				t.Errorf("%v", status)
			}
		})
	}
}

func TestAnOfferIsTakenWithoutWhatCannotBeReadBesideIt(t *testing.T) {
	for _, data := range []string{"{", `{"collector":7}`, `{"x":"` + strings.Repeat("x", largestOrder) + `"}`} {
		b := quiet(t)
		answer := offer("new", "receivers: {a: 2}\n")
		answer.CustomMessage = ordered(data).CustomMessage
		b.exchange(&protobufs.AgentToServer{}, answer)
		if !bytes.Equal(answer.GetRemoteConfig().GetConfigHash(), []byte("new")) || answer.CustomMessage != nil {
			t.Errorf("%.20q: %v", data, answer)
		}
	}
}

func TestAFullMessageNamesTheVersionOfTheCollectorThatRuns(t *testing.T) {
	b := quiet(t)
	upgrades, _, err := upgrade.Open(upgrade.Settings{Able: true, Storage: b.folder, Installed: "/installed", InstalledVersion: "0.139.0"})
	if err != nil {
		t.Fatal(err)
	}
	b.host.settings.Upgrades = upgrades
	attribute := func(key, value string) *protobufs.KeyValue {
		return &protobufs.KeyValue{Key: key, Value: &protobufs.AnyValue{Value: &protobufs.AnyValue_StringValue{StringValue: value}}}
	}
	message := full()
	message.AgentDescription.IdentifyingAttributes = []*protobufs.KeyValue{
		attribute("service.name", "otelcol-contrib"), attribute("service.version", "0.100.0"),
	}
	b.exchange(message, nil)
	var values []string
	for _, attribute := range message.AgentDescription.IdentifyingAttributes {
		values = append(values, attribute.Value.GetStringValue())
	}
	if !slices.Equal(values, []string{"otelcol-contrib", "0.139.0"}) {
		t.Errorf("%q", values)
	}
}

func TestAFileThatAFullDiskLeftDamagedIsReplacedByWhatRan(t *testing.T) {
	whole, err := proto.Marshal(offer("new", "receivers: {a: 2}\n").RemoteConfig)
	if err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct {
		ran, received, want string
	}{
		"the end is missing":              {"old", string(whole[:len(whole)-9]), "old"},
		"the hash is missing":             {"old", string(whole[:len(whole)-5]), "old"},
		"all is missing":                  {"old", "", "old"},
		"it is whole":                     {"old", string(whole), "new"},
		"it is damaged, and nothing ran":  {"", string(whole[:len(whole)-9]), ""},
		"it is whole, and nothing ran":    {"", string(whole), "new"},
		"it holds the end of another one": {"old", string(whole[9:]), "old"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			if row.ran != "" {
				b.runs(row.ran, "receivers: {a: 1}\n")
			}
			path := filepath.Join(b.folder, receivedFile)
			if err := os.WriteFile(path, []byte(row.received), 0o600); err != nil {
				t.Fatal(err)
			}
			b.start()
			content, _ := os.ReadFile(path)
			var starts protobufs.AgentRemoteConfig
			if err := proto.Unmarshal(content, &starts); err != nil || string(starts.ConfigHash) != row.want {
				t.Errorf("the supervisor starts with %q: %v", starts.ConfigHash, err)
			}
		})
	}
}

func TestAHostWhoseFileCannotBeReplacedSaysThatNothingRuns(t *testing.T) {
	b := newBench(t)
	b.runs("old", "receivers: {a: 1}\n")
	// As on a disk that is still full: what is damaged is gone, and nothing takes its place.
	b.start()
	b.host.Started()
	if _, said := b.exchange(full(), nil); said["config"].(map[string]any)["hash"] != "" {
		t.Errorf("%v", said)
	}
}

func TestWhatAFullDiskDidNotTakeIsWrittenOnceThereIsRoom(t *testing.T) {
	b := newBench(t)
	b.runs("old", "receivers: {a: 1}\n")
	folder := b.host.configs.path
	b.host.configs.path = filepath.Join(b.folder, "full", configsFile)
	b.runs("new", "receivers: {a: 2}\n")
	if err := os.WriteFile(filepath.Join(b.folder, receivedFile), []byte{10, 99}, 0o600); err != nil {
		t.Fatal(err)
	}
	b.host.configs.path = folder
	b.look()

	b.start()
	content, _ := os.ReadFile(filepath.Join(b.folder, receivedFile))
	if known := decoded(content); known == nil || string(known.ConfigHash) != "new" || string(b.host.configs.Running.ConfigHash) != "new" {
		t.Errorf("%v, and it knows %q", known, b.host.configs.Running.ConfigHash)
	}
}
