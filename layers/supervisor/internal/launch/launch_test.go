package launch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/headgate/headgate/layers/supervisor/internal/programs"
)

const (
	// acting makes this test the supervisor that a test starts; logging names the file in which each start is noted.
	acting  = "HEADGATE_TEST_ACTS"
	logging = "HEADGATE_TEST_LOG"
	order   = "ord_01k9z6v7w8x9y0a1b2c3d4e5f6"
)

// A program's last byte says what it does, so that each is another file.
const (
	installed = 'i'
	proves    = 'p'
	ends      = 'e'
	recovers  = 'r'
	hangs     = 'h'
	asks      = 'a'
	mute      = 'm'
)

func TestMain(m *testing.M) {
	if storage := os.Getenv(acting); storage != "" {
		act(storage)
	}
	os.Exit(m.Run())
}

// act is a supervisor.
func act(storage string) {
	self, _ := os.Executable()
	content, _ := os.ReadFile(self)
	kind := content[len(content)-1]
	if len(os.Args) == 2 && os.Args[1] == "version" {
		if kind == mute {
			time.Sleep(time.Hour)
		}
		fmt.Printf("1.0.0+%c\n", kind)
		os.Exit(0)
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM)
	if !Launched() {
		os.Exit(9)
	}
	file, _ := os.OpenFile(os.Getenv(logging), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	_, _ = file.Write([]byte{kind})
	switch kind {
	case proves:
		Proved(storage)
	case ends:
		os.Exit(3)
	case recovers:
		if content, _ := os.ReadFile(os.Getenv(logging)); len(content) < mostStarts {
			os.Exit(3)
		}
		Proved(storage)
	case hangs:
		<-stop
	case asks:
		Proved(storage)
		store, _ := programs.Open(storage, Name)
		store.State.Current = ""
		_ = store.Save()
		os.Exit(Restart)
	}
	os.Exit(0)
}

// bench is a host on which a supervisor was installed.
type bench struct {
	t        *testing.T
	storage  string
	log      string
	launcher *Launcher
}

func newBench(t *testing.T) *bench {
	t.Helper()
	folder := t.TempDir()
	b := &bench{t: t, storage: filepath.Join(folder, "var"), log: filepath.Join(folder, "log")}
	t.Cleanup(func() {
		folders, _ := filepath.Glob(filepath.Join(b.storage, programs.Folder, "*"))
		for _, one := range folders {
			_ = os.Chmod(one, 0o700)
		}
	})
	path := filepath.Join(folder, Name)
	if err := os.WriteFile(path, b.program(installed), 0o700); err != nil {
		t.Fatal(err)
	}
	b.launcher = &Launcher{
		Storage: b.storage, Installed: path,
		Environment: []string{acting + "=" + b.storage, logging + "=" + b.log},
	}
	t.Setenv(acting, b.storage)
	return b
}

func (b *bench) program(kind byte) []byte {
	b.t.Helper()
	self, err := os.Executable()
	if err != nil {
		b.t.Fatal(err)
	}
	content, err := os.ReadFile(self)
	if err != nil {
		b.t.Fatal(err)
	}
	return append(content, kind)
}

// replaced fetches a supervisor as an order says.
func (b *bench) replaced(kind byte, version string) error {
	b.t.Helper()
	content := b.program(kind)
	sum := sha256.Sum256(content)
	id := hex.EncodeToString(sum[:])
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(content) }))
	defer server.Close()
	target := programs.Target{Version: version, Path: "/a", SHA256: id, BinarySHA256: id, Size: int64(len(content))}
	return Replace(context.Background(), b.storage, b.launcher.Installed, server.URL, order, target)
}

func (b *bench) runs(want string, signals chan os.Signal) {
	b.t.Helper()
	if code := b.launcher.Run(signals); code != 0 {
		b.t.Errorf("it ends with %d", code)
	}
	content, err := os.ReadFile(b.log)
	if err != nil || string(content) != want {
		b.t.Errorf("%q ran, not %q: %v", content, want, err)
	}
}

func (b *bench) failed(reason string) {
	b.t.Helper()
	told := Failed(b.storage)
	if told == nil || told.Order != order || !strings.Contains(told.Reason, reason) {
		b.t.Errorf("%+v", told)
	}
	if again := Failed(b.storage); again != nil {
		b.t.Errorf("it is told again: %+v", again)
	}
}

func TestANewSupervisorStaysOnceItHasReported(t *testing.T) {
	b := newBench(t)
	if b.launcher.Needed() {
		t.Fatal("the installed one needs no other one")
	}
	if err := b.replaced(proves, "1.0.0+p"); err != nil {
		t.Fatal(err)
	}
	b.runs("p", nil)
	if told := Failed(b.storage); told != nil {
		t.Errorf("%+v", told)
	}
	// After the host was restarted.
	if !b.launcher.Needed() {
		t.Fatal("the new one does not run any more")
	}
	b.runs("pp", nil)
}

func TestASupervisorThatDoesNotSayItsVersionIsNotStarted(t *testing.T) {
	before := answers
	answers = 50 * time.Millisecond
	defer func() { answers = before }()
	b := newBench(t)

	err := b.replaced(mute, "1.0.0+m")

	if err == nil || !strings.Contains(err.Error(), "it did not end within 50ms") {
		t.Errorf("the error is %v", err)
	}
	if b.launcher.Needed() {
		t.Error("it is to be started")
	}
}

func TestTheFormerSupervisorRunsAgainIfTheNewOneEndsOrDoesNotReport(t *testing.T) {
	for _, row := range []struct {
		kind   byte
		wait   time.Duration
		reason string
	}{
		{ends, time.Minute, "it ended with exit code 3 before it had reported, 3 times"},
		{hangs, 10 * time.Millisecond, "it had not reported within"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			before := patience
			patience = row.wait
			defer func() { patience = before }()
			b := newBench(t)
			if err := b.replaced(row.kind, "1.0.0+"+string(row.kind)); err != nil {
				t.Fatal(err)
			}
			if row.kind == ends {
				b.runs("eeei", nil)
			} else if code := b.launcher.Run(nil); code != 0 {
				t.Errorf("the former one ends with %d", code)
			}
			b.failed(row.reason)
			if b.launcher.Needed() {
				t.Error("the new one is started again")
			}
		})
	}
}

func TestANewSupervisorThatFailsToStartIsStartedAgain(t *testing.T) {
	b := newBench(t)
	if err := b.replaced(recovers, "1.0.0+r"); err != nil {
		t.Fatal(err)
	}
	b.runs("rrr", nil)
	if told := Failed(b.storage); told != nil {
		t.Errorf("%+v", told)
	}
	if !b.launcher.Needed() {
		t.Error("the one before runs")
	}
}

func TestASupervisorThatIsAnotherProgramThanWasOrderedIsNotStarted(t *testing.T) {
	b := newBench(t)
	if err := b.replaced(proves, "2.0.0"); err == nil || !strings.Contains(err.Error(), `it says that it is version "1.0.0+p"`) {
		t.Error(err)
	}
	if b.launcher.Needed() {
		t.Error("it is started")
	}
}

func TestAKillBeforeTheNewSupervisorHasReportedBringsTheFormerOneBack(t *testing.T) {
	b := newBench(t)
	if err := b.replaced(proves, "1.0.0+p"); err != nil {
		t.Fatal(err)
	}
	if b.launcher.Needed() {
		t.Error("the new one is started by the next process")
	}
	b.failed("the host was restarted before it had reported")
}

func TestAnInstallTakesThePlaceOfWhatWasFetched(t *testing.T) {
	b := newBench(t)
	if err := b.replaced(proves, "1.0.0+p"); err != nil {
		t.Fatal(err)
	}
	b.runs("p", nil)
	if err := os.WriteFile(b.launcher.Installed, append(b.program(installed), installed), 0o700); err != nil {
		t.Fatal(err)
	}
	if b.launcher.Needed() {
		t.Error("the one that was installed later does not run")
	}
}

func TestAChildAsksForTheNextProgramAndASignalEndsIt(t *testing.T) {
	b := newBench(t)
	if err := b.replaced(asks, "1.0.0+a"); err != nil {
		t.Fatal(err)
	}
	b.runs("ai", nil)

	b = newBench(t)
	if err := b.replaced(hangs, "1.0.0+h"); err != nil {
		t.Fatal(err)
	}
	signals := make(chan os.Signal, 1)
	go func() {
		for {
			if content, err := os.ReadFile(b.log); err == nil && len(content) > 0 {
				signals <- syscall.SIGTERM
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	b.runs("h", signals)
}
