package install

import (
	"context"
	"crypto/ecdh"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/headgate/headgate/layers/supervisor/internal/programs"
	"golang.org/x/crypto/nacl/box"
)

const collector = "a collector"

// host is a server, and a folder to install into. `said` are the words of each call of launchctl.
type host struct {
	root   string
	self   string
	daemon launchd
	status int
	server *httptest.Server
	// sealedFor makes the secrets of the group, of the host's public key in its Curve25519 form.
	sealedFor func(public *[32]byte) []byte
}

func aHost(t *testing.T) *host {
	t.Helper()
	folder := t.TempDir()
	h := &host{root: filepath.Join(folder, "opt", "headgate"), self: filepath.Join(folder, "downloaded"), status: http.StatusBadRequest}
	h.server = httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, asked *http.Request) {
		switch {
		case asked.URL.Path == "/v1/opamp":
			answer.WriteHeader(h.status)
		case asked.URL.Path == "/files/collector-macos-"+runtime.GOARCH && asked.URL.RawQuery == "signed=yes":
			_, _ = answer.Write([]byte(collector))
		case asked.URL.Path == "/files/variables" && asked.Header.Get("Authorization") == "Bearer secret":
			_, _ = answer.Write([]byte("STORED=of the group\x00"))
		case asked.URL.Path == "/files/secrets" && asked.Method == http.MethodPost && asked.Header.Get("X-Install-Code") == "code":
			_, _ = answer.Write(h.sealedFor(h.publicKey(asked.Header.Get("X-Host-Key"))))
		case asked.URL.Path == "/health":
		default:
			answer.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(h.server.Close)
	if err := os.WriteFile(h.self, []byte("a supervisor"), 0o700); err != nil {
		t.Fatal(err)
	}
	// The real one exists on a Mac alone. This one knows a service once it is bootstrapped.
	launchctl := filepath.Join(folder, "launchctl")
	script := "#!/bin/sh\necho \"$*\" >>'" + folder + "/said'\ncase $1 in print) test -e '" + folder + "/up' ;;" +
		" bootstrap) touch '" + folder + "/up' ;; bootout) rm '" + folder + "/up' ;; esac\n"
	if err := os.WriteFile(launchctl, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	h.daemon = launchd{folder: folder, launchctl: launchctl}
	return h
}

// publicKey is that of the host's file, in the form for which secrets are sealed; nil if it is not the key that was sent.
func (h *host) publicKey(sent string) *[32]byte {
	content, _ := os.ReadFile(filepath.Join(h.root, "var", "host-key.json"))
	var saved struct{ Seed []byte }
	if json.Unmarshal(content, &saved) != nil || len(saved.Seed) != ed25519.SeedSize {
		return nil
	}
	public := ed25519.NewKeyFromSeed(saved.Seed).Public().(ed25519.PublicKey)
	sum := sha512.Sum512(saved.Seed)
	private, err := ecdh.X25519().NewPrivateKey(sum[:32])
	if err != nil || base64.RawURLEncoding.EncodeToString(public) != sent {
		return nil
	}
	return (*[32]byte)(private.PublicKey().Bytes())
}

func (h *host) order(t *testing.T, variables map[string]string) *Order {
	t.Helper()
	sum := sha256.Sum256([]byte(collector))
	hash := hex.EncodeToString(sum[:])
	command, _ := json.Marshal(map[string]any{
		"endpoint": h.server.URL + "/v1/opamp", "deployment_id": "dep_1", "token": "secret", "variables": variables, "stored": true,
	})
	script, _ := json.Marshal(map[string]any{
		"platform": "macos", "files": h.server.URL + "/files", "query": "signed=yes", "collectors": map[string]any{
			runtime.GOARCH: programs.Target{SHA256: hash, BinarySHA256: hash, Size: int64(len(collector))},
		},
	})
	order, err := Read(strings.NewReader(string(command)+"\n"+string(script)), h.root)
	if err != nil {
		t.Fatal(err)
	}
	return order
}

func (h *host) install(t *testing.T, variables map[string]string) error {
	t.Helper()
	variables[healthOption] = strings.TrimPrefix(h.server.URL, "http://")
	return install(context.Background(), h.order(t, variables), h.self, h.daemon)
}

func (h *host) content(t *testing.T, names ...string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(append([]string{h.root}, names...)...))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func TestAnInstallIsMadeRepeatedAndRemoved(t *testing.T) {
	h := aHost(t)
	if err := h.install(t, map[string]string{"REGION": "eu", "GONE": "soon"}); err != nil {
		t.Fatal(err)
	}
	if h.content(t, "bin", "otelcol-contrib") != collector || h.content(t, "etc", "token") != "secret\n" {
		t.Error("the programs or the token are not in their places")
	}
	for _, name := range []string{"etc", "var"} {
		if stat, err := os.Stat(filepath.Join(h.root, name)); err != nil || stat.Mode().Perm() != 0o700 {
			t.Errorf("%s is open to others: %v %v", name, stat.Mode(), err)
		}
	}
	// A second command changes one variable, removes another one, and names the third one not at all.
	if err := h.install(t, map[string]string{"GONE": "", "LEVEL": "info"}); err != nil {
		t.Fatal(err)
	}
	entries := strings.Split(strings.TrimSuffix(h.content(t, "etc", "environment"), "\x00"), "\x00")
	text := "\n" + strings.Join(entries, "\n") + "\n"
	for _, entry := range []string{"REGION=eu", "LEVEL=info", "STORED=of the group", "HEADGATE_PLATFORM=macos", "HEADGATE_STORAGE=" + filepath.Join(h.root, "var")} {
		if n := strings.Count(text, "\n"+entry+"\n"); n != 1 {
			t.Errorf("%s is %d times in %q", entry, n, entries)
		}
	}
	if strings.Contains(text, "GONE=") || strings.Contains(text, "=secret") {
		t.Errorf("a variable that was removed, or the token, is in %q", entries)
	}
	said, _ := os.ReadFile(filepath.Join(h.daemon.folder, "said"))
	calls := strings.Split(strings.TrimSpace(string(said)), "\n")
	if len(calls) != 4 || !strings.HasPrefix(calls[0], "bootstrap system ") || !strings.HasPrefix(calls[2], "bootout system/") {
		t.Errorf("%q", calls)
	}
	if err := uninstall(h.root, h.daemon); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{h.root, h.daemon.file()} {
		if _, err := os.Lstat(path); !os.IsNotExist(err) {
			t.Errorf("%s is left", path)
		}
	}
}

func TestWhatCannotBeInstalledChangesNothing(t *testing.T) {
	for name, row := range map[string]struct {
		change func(h *host, order *Order)
		reason string
	}{
		"a token that was renewed": {func(h *host, _ *Order) { h.status = http.StatusUnauthorized }, "does not accept the token (HTTP 401)"},
		"another collector": {
			func(_ *host, order *Order) { order.collector.SHA256 = strings.Repeat("0", 64) }, "is not what was published",
		},
		"a server that is away": {func(h *host, _ *Order) { h.server.Close() }, "does not answer from this host"},
		"a folder of somebody else": {func(h *host, order *Order) {
			_ = os.MkdirAll(order.Root, 0o700)
			_ = os.WriteFile(filepath.Join(order.Root, "theirs"), nil, 0o600)
		}, "contains files that no install created"},
		"a copy of another install's folder": {func(h *host, order *Order) {
			_ = os.MkdirAll(order.Root, 0o700)
			_ = os.WriteFile(filepath.Join(order.Root, marker), []byte("/opt/another"), 0o600)
		}, "contains files that no install created"},
	} {
		t.Run(name, func(t *testing.T) {
			h := aHost(t)
			order := h.order(t, map[string]string{})
			row.change(h, order)
			err := install(context.Background(), order, h.self, h.daemon)
			if err == nil || !strings.Contains(err.Error(), row.reason) {
				t.Errorf("%v", err)
			}
			if _, err := os.Stat(h.daemon.file()); !os.IsNotExist(err) {
				t.Error("a service is left")
			}
			if left, _ := filepath.Glob(filepath.Join(h.root, "bin", "*")); len(left) > 0 {
				t.Errorf("%q are left", left)
			}
		})
	}
}

func TestTheSecretsOfAGroupAreSealedForTheHostsKeyAndWrittenForItsOwnerOnly(t *testing.T) {
	h := aHost(t)
	h.sealedFor = func(public *[32]byte) []byte {
		sealed, _ := box.SealAnonymous(nil, []byte("PASSWORD=of the group\x00"), public, rand.Reader)
		return sealed
	}
	order := h.order(t, map[string]string{healthOption: strings.TrimPrefix(h.server.URL, "http://")})
	order.Code = "code"
	if err := install(context.Background(), order, h.self, h.daemon); err != nil {
		t.Fatal(err)
	}
	entries := strings.Split(h.content(t, "etc", "environment"), "\x00")
	if !slices.Contains(entries, "PASSWORD=of the group") || !slices.Contains(entries, "STORED=of the group") {
		t.Errorf("%q", entries)
	}
	if stat, err := os.Stat(filepath.Join(h.root, "etc", "environment")); err != nil || stat.Mode().Perm() != 0o600 {
		t.Errorf("open to others: %v %v", stat.Mode(), err)
	}
}

func TestSecretsThatCannotBeOpenedLeaveTheServiceAsItWas(t *testing.T) {
	for name, row := range map[string]struct{ code, reason string }{
		"a code that was used":   {"another", "fetch the secrets that are stored with the group: the server answers HTTP 404"},
		"sealed for another key": {"code", "not sealed for the key of this host"},
	} {
		t.Run(name, func(t *testing.T) {
			h := aHost(t)
			h.sealedFor = func(*[32]byte) []byte {
				foreign, _, _ := box.GenerateKey(rand.Reader)
				sealed, _ := box.SealAnonymous(nil, []byte("PASSWORD=x\x00"), foreign, rand.Reader)
				return sealed
			}
			order := h.order(t, map[string]string{})
			order.Code = row.code
			if err := install(context.Background(), order, h.self, h.daemon); err == nil || !strings.Contains(err.Error(), row.reason) {
				t.Errorf("%v", err)
			}
			said, _ := os.ReadFile(filepath.Join(h.daemon.folder, "said"))
			_, err := os.Stat(filepath.Join(h.root, "etc", "environment"))
			if left, _ := filepath.Glob(filepath.Join(h.root, "bin", "*")); len(said) > 0 || len(left) > 0 || !os.IsNotExist(err) {
				t.Errorf("launchctl was told %q, %q are left: %v", said, left, err)
			}
		})
	}
}

func TestAnOrderThatIsWrongIsRefusedByTheNameOfItsField(t *testing.T) {
	whole := map[string]any{
		"endpoint": "https://a/v1/opamp", "deployment_id": "dep_1", "token": "secret", "platform": "macos", "files": "https://a/files",
		"collectors": map[string]any{runtime.GOARCH: programs.Target{SHA256: strings.Repeat("a", 64), BinarySHA256: strings.Repeat("b", 64), Size: 1}},
	}
	for name, row := range map[string]struct {
		field  string
		value  any
		reason string
	}{
		"nothing wrong":             {"query", "a=b", ""},
		"a token of two lines":      {"token", "a\nHEADGATE_X=1", "token of the order must be one line"},
		"no deployment":             {"deployment_id", "", "deployment_id of the order"},
		"a NUL in the platform":     {"platform", "a\x00b", "platform of the order"},
		"a number for a text":       {"endpoint", 7, "the order on the standard input"},
		"a variable with a space":   {"variables", map[string]string{"A B": "1"}, `"A B" of the order's variables`},
		"a variable with a NUL":     {"variables", map[string]string{"A": "1\x00B=2"}, `"A" of the order's variables`},
		"another architecture":      {"collectors", map[string]any{"vax": programs.Target{}}, "is not published on this server"},
		"a hash that is not one":    {"collectors", map[string]any{runtime.GOARCH: programs.Target{SHA256: "x", Size: 1}}, "collectors of the order"},
		"a link that is not a link": {"files", "https://a:port/files", "files of the order"},
	} {
		t.Run(name, func(t *testing.T) {
			said := maps.Clone(whole)
			said[row.field] = row.value
			content, _ := json.Marshal(said)
			_, err := Read(strings.NewReader(string(content)), "/opt/headgate")
			if row.reason == "" && err != nil || row.reason != "" && (err == nil || !strings.Contains(err.Error(), row.reason)) {
				t.Errorf("%v", err)
			}
			if err != nil && strings.Contains(err.Error(), "secret") {
				t.Errorf("the token is in %v", err)
			}
		})
	}
}

func TestAnInstallTakesTheFolderOfAPackageAndNoOther(t *testing.T) {
	h := aHost(t)
	bin := filepath.Join(h.root, "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"headgate-supervisor", "another"} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("of the package"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := h.install(t, map[string]string{}); err == nil || !strings.Contains(err.Error(), "no install created") {
		t.Fatal(err)
	}
	for _, place := range []func() error{
		func() error { return os.WriteFile(filepath.Join(bin, "another"), nil, 0o755) },
		func() error { return os.Symlink("/bin/true", filepath.Join(bin, "headgate-supervisor")) },
	} {
		_ = os.RemoveAll(bin)
		_ = os.MkdirAll(bin, 0o755)
		if err := place(); err != nil {
			t.Fatal(err)
		}
		if err := h.install(t, map[string]string{}); err == nil || !strings.Contains(err.Error(), "no install created") {
			t.Fatal(err)
		}
	}
	_ = os.Remove(filepath.Join(bin, "headgate-supervisor"))
	if err := os.WriteFile(filepath.Join(bin, "headgate-supervisor"), []byte("of the package"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := h.install(t, map[string]string{}); err != nil {
		t.Fatal(err)
	}
	if said := h.content(t, "bin", "headgate-supervisor"); said != "a supervisor" {
		t.Errorf("%q", said)
	}
}

func TestAnInstallThatFailsStartsTheServiceThatRan(t *testing.T) {
	h := aHost(t)
	if err := h.install(t, map[string]string{}); err != nil {
		t.Fatal(err)
	}
	token := filepath.Join(h.root, "etc", "token")
	_ = os.Remove(token)
	// No file takes the place of a folder with something in it.
	if err := os.MkdirAll(filepath.Join(token, "held"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := h.install(t, map[string]string{}); err == nil {
		t.Fatal("it was installed")
	}
	said, _ := os.ReadFile(filepath.Join(h.daemon.folder, "said"))
	if calls := strings.Split(strings.TrimSpace(string(said)), "\n"); !strings.HasPrefix(calls[len(calls)-1], "bootstrap system ") && !strings.HasPrefix(calls[len(calls)-1], "kickstart") {
		t.Errorf("the last of %q starts nothing", calls)
	}
}

func TestAFolderThatNoInstallMadeIsNotRemoved(t *testing.T) {
	h := aHost(t)
	_ = os.MkdirAll(filepath.Join(h.root, "etc"), 0o700)
	if err := uninstall(h.root, h.daemon); err == nil || !strings.Contains(err.Error(), "nothing was removed") {
		t.Error(err)
	}
	for _, root := range []string{"", "/", "/opt", "relative", "a/relative/path", "/opt/../etc/x"} {
		if err := uninstall(root, h.daemon); err == nil {
			t.Errorf("%q", root)
		}
	}
}

func TestTheServiceIsReadByAnyWordOfItsProgram(t *testing.T) {
	list := string(propertyList("/opt/a & b/<supervisor>", []string{"--log", "x\"y"}))
	for _, part := range []string{"<string>/opt/a &amp; b/&lt;supervisor&gt;</string>", "<string>x&#34;y</string>"} {
		if !strings.Contains(list, part) {
			t.Errorf("%s is missing in %s", part, list)
		}
	}
}

func TestAnInstallThatIsEndedBeforeTheFirstAnswerSaysWhy(t *testing.T) {
	ctx, end := context.WithCancel(context.Background())
	end()

	err := waitUntilHealthy(ctx, "http://127.0.0.1:9/health")
	if !errors.Is(err, context.Canceled) || strings.Contains(err.Error(), "%!w") {
		t.Fatalf("it says %v", err)
	}
}
