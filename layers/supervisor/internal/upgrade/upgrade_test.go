package upgrade

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/headgate/headgate/layers/supervisor/internal/programs"
	"github.com/open-telemetry/opamp-go/protobufs"
)

const (
	applying = protobufs.RemoteConfigStatuses_RemoteConfigStatuses_APPLYING
	applied  = protobufs.RemoteConfigStatuses_RemoteConfigStatuses_APPLIED
	failed   = protobufs.RemoteConfigStatuses_RemoteConfigStatuses_FAILED
)

// bench is a host, and the server from which it fetches.
type bench struct {
	t        *testing.T
	storage  string
	endpoint string
	content  []byte
	tried    error
	upgrades *Upgrades
}

func newBench(t *testing.T) *bench {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, storage: t.TempDir(), content: content}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(b.content) }))
	t.Cleanup(server.Close)
	t.Cleanup(func() {
		folders, _ := filepath.Glob(filepath.Join(b.storage, programs.Folder, "*"))
		for _, folder := range folders {
			_ = os.Chmod(folder, 0o700)
		}
	})
	b.endpoint = server.URL
	b.restart()
	return b
}

// restart is another process of the supervisor, after the one before was killed; it returns what must not be started.
func (b *bench) restart() []byte {
	b.t.Helper()
	upgrades, interrupted, err := Open(Settings{
		Able: true, Endpoint: b.endpoint, Storage: b.storage, Installed: "/installed", InstalledVersion: "1.0.0",
		Try: func(context.Context, string, programs.Target, *protobufs.AgentRemoteConfig) error { return b.tried },
	})
	if err != nil {
		b.t.Fatal(err)
	}
	b.upgrades = upgrades
	return interrupted
}

func (b *bench) target(version string) *programs.Target {
	sum := sha256.Sum256(b.content)
	id := hex.EncodeToString(sum[:])
	return &programs.Target{Version: version, Path: "/a", SHA256: id, BinarySHA256: id, Size: int64(len(b.content))}
}

func config(hash, text string) *protobufs.AgentRemoteConfig {
	files := map[string]*protobufs.AgentConfigFile{"": {Body: []byte(text)}}
	return &protobufs.AgentRemoteConfig{
		ConfigHash: []byte(hash), Config: &protobufs.AgentConfigMap{ConfigMap: files},
	}
}

// waits until what was held back can be given to the supervisor, or has failed.
func (b *bench) waits() {
	b.t.Helper()
	for {
		b.upgrades.mutex.Lock()
		done := b.upgrades.next == nil || b.upgrades.next.done
		b.upgrades.mutex.Unlock()
		if done {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// swapped lets the host get as far as its supervisor's start of the new collector.
func (b *bench) swapped(hash, version string) *protobufs.AgentRemoteConfig {
	b.t.Helper()
	if given := b.upgrades.Offered(config(hash, "a: 1\n"), b.target(version)); given != nil {
		b.t.Fatal("the supervisor gets the offer before its collector is here")
	}
	b.waits()
	given := b.upgrades.Waiting()
	if given == nil {
		b.t.Fatalf("the supervisor does not get the offer: %+v", b.upgrades.store.State)
	}
	return given
}

func (b *bench) runs(id string) {
	b.t.Helper()
	want := "/installed"
	if id != "" {
		want = b.upgrades.store.Path(id)
	}
	if got := b.upgrades.Program(); got != want {
		b.t.Errorf("%s runs, not %s", got, want)
	}
}

func (b *bench) says(status *protobufs.RemoteConfigStatus, hash string, want protobufs.RemoteConfigStatuses, message string) {
	b.t.Helper()
	if status == nil || string(status.LastRemoteConfigHash) != hash || status.Status != want || !strings.Contains(status.ErrorMessage, message) {
		b.t.Errorf("%v", status)
	}
}

func TestACollectorAndItsTextAreGivenToTheSupervisorTogether(t *testing.T) {
	b := newBench(t)
	offer := config("new", "a: 1\n")
	target := b.target("2.0.0")
	if b.upgrades.Offered(offer, target) != nil {
		t.Fatal("the offer is not held back")
	}
	b.runs("")
	b.waits()
	b.says(b.upgrades.Outgoing(nil), "new", applying, "")
	// The service repeats it until it has heard of it.
	given := b.upgrades.Offered(config("new", "a: 1\n"), target)
	if given == nil || string(given.Config.ConfigMap[""].Body) != "a: 1\n" {
		t.Fatalf("the text is another one: %v", given)
	}
	if added := string(given.Config.ConfigMap[entry].Body); added != "service: {telemetry: {resource: {service.version: \"2.0.0\"}}}\n" {
		t.Error(added)
	}
	b.runs(target.ID())
	b.says(b.upgrades.Outgoing(statusOf([]byte("new"), applying, "")), "new", applying, "")
	b.says(b.upgrades.Outgoing(statusOf([]byte("new"), applied, "")), "new", applied, "")
	if interrupted := b.restart(); interrupted != nil {
		t.Errorf("%s is undone", interrupted)
	}
	b.runs(target.ID())
	// Back to the installed one: it is there, so nothing is held back.
	if given := b.upgrades.Offered(config("old", "a: 1\n"), &programs.Target{Installed: true}); given == nil {
		t.Error("the offer to go back is held back")
	}
	b.runs("")
	// And forth again: the program is still here.
	if given := b.upgrades.Offered(config("new", "a: 1\n"), target); given == nil {
		t.Error("a program that ran is tried again")
	}
	b.runs(target.ID())
}

func TestACollectorThatCannotRunLeavesTheHostAsItWas(t *testing.T) {
	for name, prepare := range map[string]func(*bench, *programs.Target){
		"it is not the published one":                       func(_ *bench, t *programs.Target) { t.SHA256 = strings.Repeat("a", 64) },
		"the text is refused":                               func(b *bench, _ *programs.Target) { b.tried = errors.New("it refuses the text: exit status 1") },
		"the offer of a collector cannot be read: a path":   func(_ *bench, t *programs.Target) { t.Path = "//evil.example" },
		"the offer of a collector cannot be read: a number": func(_ *bench, t *programs.Target) { t.Version = "../.." },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			target := b.target("2.0.0")
			prepare(b, target)
			b.upgrades.Outgoing(statusOf([]byte("old"), applied, ""))
			if b.upgrades.Offered(config("new", "a: 1\n"), target) != nil {
				t.Fatal("the supervisor gets it")
			}
			b.waits()
			said := b.upgrades.Outgoing(nil)
			b.says(said, "new", failed, "")
			if b.upgrades.Waiting() != nil {
				t.Error("the supervisor gets it")
			}
			b.runs("")
			b.upgrades.Answered(said)
			if again := b.upgrades.Outgoing(nil); again != nil {
				t.Errorf("it is said again: %v", again)
			}
			if left, _ := os.ReadDir(filepath.Join(b.storage, programs.Folder)); len(left) > 1 {
				t.Errorf("%v is left", left)
			}
			// The supervisor has nothing new to say of the version before, and the service has to hear it.
			b.upgrades.Offered(config("old", "a: 1\n"), &programs.Target{Installed: true})
			said = b.upgrades.Outgoing(nil)
			b.says(said, "old", applied, "")
			b.upgrades.Answered(said)
			if again := b.upgrades.Outgoing(nil); again != nil {
				t.Errorf("it is said again: %v", again)
			}
		})
	}
}

func TestWhatTheSupervisorCallsFailedTakesTheCollectorBackAtOnce(t *testing.T) {
	b := newBench(t)
	b.swapped("new", "2.0.0")
	said := b.upgrades.Outgoing(statusOf([]byte("new"), failed, "Agent exited unexpectedly with exit code 1"))
	b.says(said, "new", failed, "Agent exited unexpectedly with exit code 1; collector 2.0.0 did not stay, and 1.0.0 runs again")
	b.runs("")
	if !b.upgrades.Failed([]byte("new")) || b.upgrades.Failed([]byte("old")) {
		t.Error("the failure is not known")
	}
	// The same message again, since it was not answered.
	b.says(b.upgrades.Outgoing(statusOf([]byte("new"), failed, "Agent exited unexpectedly with exit code 1")), "new", failed, "exit code 1")
}

func TestAFailureIsToldBeforeWhatTheSupervisorSaysOfAnotherConfiguration(t *testing.T) {
	b := newBench(t)
	b.swapped("new", "2.0.0")
	b.restart()
	said := b.upgrades.Outgoing(statusOf([]byte("old"), applied, ""))
	b.says(said, "new", failed, interrupted)
	b.upgrades.Answered(said)
	said = b.upgrades.Outgoing(nil)
	b.says(said, "old", applied, "")
	b.upgrades.Answered(said)
	if later := b.upgrades.Outgoing(nil); later != nil {
		t.Errorf("%v", later)
	}
}

func TestAKillAtEachStepLeavesWhatRan(t *testing.T) {
	b := newBench(t)
	target := b.target("2.0.0")
	// Before the program is here.
	b.tried = errors.New("not yet")
	b.upgrades.Offered(config("new", "a: 1\n"), target)
	b.waits()
	b.tried = nil
	if interrupted := b.restart(); interrupted != nil {
		t.Errorf("%s is undone", interrupted)
	}
	b.runs("")
	// After it is here, and before the supervisor gets it.
	b.upgrades.Offered(config("new", "a: 1\n"), target)
	b.waits()
	if interrupted := b.restart(); interrupted != nil {
		t.Errorf("%s is undone", interrupted)
	}
	b.runs("")
	// While the supervisor applies it.
	b.swapped("new", "2.0.0")
	if interrupted := b.restart(); string(interrupted) != "new" {
		t.Errorf("%q is undone", interrupted)
	}
	b.runs("")
	b.says(b.upgrades.Outgoing(statusOf([]byte("new"), applying, "")), "new", failed, interrupted)
	// After it was applied.
	b.swapped("newer", "2.0.0")
	b.upgrades.Outgoing(statusOf([]byte("newer"), applied, ""))
	if interrupted := b.restart(); interrupted != nil {
		t.Errorf("%s is undone", interrupted)
	}
	b.runs(target.ID())
}

func TestAnotherOfferEndsTheOneThatIsPrepared(t *testing.T) {
	b := newBench(t)
	b.upgrades.Offered(config("new", "a: 1\n"), b.target("2.0.0"))
	if b.upgrades.Offered(config("old", "b: 1\n"), &programs.Target{Installed: true}) == nil {
		t.Error("the offer to go back is held back")
	}
	if b.upgrades.Waiting() != nil || b.upgrades.Outgoing(nil) != nil {
		t.Error("the one before goes on")
	}
	b.runs("")
}

func TestAnOfferWithoutACollectorAndOneOfNothingPass(t *testing.T) {
	b := newBench(t)
	for _, offered := range []*protobufs.AgentRemoteConfig{config("a", "a: 1\n"), {ConfigHash: []byte("b"), Config: &protobufs.AgentConfigMap{}}} {
		if given := b.upgrades.Offered(offered, nil); given != offered {
			t.Errorf("%v", given)
		}
	}
	nothing := &protobufs.AgentRemoteConfig{ConfigHash: []byte("b"), Config: &protobufs.AgentConfigMap{}}
	if given := b.upgrades.Offered(nothing, &programs.Target{Installed: true}); given != nothing {
		t.Errorf("%v", given)
	}
}

func TestATextThatSaysItsOwnVersionKeepsIt(t *testing.T) {
	changed := forCollector(config("a", "service: {telemetry: {resource: {service.version: mine}}}\n"), "2.0.0")
	if added := string(changed.Config.ConfigMap[entry].Body); !strings.Contains(added, "headgate.collector.version") {
		t.Error(added)
	}
}

func TestOnlyACollectorOfTheVersionThatAcceptsTheTextIsTaken(t *testing.T) {
	for _, row := range []struct{ name, script, says string }{
		{"good", `case $1 in --version) echo otelcol-contrib version 2.0.0;; validate) test "$SECRET" = known;; esac`, ""},
		{"refuses", `case $1 in --version) echo 2.0.0;; validate) echo "Error: no such key"; exit 1;; esac`, "it refuses the text: exit status 1\nError: no such key"},
		{"another version", `echo otelcol-contrib version 1.9.0`, `it says that it is version "1.9.0"`},
		{"ends", `exit 3`, "it does not run on this host: exit status 3"},
		{"says nothing", `true`, "it prints no version"},
	} {
		t.Run(row.name, func(t *testing.T) {
			folder := t.TempDir()
			collector := filepath.Join(folder, Name)
			if err := os.WriteFile(collector, []byte("#!/bin/sh\n"+row.script+"\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			try := Try(folder, func() []string { return append(os.Environ(), "SECRET=known") })
			err := try(context.Background(), collector, programs.Target{Version: "2.0.0"}, config("c", "a: 1\n"))
			if (err == nil) != (row.says == "") || (err != nil && !strings.Contains(err.Error(), row.says)) {
				t.Error(err)
			}
			if left, _ := filepath.Glob(filepath.Join(folder, "validate-config-*")); len(left) > 0 {
				t.Errorf("%v is left", left)
			}
		})
	}
}

func TestTheProcessTellsWhatItsEnvironmentHas(t *testing.T) {
	storage, collector := t.TempDir(), "/bin/sleep"
	for _, able := range []bool{true, false} {
		upgrades, _, err := Open(Settings{Able: able, Storage: storage, Installed: collector})
		if err != nil {
			t.Fatal(err)
		}
		if value, runs := upgrades.Environment("MARK"); runs {
			t.Errorf("without a process: %q", value)
		}
		for environment, want := range map[string]string{"MARK=abc": "abc", "MARKED=abc": ""} {
			command := exec.Command(collector, "--", "60")
			command.Env = []string{environment}
			if err := command.Start(); err != nil {
				t.Fatal(err)
			}
			if value, runs := upgrades.Environment("MARK"); !runs || value != want {
				t.Errorf("%s: %q, %v", environment, value, runs)
			}
			_ = command.Process.Kill()
			_ = command.Wait()
		}
	}
}

func TestAMachineThatTellsNoEnvironmentsIsKnown(t *testing.T) {
	if !TellsEnvironments("/proc") || TellsEnvironments(t.TempDir()) {
		t.Error("Linux tells them, and a system without /proc does not")
	}
}

func TestAnOfferThatIsRefusedIsToldAlsoByAHostThatReplacesNoCollector(t *testing.T) {
	for _, able := range []bool{true, false} {
		upgrades, _, err := Open(Settings{Able: able, Storage: t.TempDir(), Installed: "/installed"})
		if err != nil {
			t.Fatal(err)
		}
		upgrades.Outgoing(statusOf([]byte("a"), protobufs.RemoteConfigStatuses_RemoteConfigStatuses_APPLIED, ""))
		upgrades.Refuse([]byte("b"), "no space left on device")
		said := upgrades.Outgoing(nil)
		if !isOf(said, []byte("b")) || said.ErrorMessage != "no space left on device" {
			t.Errorf("%v", said)
		}
		upgrades.Answered(said)
		if again := upgrades.Outgoing(nil); again != nil {
			t.Errorf("told again: %v", again)
		}
		if passed := upgrades.Offered(config("a", "a: 1\n"), nil); passed == nil {
			t.Error("the one before is not gone back to")
		}
		// To the supervisor that is nothing new, so that it says nothing of it.
		if said := upgrades.Outgoing(nil); !isOf(said, []byte("a")) {
			t.Errorf("%v", said)
		}
	}
}
