package variables_test

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/headgate/headgate/layers/supervisor/internal/variables"
	"github.com/open-telemetry/opamp-go/protobufs"
	"golang.org/x/crypto/nacl/box"
)

var (
	first  = strings.Repeat("1a", 32)
	second = strings.Repeat("2b", 32)
)

// host takes variables into a storage, with a key of its own.
type host struct {
	*testing.T
	variables.Store
	public *[32]byte
}

func newHost(t *testing.T) *host {
	t.Helper()
	public, private, err := box.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	open := func(sealed []byte) ([]byte, error) {
		opened, ok := box.OpenAnonymous(nil, sealed, public, private)
		if !ok {
			return nil, errors.New("this was not sealed for the key of this host")
		}
		return opened, nil
	}
	return &host{T: t, Store: variables.Store{Storage: t.TempDir(), Open: open}, public: public}
}

func config(hash string) *protobufs.AgentRemoteConfig {
	files := map[string]*protobufs.AgentConfigFile{"": {Body: []byte("receivers: {nop: }\n")}}
	return &protobufs.AgentRemoteConfig{ConfigHash: []byte(hash), Config: &protobufs.AgentConfigMap{ConfigMap: files}}
}

// sealed is what the service sends with a configuration.
func (h *host) sealed(digest, configHash string, values map[string]string, removed ...string) *variables.Offer {
	h.Helper()
	content, err := json.Marshal(map[string]any{
		"digest": digest, "config": hex.EncodeToString([]byte(configHash)), "variables": values, "removed": removed,
	})
	if err != nil {
		h.Fatal(err)
	}
	closed, err := box.SealAnonymous(nil, content, h.public, rand.Reader)
	if err != nil {
		h.Fatal(err)
	}
	return &variables.Offer{Digest: digest, Sealed: closed}
}

// environment is that of a collector which is started with the configuration, beside that of the supervisor.
func (h *host) environment(config *protobufs.AgentRemoteConfig, before ...string) []string {
	h.Helper()
	found, err := variables.With(before, h.Storage, variables.Of(config))
	if err != nil {
		h.Fatal(err)
	}
	slices.Sort(found)
	return found
}

func (h *host) files() []string {
	entries, _ := os.ReadDir(filepath.Join(h.Storage, "programs", "variables"))
	var names []string
	for _, entry := range entries {
		names = append(names, strings.TrimSuffix(entry.Name(), ".json"))
	}
	return names
}

func TestACollectorIsStartedWithTheVariablesOfItsConfiguration(t *testing.T) {
	h := newHost(t)
	installed := []string{"PATH=/bin", "KEY=of the install", "OLD=x", variables.Marker + "=forged"}
	with, err := h.Take(config("c1"), h.sealed(first, "c1", map[string]string{"KEY": `a "b" $c`, "ZONE": "z"}, "OLD"))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{variables.Marker + "=" + first, `KEY=a "b" $c`, "PATH=/bin", "ZONE=z"}
	if got := h.environment(with, installed...); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	before, err := h.Take(config("c0"), &variables.Offer{Installed: true})
	if err != nil || !slices.Equal(h.environment(before, installed...), []string{"KEY=of the install", "OLD=x", "PATH=/bin"}) {
		t.Errorf("%v, %q", err, h.environment(before, installed...))
	}
	path := filepath.Join(h.Storage, "programs", "variables", first+".json")
	for path, mode := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): 0o700} {
		if stat, err := os.Stat(path); err != nil || stat.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v", path, stat.Mode(), err)
		}
	}
}

func TestAsManyCharactersAsAGroupMayHaveAreReadAgain(t *testing.T) {
	h, values := newHost(t), map[string]string{}
	for n := range 50 {
		values[fmt.Sprintf("%s_%d", strings.Repeat("K", 250), n)] = strings.Repeat("<", 4_096)
	}
	with, err := h.Take(config("c1"), h.sealed(first, "c1", values))
	if err != nil {
		t.Fatal(err)
	}
	if got := h.environment(with); len(got) != 51 {
		t.Errorf("%d variables", len(got))
	}
}

func TestTheTextThatTheSupervisorWritesNamesTheVariables(t *testing.T) {
	h := newHost(t)
	if _, err := h.Take(config("c1"), h.sealed(first, "c1", map[string]string{"KEY": "a"})); err != nil {
		t.Fatal(err)
	}
	text := "service:\n  telemetry:\n    resource:\n      headgate.variables: " + first + "\n"
	found, err := variables.Environment(nil, h.Storage, []byte(text))
	if err != nil || !slices.Contains(found, "KEY=a") {
		t.Errorf("%q, %v", found, err)
	}
	for _, other := range []string{second, "../../identity", "x", first[:63]} {
		text := "service: {telemetry: {resource: {headgate.variables: \"" + other + "\"}}}"
		if found, err := variables.Environment([]string{"A=1"}, h.Storage, []byte(text)); err == nil {
			t.Errorf("a collector is started without %s: %q", other, found)
		}
	}
}

func TestWhatIsNotForThisHostAndConfigurationIsRefusedAndChangesNothing(t *testing.T) {
	h, another := newHost(t), newHost(t)
	values := map[string]string{"KEY": "a"}
	renamed := h.sealed(second, "c1", values)
	renamed.Digest = first
	for what, offer := range map[string]*variables.Offer{
		"another host's":            another.sealed(first, "c1", values),
		"of an earlier offer":       h.sealed(first, "c0", values),
		"under another digest":      renamed,
		"cut off":                   {Digest: first, Sealed: h.sealed(first, "c1", values).Sealed[:40]},
		"not sent again, and lost":  {Digest: first},
		"without a digest":          {Sealed: h.sealed(first, "c1", values).Sealed},
		"a path":                    {Digest: "../../../etc/passwd"},
		"this program's variable":   h.sealed(first, "c1", map[string]string{"HEADGATE_ENDPOINT": "http://thief"}),
		"a library for the program": h.sealed(first, "c1", map[string]string{"LD_PRELOAD": "/tmp/x.so"}),
		"not a name":                h.sealed(first, "c1", map[string]string{"A=B": "x"}),
		"with a NUL":                h.sealed(first, "c1", map[string]string{"A": "x\x00B=y"}),
	} {
		if given, err := h.Take(config("c1"), offer); err == nil || strings.Contains(err.Error(), "http://thief") {
			t.Errorf("%s: %v, %v", what, given, err)
		}
	}
	if found := h.files(); len(found) != 0 {
		t.Errorf("left %q", found)
	}
	if _, err := (variables.Store{Storage: h.Storage}).Take(config("c1"), h.sealed(first, "c1", values)); err == nil {
		t.Error("a host without a key takes variables")
	}
}

func TestVariablesThatAreHereAreNotNeededAgain(t *testing.T) {
	h := newHost(t)
	if _, err := h.Take(config("c1"), h.sealed(first, "c1", map[string]string{"KEY": "a"})); err != nil {
		t.Fatal(err)
	}
	back, err := h.Take(config("c2"), &variables.Offer{Digest: first})
	if err != nil || !slices.Contains(h.environment(back), "KEY=a") {
		t.Error(err)
	}
}

func TestADamagedFileIsAnErrorUntilItIsSentAgain(t *testing.T) {
	h := newHost(t)
	sealed := h.sealed(first, "c1", map[string]string{"KEY": "a"})
	with, err := h.Take(config("c1"), sealed)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(h.Storage, "programs", "variables", first+".json")
	// What a power cut may leave of a file that was not written to the end; a pipe must not hold the start up.
	for what, damage := range map[string]func() error{
		"empty":    func() error { return os.WriteFile(path, nil, 0o600) },
		"cut":      func() error { return os.WriteFile(path, []byte(`{"digest":"`), 0o600) },
		"other's":  func() error { return os.WriteFile(path, []byte(`{"digest":"`+second+`"}`), 0o600) },
		"gone":     func() error { return os.Remove(path) },
		"a pipe":   func() error { _ = os.Remove(path); return syscall.Mkfifo(path, 0o600) },
		"a folder": func() error { _ = os.Remove(path); return os.Mkdir(path, 0o700) },
	} {
		if err := damage(); err != nil {
			t.Fatal(err)
		}
		if found, err := variables.With(nil, h.Storage, variables.Of(with)); err == nil {
			t.Errorf("%s: started with %q", what, found)
		}
		_ = os.Remove(path)
		if _, err := h.Take(config("c1"), sealed); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestAStorageThatTakesNoFileIsAnErrorAndKeepsWhatIsThere(t *testing.T) {
	h := newHost(t)
	before, err := h.Take(config("c1"), h.sealed(first, "c1", map[string]string{"KEY": "a"}))
	if err != nil {
		t.Fatal(err)
	}
	// As a full disk does: not all of the file can be written.
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	full := limit
	// More than the log of the tests has.
	full.Cur = 64 << 10
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &full); err != nil {
		t.Fatal(err)
	}
	_, err = h.Take(config("c2"), h.sealed(second, "c2", map[string]string{"KEY": strings.Repeat("b", 100<<10)}))
	if again := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); again != nil {
		t.Fatal(again)
	}
	if err == nil || !slices.Equal(h.files(), []string{first}) {
		t.Errorf("%v, %q", err, h.files())
	}
	if !slices.Contains(h.environment(before), "KEY=a") {
		t.Error("what was there is lost")
	}
}

func TestFilesThatNoConfigurationNeedsAreRemoved(t *testing.T) {
	h := newHost(t)
	old, err := h.Take(config("c1"), h.sealed(first, "c1", map[string]string{"KEY": "a"}))
	if err != nil {
		t.Fatal(err)
	}
	now, err := h.Take(config("c2"), h.sealed(second, "c2", map[string]string{"KEY": "b"}))
	if err != nil {
		t.Fatal(err)
	}
	part := filepath.Join(h.Storage, "programs", "variables", first+".json-1234")
	if err := os.WriteFile(part, []byte("of a write that a power cut ended"), 0o600); err != nil {
		t.Fatal(err)
	}
	if h.Prune(old, now, config("c3")); !slices.Equal(h.files(), []string{first, second}) {
		t.Errorf("%q", h.files())
	}
	if h.Prune(now); !slices.Equal(h.files(), []string{second}) {
		t.Errorf("%q", h.files())
	}
}
