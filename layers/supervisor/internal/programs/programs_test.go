package programs_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/headgate/headgate/layers/supervisor/internal/programs"
)

const name = "otelcol-contrib"

// program is a file that this machine would run: this test itself.
func program(t *testing.T) []byte {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func hash(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

func zipped(t *testing.T, content []byte) []byte {
	t.Helper()
	var packed bytes.Buffer
	writer, err := gzip.NewWriterLevel(&packed, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := writer.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}

// published is a target for the content, which `fetched` unpacks to.
func published(content, fetched []byte) programs.Target {
	return programs.Target{
		Version: "1.2.3", Path: "/program?signature=a", SHA256: hash(fetched), Gzip: len(fetched) != len(content),
		BinarySHA256: hash(content), Size: int64(len(content)),
	}
}

func serving(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL + "/v1/opamp"
}

func opened(t *testing.T, storage string) *programs.Store {
	t.Helper()
	store, err := programs.Open(storage, name)
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// removable makes the folder of programs one that the test can remove.
func removable(t *testing.T) string {
	t.Helper()
	storage := t.TempDir()
	t.Cleanup(func() {
		folders, _ := filepath.Glob(filepath.Join(storage, programs.Folder, "*"))
		for _, folder := range folders {
			_ = os.Chmod(folder, 0o700)
		}
	})
	return storage
}

func leftovers(t *testing.T, storage string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(storage, programs.Folder, ".part-*"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestAPublishedProgramIsFetchedWithoutCredentialAndCannotBeWrittenTo(t *testing.T) {
	content := program(t)
	packed := zipped(t, content)
	var asked *http.Request
	endpoint := serving(t, func(w http.ResponseWriter, r *http.Request) {
		asked = r
		_, _ = w.Write(packed)
	})
	storage := removable(t)
	store, target := opened(t, storage), published(content, packed)
	known, err := store.Fetch(context.Background(), endpoint, target, programs.Known{})
	if err != nil {
		t.Fatal(err)
	}
	if asked.URL.String() != target.Path || asked.Header.Get("Authorization") != "" {
		t.Errorf("%s with %q", asked.URL, asked.Header)
	}
	path := store.Path(target.ID())
	stat, err := os.Stat(path)
	if err != nil || stat.Mode().Perm() != 0o500 {
		t.Fatalf("%v %v", stat, err)
	}
	if folder, err := os.Stat(filepath.Dir(path)); err != nil || folder.Mode().Perm() != 0o500 {
		t.Fatalf("%v %v", folder, err)
	}
	store.State.Known[target.ID()] = known
	asked = nil
	if _, err := store.Fetch(context.Background(), endpoint, target, known); err != nil || asked != nil {
		t.Errorf("a program that is here was fetched again: %v", err)
	}
}

func TestWhatIsNotThePublishedProgramIsNotKept(t *testing.T) {
	content := program(t)
	packed := zipped(t, content)
	other := bytes.Clone(content)
	// The machine in the header: 64-bit PowerPC.
	other[18], other[19] = 21, 0
	half := published(content, packed[:len(packed)/2])
	half.Gzip = true
	large := published(content[:1000], content)
	large.BinarySHA256, large.Gzip = hash(content), false
	for _, row := range []struct {
		name   string
		target programs.Target
		answer http.HandlerFunc
		says   string
	}{
		{"another file", published(content, content), sends(other), "what arrives is not what was published: its SHA-256 is " + hash(other)},
		{"truncated", published(content, content), sends(content[:len(content)/2]), "what arrives is not what was published"},
		{"truncated before it was published", half, sends(packed[:len(packed)/2]), "unpack it: unexpected EOF"},
		{"cut off", published(content, content), cutOff(content), "it arrives incomplete: unexpected EOF"},
		{"larger than it says", large, sends(content), "it has another size than the 1000 bytes"},
		{"for another processor", published(other, other), sends(other), "it is for another processor, EM_PPC64, and this host has EM_"},
		{"not a program", published([]byte("text"), []byte("text")), sends([]byte("text")), "it is not a program"},
		{"a link that has expired", published(content, content), answers(http.StatusGone), "the link to it is not valid any more (410 Gone)"},
		{"a link of somebody else", published(content, content), answers(http.StatusForbidden), "the link to it is not valid any more (403"},
		{"not published", published(content, content), answers(http.StatusNotFound), "it is not published any more"},
		{"a fault", published(content, content), answers(http.StatusBadGateway), "the server answers 502"},
		{"too large for the disk", programs.Target{
			Version: "1.2.3", Path: "/a", SHA256: hash(nil), BinarySHA256: hash(nil), Size: 1 << 62,
		}, sends(nil), "the disk is full: it needs"},
		{"redirected in a circle", published(content, content), around, "it is redirected too often"},
	} {
		t.Run(row.name, func(t *testing.T) {
			storage := removable(t)
			store := opened(t, storage)
			_, err := store.Fetch(context.Background(), serving(t, row.answer), row.target, programs.Known{})
			if err == nil || !strings.Contains(err.Error(), row.says) {
				t.Fatalf("%v", err)
			}
			if strings.Contains(err.Error(), "signature") {
				t.Errorf("the link is told: %v", err)
			}
			if left := leftovers(t, storage); len(left) > 0 || store.Has(row.target.ID()) {
				t.Errorf("%v is left", left)
			}
			if path := programs.Start(storage, name, "/installed"); path != "/installed" {
				t.Errorf("%s would be started", path)
			}
		})
	}
}

func sends(content []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(content) }
}

func answers(status int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }
}

func cutOff(content []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000000000")
		_, _ = w.Write(content[:1000])
	}
}

func around(w http.ResponseWriter, r *http.Request) {
	http.Redirect(w, r, r.URL.String(), http.StatusTemporaryRedirect)
}

func TestNoRedirectLeadsFromTLSToAServerWithoutIt(t *testing.T) {
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	secure := httptest.NewTLSServer(http.RedirectHandler(plain.URL, http.StatusTemporaryRedirect))
	defer secure.Close()
	// The client of this package trusts the system's certificates, and no test server has one of them: the rule is tried
	// by itself.
	first, err := http.NewRequest(http.MethodGet, secure.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	next, err := http.NewRequest(http.MethodGet, plain.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := programs.Redirect(next, []*http.Request{first}); err == nil {
		t.Error("it is followed")
	}
	if err := programs.Redirect(first, []*http.Request{next}); err != nil {
		t.Error(err)
	}
}

func TestAHostileTargetIsRefused(t *testing.T) {
	good := published([]byte("a"), []byte("a"))
	if err := good.Check(); err != nil {
		t.Fatal(err)
	}
	for what, change := range map[string]func(*programs.Target){
		"another server":         func(t *programs.Target) { t.Path = "//evil.example/a" },
		"an address":             func(t *programs.Target) { t.Path = "http://evil.example/a" },
		"no path":                func(t *programs.Target) { t.Path = "" },
		"a long path":            func(t *programs.Target) { t.Path = "/" + strings.Repeat("a", 3<<10) },
		"a version with a slash": func(t *programs.Target) { t.Version = "../../etc" },
		"a hash that is a path":  func(t *programs.Target) { t.BinarySHA256 = strings.Repeat("../", 21) + "a" },
		"a short hash":           func(t *programs.Target) { t.SHA256 = "abcd" },
		"a hash in capitals":     func(t *programs.Target) { t.SHA256 = strings.ToUpper(t.SHA256) },
		"no size":                func(t *programs.Target) { t.Size = 0 },
		"a size below zero":      func(t *programs.Target) { t.Size = -1 },
		"a large size":           func(t *programs.Target) { t.Size = 2 << 30 },
		"both":                   func(t *programs.Target) { t.Installed = true },
	} {
		target := good
		change(&target)
		if err := target.Check(); err == nil {
			t.Errorf("%s is taken", what)
		}
	}
	if err := (programs.Target{Installed: true}).Check(); err != nil {
		t.Error(err)
	}
	address, err := good.Address("https://headgate.example/v1/opamp")
	if err != nil || address != "https://headgate.example/program?signature=a" {
		t.Errorf("%s %v", address, err)
	}
}

func TestAProgramThatWasChangedIsNotStarted(t *testing.T) {
	content := program(t)
	storage := removable(t)
	store, target := opened(t, storage), published(content, content)
	known, err := store.Fetch(context.Background(), serving(t, sends(content)), target, programs.Known{})
	if err != nil {
		t.Fatal(err)
	}
	store.State.Known[target.ID()], store.State.Current = known, target.ID()
	if err := store.Save(); err != nil {
		t.Fatal(err)
	}
	path := store.Path(target.ID())
	if got := programs.Start(storage, name, "/installed"); got != path {
		t.Fatal(got)
	}
	// Whoever can write to it changes the time of its last change, which only the kernel sets.
	if err := os.Chmod(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if got := programs.Start(storage, name, "/installed"); got != "/installed" {
		t.Errorf("a program that can be written to is started: %s", got)
	}
	if err := os.Truncate(path, 1000); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o500); err != nil {
		t.Fatal(err)
	}
	if got := programs.Start(storage, name, "/installed"); got != "/installed" {
		t.Errorf("a truncated program is started: %s", got)
	}
	folder := filepath.Dir(path)
	if err := os.Chmod(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/bin/sh", path); err != nil {
		t.Fatal(err)
	}
	if got := programs.Start(storage, name, "/installed"); got != "/installed" {
		t.Errorf("a link is followed: %s", got)
	}
	if _, err := opened(t, storage).Fetch(context.Background(), serving(t, sends(content)), target, programs.Known{}); err != nil {
		t.Errorf("it cannot be fetched again: %v", err)
	}
}

func TestAFetchThatWasKilledLeavesNothingAndAnotherOneStays(t *testing.T) {
	storage := removable(t)
	opened(t, storage)
	for _, left := range []string{".part-otelcol-contrib-1", ".part-headgate-supervisor-1"} {
		if err := os.WriteFile(filepath.Join(storage, programs.Folder, left), []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	opened(t, storage)
	if left := leftovers(t, storage); len(left) != 1 || !strings.HasSuffix(left[0], "headgate-supervisor-1") {
		t.Errorf("%v", left)
	}
}

func TestADownloadThatIsNotWantedAnyMoreEnds(t *testing.T) {
	begun := make(chan struct{})
	endpoint := serving(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte("a"))
		w.(http.Flusher).Flush()
		close(begun)
		<-r.Context().Done()
	})
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		<-begun
		cancel()
	}()
	content := program(t)
	storage := removable(t)
	store := opened(t, storage)
	if _, err := store.Fetch(ctx, endpoint, published(content, content), programs.Known{}); err == nil {
		t.Error("it is there")
	}
	if left := leftovers(t, storage); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}

func TestProgramsToWhichNothingGoesBackAreRemoved(t *testing.T) {
	content := program(t)
	storage := removable(t)
	store := opened(t, storage)
	var targets []programs.Target
	for n := range 4 {
		one := append(bytes.Clone(content), byte(n))
		target := published(one, one)
		known, err := store.Fetch(context.Background(), serving(t, sends(one)), target, programs.Known{})
		if err != nil {
			t.Fatal(err)
		}
		store.State.Known[target.ID()] = known
		targets = append(targets, target)
	}
	store.State.Current, store.State.Before = targets[1].ID(), targets[2].ID()
	store.Prune(targets[3].ID())
	for n, there := range []bool{false, true, true, true} {
		if store.Has(targets[n].ID()) != there {
			t.Errorf("program %d: %v", n, !there)
		}
	}
}

func TestADamagedStateMakesTheInstalledProgramRun(t *testing.T) {
	storage := removable(t)
	store := opened(t, storage)
	store.State.Current = hash([]byte("a"))
	if err := store.Save(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(storage, programs.Folder, name+"-current.json")
	for _, content := range []string{"", "{", `{"current":"../../../bin"}`, `{"current":"` + hash([]byte("a")) + `"}`} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := programs.Start(storage, name, "/installed"); got != "/installed" {
			t.Errorf("%q starts %s", content, got)
		}
	}
	if state := opened(t, storage).State; state.Trial != nil {
		t.Error("a trial is under way")
	}
}
