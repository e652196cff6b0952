package host

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/open-telemetry/opamp-go/protobufs"
	"google.golang.org/protobuf/proto"
)

const (
	applied = protobufs.RemoteConfigStatuses_RemoteConfigStatuses_APPLIED
	failed  = protobufs.RemoteConfigStatuses_RemoteConfigStatuses_FAILED
)

// bench is a host whose service answers what a test lets it answer.
type bench struct {
	*testing.T
	host    *Host
	folder  string
	written string
	clock   time.Time
	scraper *scraper
}

func newBench(t *testing.T) *bench {
	t.Helper()
	folder := t.TempDir()
	b := &bench{T: t, folder: folder, written: filepath.Join(folder, "effective.yaml"), clock: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), scraper: newScraper()}
	b.start()
	return b
}

// start is a start of the program on this host.
func (b *bench) start() {
	b.host = New(Settings{
		Version: "1.2.3", Name: "web-1", Labels: map[string]string{"zone": "a"}, Storage: b.folder, Effective: b.written,
		Components: []string{"exporter/debug", "receiver/filelog", "receiver/otlp"},
	})
	b.host.now = func() time.Time { return b.clock }
}

func (b *bench) write(text string) {
	b.Helper()
	if err := os.WriteFile(b.written, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
}

// exchange sends a message, which the service answers, and returns it with its report as JSON, empty if it has none.
func (b *bench) exchange(message *protobufs.AgentToServer, answer *protobufs.ServerToAgent) (*protobufs.AgentToServer, map[string]any) {
	b.Helper()
	b.host.Outgoing(message)
	if answer != nil {
		b.host.Answered(message, answer)
	}
	said := map[string]any{}
	if custom := message.CustomMessage; custom != nil {
		if custom.Capability != "io.headgate.host" || custom.Type != "report" {
			b.Errorf("%s %s", custom.Capability, custom.Type)
		}
		if err := json.Unmarshal(custom.Data, &said); err != nil {
			b.Fatal(err)
		}
	}
	return message, said
}

func full() *protobufs.AgentToServer {
	return &protobufs.AgentToServer{AgentDescription: &protobufs.AgentDescription{}}
}

func status(hash string, is protobufs.RemoteConfigStatuses) *protobufs.AgentToServer {
	return &protobufs.AgentToServer{RemoteConfigStatus: &protobufs.RemoteConfigStatus{LastRemoteConfigHash: []byte(hash), Status: is}}
}

func offer(hash, text string) *protobufs.ServerToAgent {
	files := map[string]*protobufs.AgentConfigFile{"": {Body: []byte(text)}}
	return &protobufs.ServerToAgent{RemoteConfig: &protobufs.AgentRemoteConfig{
		ConfigHash: []byte(hash), Config: &protobufs.AgentConfigMap{ConfigMap: files},
	}}
}

// tries lets the host be offered a text, which the supervisor writes.
func (b *bench) tries(hash, text string) {
	b.Helper()
	b.exchange(&protobufs.AgentToServer{}, offer(hash, text))
	b.write(text)
	b.host.Written()
	b.look()
}

// runs lets the host be offered a text, and apply it.
func (b *bench) runs(hash, text string) {
	b.Helper()
	b.tries(hash, text)
	b.exchange(status(hash, applied), &protobufs.ServerToAgent{})
}

// look is one round of Watch.
func (b *bench) look() { b.host.look(b.Context(), b.scraper) }

// restarts is a restart of the program: the supervisor starts with what it received last.
func (b *bench) restarts(received *protobufs.ServerToAgent) {
	b.Helper()
	b.start()
	content, err := proto.Marshal(received.RemoteConfig)
	if err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(b.folder, receivedFile), content, 0o600); err != nil {
		b.Fatal(err)
	}
	b.write(string(received.RemoteConfig.Config.ConfigMap[""].Body))
	b.host.Started()
	b.look()
}

func (b *bench) exits(times int, every time.Duration) {
	for range times {
		b.clock = b.clock.Add(every)
		b.host.Exited()
	}
}

func TestAFullReportNamesTheHostAndOthersOnlyWhatChanged(t *testing.T) {
	b := newBench(t)
	message, said := b.exchange(full(), &protobufs.ServerToAgent{})

	if said["name"] != "web-1" || !reflect.DeepEqual(said["labels"], map[string]any{"zone": "a"}) {
		t.Errorf("%v", said)
	}
	if !reflect.DeepEqual(said["supervisor"], map[string]any{"version": "1.2.3"}) {
		t.Errorf("%v", said)
	}
	if !reflect.DeepEqual(message.CustomCapabilities.GetCapabilities(), []string{"io.headgate.host"}) {
		t.Errorf("%v", message.CustomCapabilities)
	}
	if _, said := b.exchange(&protobufs.AgentToServer{}, &protobufs.ServerToAgent{}); len(said) != 0 {
		t.Errorf("nothing has changed, and it says %v", said)
	}
	b.host.Exited()
	if _, said := b.exchange(&protobufs.AgentToServer{}, nil); said["exits"] == nil || said["name"] != nil {
		t.Errorf("%v", said)
	}
	if _, said := b.exchange(&protobufs.AgentToServer{}, &protobufs.ServerToAgent{}); said["exits"] == nil {
		t.Errorf("what was not answered is not said again: %v", said)
	}
}

func TestTheHashIsThatOfTheAssignedTextAlsoAfterARestart(t *testing.T) {
	b := newBench(t)
	const text = "receivers: {}\nexporters: {otlp: {headers: {a: ${env:SECRET}}}}\n"
	b.runs("h1", text)
	b.restarts(offer("h1", text))
	_, said := b.exchange(full(), &protobufs.ServerToAgent{})

	// sha256sum of the text
	const want = "ee35299c00a39c728e8401855f9f4a706d40defca23da660f821a8548c6e9682"
	config := said["config"].(map[string]any)
	if config["hash"] != want || fmt.Sprint(config["drifted"]) != "[]" {
		t.Errorf("%v", said)
	}
	info, err := os.Stat(filepath.Join(b.folder, configsFile))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}

func TestAChangeByHandIsToldByItsTopLevelKeysWithoutValues(t *testing.T) {
	b := newBench(t)
	b.runs("h1", "receivers: {a: 1}\nexporters: {b: 2}\n")
	for text, keys := range map[string]string{
		"exporters: {b: 2} # a comment\nreceivers:\n  a: 1\n":              "[]",
		"receivers: {a: hidden}\nexporters: {b: 2}\n":                      "[receivers]",
		"receivers: {a: 1}\nprocessors: {hidden: 3}\n":                     "[exporters processors]",
		"receivers: {a: 1}\nexporters: {b: 2}\n\"${env:X}\\nhidden\": 4\n": "[envXhidden]",
		"receivers: {": "[exporters receivers]",
		"receivers: {a: 1}\nexporters: {b: 2}\n_local_/x: 4\n-: 5\n": "[local/x]",
	} {
		b.write(text)
		b.look()
		message, said := b.exchange(full(), &protobufs.ServerToAgent{})
		if got := fmt.Sprint(said["config"].(map[string]any)["drifted"]); got != keys {
			t.Errorf("%q: %s instead of %s", text, got, keys)
		}
		if keys != "[envXhidden]" && strings.Contains(string(message.CustomMessage.Data), "hidden") {
			t.Errorf("a value left this host: %s", message.CustomMessage.Data)
		}
	}
}

func TestThreeEndsSoonAfterAnApplyAreAFailureOfThatConfiguration(t *testing.T) {
	b := newBench(t)
	b.runs("good", "receivers: {a: 1}\n")
	b.runs("bad", "receivers: {a: 2}\n")
	b.exits(2, 25*time.Second)
	if message, _ := b.exchange(&protobufs.AgentToServer{}, &protobufs.ServerToAgent{}); message.RemoteConfigStatus != nil {
		t.Errorf("two ends: %v", message)
	}
	b.exits(1, 25*time.Second)
	message, said := b.exchange(&protobufs.AgentToServer{}, offer("good", "receivers: {a: 1}\n"))
	if got := message.RemoteConfigStatus; got.GetStatus() != failed || string(got.LastRemoteConfigHash) != "bad" ||
		!strings.HasPrefix(got.ErrorMessage, "The collector ended 3 times in the 10 minutes after") {
		t.Errorf("%v", got)
	}
	if said["crash_loop"].(map[string]any)["exits"] != 3.0 {
		t.Errorf("%v", said)
	}
	// The supervisor itself still believes in it.
	if message, _ := b.exchange(status("bad", applied), &protobufs.ServerToAgent{}); message.RemoteConfigStatus.Status != failed {
		t.Errorf("%v", message)
	}
	message, _ = b.exchange(status("good", applied), &protobufs.ServerToAgent{})
	if message.RemoteConfigStatus.Status != applied {
		t.Errorf("%v", message)
	}
	if message, _ := b.exchange(&protobufs.AgentToServer{}, &protobufs.ServerToAgent{}); message.RemoteConfigStatus != nil {
		t.Errorf("%v", message)
	}
}

func TestLaterEndsAreNoFailureOfTheConfiguration(t *testing.T) {
	b := newBench(t)
	b.runs("h1", "receivers: {a: 1}\n")
	b.clock = b.clock.Add(11 * time.Minute)
	b.exits(5, time.Minute)
	message, said := b.exchange(&protobufs.AgentToServer{}, &protobufs.ServerToAgent{})
	if message.RemoteConfigStatus != nil || said["exits"].(map[string]any)["since_apply"] != 5.0 {
		t.Errorf("%v, %v", message, said)
	}
}

func TestWithoutTheServiceTheHostGoesBackByItselfOnce(t *testing.T) {
	b := newBench(t)
	b.runs("good", "receivers: {a: 1}\n")
	b.runs("bad", "receivers: {a: 2}\n")
	b.exits(2, time.Second)
	if answer := b.host.Unanswered(&protobufs.AgentToServer{}); answer != nil {
		t.Errorf("two ends: %v", answer)
	}
	// Also if this program is restarted meanwhile: the ten minutes are those after the apply.
	b.restarts(offer("bad", "receivers: {a: 2}\n"))
	b.exits(3, time.Second)
	answer := b.host.Unanswered(&protobufs.AgentToServer{InstanceUid: []byte("uid")})
	if string(answer.GetRemoteConfig().GetConfigHash()) != "good" || string(answer.InstanceUid) != "uid" {
		t.Errorf("%v", answer)
	}
	if again := b.host.Unanswered(&protobufs.AgentToServer{}); again != nil {
		t.Errorf("%v", again)
	}
	b.write("receivers: {a: 1}\n")
	b.host.Written()
	message, said := b.exchange(status("good", applied), &protobufs.ServerToAgent{})
	if message.RemoteConfigStatus.Status != applied || said["crash_loop"] == nil || said["config"].(map[string]any)["hash"] != textHash("receivers: {a: 1}\n") {
		t.Errorf("the service must know why: %v, %v", message, said)
	}
}

// The service may have stored the report of a message whose answer was lost.
func TestWhatALostAnswerLeftOpenIsToldAgain(t *testing.T) {
	first, second := "receivers: {a: 1}\n", "receivers: {a: 2}\n"
	for name, lost := range map[string]func(b *bench){
		"unanswered":     func(b *bench) { b.host.Unanswered(&protobufs.AgentToServer{}) },
		"nobody waited":  func(*bench) {},
		"sent once more": func(b *bench) { b.exchange(&protobufs.AgentToServer{}, nil) },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.runs("good", first)
			b.exchange(full(), &protobufs.ServerToAgent{})
			b.tries("bad", second)
			if _, said := b.exchange(&protobufs.AgentToServer{}, nil); said["config"].(map[string]any)["hash"] != textHash(second) {
				t.Fatalf("%v", said)
			}
			lost(b)

			b.host.mutex.Lock()
			before := b.host.configs.before()
			b.host.configs.offered(before)
			b.host.mutex.Unlock()
			b.write(first)
			b.host.Written()
			b.look()
			_, said := b.exchange(&protobufs.AgentToServer{}, &protobufs.ServerToAgent{})
			if config, _ := said["config"].(map[string]any); config["hash"] != textHash(first) {
				t.Errorf("%v", said)
			}
			if _, said := b.exchange(&protobufs.AgentToServer{}, &protobufs.ServerToAgent{}); said["config"] != nil {
				t.Errorf("again: %v", said)
			}
		})
	}
}

func TestEndsCountForTheConfigurationThatRanThen(t *testing.T) {
	b := newBench(t)
	b.runs("good", "receivers: {a: 1}\n")
	for n := range 4 {
		b.tries(fmt.Sprint("bad", n), fmt.Sprintf("receivers: {a: 2%d}\n", n))
		b.exits(1, time.Second)
		b.exchange(status(fmt.Sprint("bad", n), failed), offer("good", "receivers: {a: 1}\n"))
		b.write("receivers: {a: 1}\n")
		b.host.Written()
		message, said := b.exchange(status("good", applied), &protobufs.ServerToAgent{})
		if message.RemoteConfigStatus.Status != applied || said["exits"].(map[string]any)["since_apply"] != 0.0 {
			t.Errorf("%d: %v, %v", n, message, said)
		}
	}
}

func TestTheHashIsThatOfWhatRunsAndNotOfWhatWasOffered(t *testing.T) {
	b := newBench(t)
	hash := func() string {
		_, said := b.exchange(full(), &protobufs.ServerToAgent{})
		return said["config"].(map[string]any)["hash"].(string)
	}
	b.runs("good", "good: 1\n")
	b.exchange(&protobufs.AgentToServer{}, offer("refused", "refused: 1\n"))
	b.exchange(status("refused", failed), &protobufs.ServerToAgent{})
	if got := hash(); got != textHash("good: 1\n") {
		t.Errorf("refused: %s", got)
	}
	// The supervisor starts from what it received last, also if it refused that.
	b.restarts(offer("refused", "refused: 1\n"))
	if got := hash(); got != textHash("refused: 1\n") {
		t.Errorf("started: %s", got)
	}
	b.tries("ends", "ends: 1\n")
	b.exchange(status("ends", failed), &protobufs.ServerToAgent{})
	if got := hash(); got != textHash("ends: 1\n") {
		t.Errorf("it is tried: %s", got)
	}
	b.runs("good", "good: 1\n")
	if got := hash(); got != textHash("good: 1\n") {
		t.Errorf("went back: %s", got)
	}
	// Another comment: the supervisor starts nothing anew, and calls it applied at once.
	b.exchange(&protobufs.AgentToServer{}, offer("comment", "good: 1 # same\n"))
	b.exchange(status("comment", applied), &protobufs.ServerToAgent{})
	if got := hash(); got != textHash("good: 1 # same\n") {
		t.Errorf("comment: %s", got)
	}
	b.exchange(&protobufs.AgentToServer{}, &protobufs.ServerToAgent{RemoteConfig: &protobufs.AgentRemoteConfig{ConfigHash: []byte("none")}})
	b.host.Written()
	if got := hash(); got != "" {
		t.Errorf("nothing: %s", got)
	}
}

func TestAHostThatHasNotSeenItsFileYetSaysNothingOfIt(t *testing.T) {
	b := newBench(t)
	// The supervisor's first run of the collector, to learn about it.
	b.write("extensions: {opamp: {}}\n")
	if _, said := b.exchange(full(), &protobufs.ServerToAgent{}); said["config"] != nil {
		t.Errorf("%v", said)
	}
	b.restarts(offer("h1", "receivers: {a: 1}\n"))
	if _, said := b.exchange(&protobufs.AgentToServer{}, nil); fmt.Sprint(said["config"].(map[string]any)["drifted"]) != "[]" {
		t.Errorf("%v", said)
	}
}

func textHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return inHex(sum[:])
}

func TestMessagesEventsAndTheWatchDoNotRace(t *testing.T) {
	b := newBench(t)
	b.write("receivers: {a: 1}\n")
	watching, end := context.WithCancel(t.Context())
	var all sync.WaitGroup
	all.Go(func() { b.host.Watch(watching) })
	for _, act := range []func(){b.host.Exited, b.host.Written, b.host.CollectorStarted, func() {
		message := full()
		b.host.Outgoing(message)
		b.host.Answered(message, offer("h1", "receivers: {a: 1}\n"))
		b.host.Unanswered(message)
	}} {
		all.Go(func() {
			for range 20 {
				act()
			}
		})
	}
	time.AfterFunc(10*time.Millisecond, end)
	all.Wait()
	if _, said := b.exchange(full(), &protobufs.ServerToAgent{}); said["exits"] == nil {
		t.Errorf("%v", said)
	}
}
