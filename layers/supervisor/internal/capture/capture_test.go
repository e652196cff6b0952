package capture

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/headgate/headgate/layers/supervisor/internal/host"
	"github.com/open-telemetry/opamp-go/protobufs"
	"go.yaml.in/yaml/v3"
	"google.golang.org/protobuf/proto"
)

const (
	applying = protobufs.RemoteConfigStatuses_RemoteConfigStatuses_APPLYING
	applied  = protobufs.RemoteConfigStatuses_RemoteConfigStatuses_APPLIED
	failed   = protobufs.RemoteConfigStatuses_RemoteConfigStatuses_FAILED

	askedFor = `{"capture":{"id":"cap_1","signal":"logs","pipeline":"logs","component":"otlp","context":"log",` +
		`"condition":"true","records":2,"seconds":60,"redaction":{"kinds":["credentials"]}}}`
	simple = "receivers: {otlp: }\nexporters: {debug: }\nservice: {pipelines: {logs: &a {receivers: [otlp], exporters: [debug]}, traces: *a, metrics: *a}}\n"
)

// bench is a host under a supervisor and a service that a test plays.
type bench struct {
	*testing.T
	host     *host.Host
	captures *Captures
	folder   string
	clock    time.Time
	// told is what messages have told the service of captures, the newest last; sent is all that they are.
	told []*news
	sent bytes.Buffer
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{T: t, folder: t.TempDir(), clock: time.Now()}
	b.start()
	b.apply("v1")
	return b
}

func (b *bench) start() {
	b.host = host.New(host.Settings{Version: "1", Storage: b.folder, Effective: filepath.Join(b.folder, "effective.yaml"), Components: whole})
	b.captures = New(b.host, Settings{Storage: b.folder, Capability: host.Capability})
	b.captures.now = func() time.Time { return b.clock }
	b.Cleanup(func() {
		if reader := b.captures.reader; reader != nil {
			reader.close()
		}
	})
}

func offer(hash string) *protobufs.ServerToAgent {
	return &protobufs.ServerToAgent{RemoteConfig: &protobufs.AgentRemoteConfig{
		ConfigHash: []byte(hash),
		Config:     &protobufs.AgentConfigMap{ConfigMap: map[string]*protobufs.AgentConfigFile{"": {Body: []byte(simple)}}},
	}}
}

func asking(data string) *protobufs.ServerToAgent {
	return &protobufs.ServerToAgent{CustomMessage: &protobufs.CustomMessage{Capability: host.Capability, Type: "order", Data: []byte(data)}}
}

func status(hash []byte, is protobufs.RemoteConfigStatuses, message string) *protobufs.AgentToServer {
	return &protobufs.AgentToServer{RemoteConfigStatus: &protobufs.RemoteConfigStatus{LastRemoteConfigHash: hash, Status: is, ErrorMessage: message}}
}

// says sends a message of the supervisor, which the service answers, and returns what the supervisor gets.
func (b *bench) says(message *protobufs.AgentToServer, answer *protobufs.ServerToAgent) *protobufs.AgentRemoteConfig {
	b.Helper()
	b.captures.Outgoing(message)
	content, err := proto.Marshal(message)
	if err != nil {
		b.Fatal(err)
	}
	b.sent.Write(content)
	b.captures.Answered(message, answer)
	if message.CustomMessage.GetType() == messageType {
		var said news
		if err := json.Unmarshal(message.CustomMessage.Data, &said); err != nil {
			b.Fatal(err)
		}
		b.told = append(b.told, &said)
	}
	return answer.RemoteConfig
}

// last is what the service is told last, after one more message.
func (b *bench) last() *news {
	b.Helper()
	b.polls()
	if len(b.told) == 0 {
		b.Fatal("nothing is told")
	}
	return b.told[len(b.told)-1]
}

func (b *bench) polls() *protobufs.AgentRemoteConfig {
	b.Helper()
	return b.says(&protobufs.AgentToServer{}, &protobufs.ServerToAgent{})
}

func (b *bench) apply(hash string) {
	b.Helper()
	b.says(&protobufs.AgentToServer{}, offer(hash))
	if err := os.WriteFile(filepath.Join(b.folder, "effective.yaml"), []byte(simple), 0o600); err != nil {
		b.Fatal(err)
	}
	b.host.Written()
	b.says(status([]byte(hash), applied, ""), &protobufs.ServerToAgent{})
}

// begins lets the supervisor add the branch.
func (b *bench) begins() *protobufs.AgentRemoteConfig {
	b.Helper()
	config := b.says(&protobufs.AgentToServer{}, asking(askedFor))
	if config == nil {
		b.Fatal("no branch is offered")
	}
	b.says(status(config.ConfigHash, applying, ""), asking(askedFor))
	b.says(status(config.ConfigHash, applied, ""), asking(askedFor))
	return config
}

// exports posts records as the branch does, and returns the status.
func (b *bench) exports(secret string, bodies ...string) int {
	b.Helper()
	var records []string
	for _, body := range bodies {
		records = append(records, fmt.Sprintf(`{"body":{"stringValue":%q}}`, body))
	}
	return b.posts(secret, `{"resourceLogs":[{"scopeLogs":[{"logRecords":[`+strings.Join(records, ",")+`]}]}]}`)
}

func (b *bench) posts(secret, document string) int {
	b.Helper()
	request, err := http.NewRequest(http.MethodPost, "http://"+b.captures.reader.address()+"/v1/any", strings.NewReader(document))
	if err != nil {
		b.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+secret)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	return answer.StatusCode
}

func unpacked(t *testing.T, said *news) string {
	t.Helper()
	reader, err := zlib.NewReader(bytes.NewReader(said.Sample))
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func TestTheSupervisorRunsTheAssignedTextWithABranchAndTheServiceKnowsOfTheVersionAlone(t *testing.T) {
	b := newBench(t)
	config := b.says(&protobufs.AgentToServer{}, asking(askedFor))

	files := config.Config.ConfigMap
	if string(files["text"].Body) != simple || string(config.ConfigHash) == "v1" || len(files) != 2 {
		t.Errorf("%v", config)
	}
	var added map[string]any
	if err := yaml.Unmarshal(files[""].Body, &added); err != nil || added["service"] == nil {
		t.Errorf("%v %s", err, files[""].Body)
	}
	for _, is := range []protobufs.RemoteConfigStatuses{applying, applied} {
		message := status(config.ConfigHash, is, "")
		b.says(message, asking(askedFor))
		if got := message.RemoteConfigStatus; string(got.LastRemoteConfigHash) != "v1" || got.Status != applied {
			t.Errorf("the service is told %v", got)
		}
	}
	if said := b.last(); said.Status != "running" || said.ID != "cap_1" || len(b.told) != 1 {
		t.Errorf("told %v", b.told)
	}
	if report := b.captures.host.Settled(); string(report.ConfigHash) != "v1" {
		t.Errorf("the host says that %s runs", report.ConfigHash)
	}
}

func TestACaptureEndsWithItsRecordsAndTheirSampleIsTold(t *testing.T) {
	b := newBench(t)
	b.begins()
	secret := b.captures.reader.secret
	if got := b.exports("another", "x"); got != http.StatusNotFound {
		t.Errorf("another user of the host gets %d", got)
	}
	for range 2 {
		if got := b.exports(secret, "one password=hunter2", "two", "three"); got != http.StatusOK {
			t.Errorf("%d", got)
		}
	}
	if restored := b.polls(); string(restored.GetConfigHash()) != "v1" || len(restored.Config.ConfigMap) != 1 {
		t.Errorf("%v", restored)
	}
	// The collector sends on until it has restarted, and nobody else is to listen there.
	if got := b.exports(secret, "three"); got != http.StatusOK {
		t.Errorf("the address is free while the collector sends to it: %d", got)
	}
	said := b.last()
	if said.Status != "ended" || said.Reason != byRecords || said.Records != 2 || said.Redacted != 1 {
		t.Fatalf("%v", said)
	}
	if lines := unpacked(t, said); strings.Contains(lines, "hunter2") || !strings.Contains(lines, `"two"`) || strings.Contains(lines, "three") {
		t.Error(lines)
	}
	message := status([]byte("v1"), applying, "")
	b.says(message, asking(askedFor))
	if message.RemoteConfigStatus.Status != applied {
		t.Errorf("the service is told %v", message.RemoteConfigStatus)
	}
	b.says(status([]byte("v1"), applied, ""), asking(askedFor))
	if again := b.says(&protobufs.AgentToServer{}, asking(askedFor)); again != nil || b.captures.phase != none {
		t.Errorf("it begins again: %v", again)
	}
}

func TestNoneOfTwoHundredSecretsIsAmongTheBytesThatLeaveTheHost(t *testing.T) {
	planted, texts := plantedSecrets(200)
	for signal, place := range places {
		asked := `{"capture":{"id":"cap_%d","signal":"` + signal + `","pipeline":"` + signal + `","component":"otlp","context":"` +
			contexts[signal][0] + `","condition":"true","records":100,"seconds":60,"redaction":{"kinds":["` +
			strings.Join(everything.Kinds, `","`) + `"]}}}`
		b := newBench(t)
		for half := range 2 {
			if b.says(&protobufs.AgentToServer{}, asking(fmt.Sprintf(asked, half))) == nil {
				t.Fatalf("no branch of %s is offered", signal)
			}
			secret := b.captures.reader.secret
			for _, text := range texts[100*half : 100*(half+1)] {
				values := make([]any, strings.Count(place, "%s"))
				for i := range values {
					values[i] = quoted(text)
				}
				if signal == "logs" {
					values[10] = quoted(base64.StdEncoding.EncodeToString([]byte(text)))
				}
				if got := b.posts(secret, fmt.Sprintf(place, values...)); got != http.StatusOK {
					t.Fatal(got)
				}
			}
			b.polls()
			if said := b.last(); said.Records != 100 || said.Reason != byRecords {
				t.Fatalf("%s: %v", signal, said)
			}
			b.says(status([]byte("v1"), applied, ""), &protobufs.ServerToAgent{})
		}
		left := b.sent.String()
		for _, said := range b.told {
			left += unpacked(t, said)
		}
		for i, one := range planted {
			for _, form := range []string{one, strings.ReplaceAll(one, " ", ""), base64.StdEncoding.EncodeToString([]byte(texts[i]))} {
				if strings.Contains(left, form) {
					t.Errorf("%s: %q left the host", signal, form)
				}
			}
		}
	}
}

func TestACaptureEndsByItselfWithoutTheService(t *testing.T) {
	b := newBench(t)
	b.begins()
	b.exports(b.captures.reader.secret, "one")
	if answer := b.captures.Unanswered(&protobufs.AgentToServer{}); answer != nil {
		t.Errorf("too early: %v", answer)
	}
	b.clock = b.clock.Add(time.Minute)
	answer := b.captures.Unanswered(&protobufs.AgentToServer{InstanceUid: []byte("uid")})
	if string(answer.GetRemoteConfig().GetConfigHash()) != "v1" {
		t.Fatalf("%v", answer)
	}
	message := &protobufs.AgentToServer{}
	b.captures.Outgoing(message)
	if answer := b.captures.Unanswered(message); answer != nil {
		t.Errorf("offered again at once: %v", answer)
	}
	if said := b.last(); said.Reason != byTime || said.Records != 1 {
		t.Errorf("%v", said)
	}
}

func TestNothingIsTakenAfterTheDeadline(t *testing.T) {
	b := newBench(t)
	b.begins()
	b.captures.reader.mutex.Lock()
	b.captures.reader.until = time.Now()
	b.captures.reader.mutex.Unlock()
	if got := b.exports(b.captures.reader.secret, "late"); got != http.StatusOK {
		t.Errorf("%d", got)
	}
	b.clock = b.clock.Add(time.Minute)
	b.polls()
	if said := b.last(); said.Records != 0 {
		t.Errorf("%v", said)
	}
}

func TestARestartOfTheProgramEndsTheCapture(t *testing.T) {
	b := newBench(t)
	config := b.begins()
	content, err := proto.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	received := filepath.Join(b.folder, receivedFile)
	if err := os.WriteFile(received, content, 0o600); err != nil {
		t.Fatal(err)
	}
	b.captures.reader.close()
	b.start()
	b.host.Started()

	started := &protobufs.AgentRemoteConfig{}
	if content, err = os.ReadFile(received); err != nil || proto.Unmarshal(content, started) != nil || string(started.ConfigHash) != "v1" {
		t.Errorf("%v: the supervisor starts with %v", err, started)
	}
	// The supervisor remembers what it said last.
	message := status(config.ConfigHash, applied, "")
	message.AgentDescription = &protobufs.AgentDescription{}
	b.says(message, asking(askedFor))
	if got := message.RemoteConfigStatus; string(got.LastRemoteConfigHash) != "v1" || message.CustomMessage.GetType() != "report" {
		t.Errorf("the service is told %v", message)
	}
	if said := b.last(); said.Reason != byRestart || said.ID != "cap_1" {
		t.Errorf("%v", said)
	}
	if again := b.says(&protobufs.AgentToServer{}, asking(askedFor)); again != nil {
		t.Error("it begins again")
	}
}

func TestANewVersionEndsTheCapture(t *testing.T) {
	b := newBench(t)
	b.begins()
	b.exports(b.captures.reader.secret, "one")
	if got := b.says(&protobufs.AgentToServer{}, offer("v2")); string(got.ConfigHash) != "v2" {
		t.Errorf("%v", got)
	}
	message := status([]byte("v2"), applying, "")
	b.captures.Outgoing(message)
	if message.RemoteConfigStatus.Status != applying || message.CustomMessage.GetType() != messageType {
		t.Errorf("the service is told %v", message)
	}
	b.captures.Answered(message, &protobufs.ServerToAgent{})
	if b.captures.phase != none || b.polls() != nil {
		t.Error("the capture goes on")
	}
}

func TestACollectorThatEndsDuringACaptureEndsIt(t *testing.T) {
	b := newBench(t)
	b.begins()
	b.captures.Exited()
	if restored := b.polls(); string(restored.GetConfigHash()) != "v1" {
		t.Errorf("%v", restored)
	}
	if said := b.last(); said.Reason != byCollapse {
		t.Errorf("%v", said)
	}
}

func TestAWriterEndsACapture(t *testing.T) {
	b := newBench(t)
	b.begins()
	b.exports(b.captures.reader.secret, "one")
	if restored := b.says(&protobufs.AgentToServer{}, asking(`{"capture":{"id":"cap_1","stop":true}}`)); string(restored.GetConfigHash()) != "v1" {
		t.Errorf("%v", restored)
	}
	if said := b.last(); said.Reason != byOrder || said.Records != 1 {
		t.Errorf("%v", said)
	}
	b.says(&protobufs.AgentToServer{}, asking(`{"capture":{"id":"cap_2","stop":true}}`))
	if said := b.last(); said.ID != "cap_2" || said.Reason != byOrder {
		t.Errorf("one that never began: %v", said)
	}
}

func TestADamagedNoteOfACaptureLeavesTheSupervisorsFile(t *testing.T) {
	whole, err := proto.Marshal(&protobufs.AgentRemoteConfig{ConfigHash: []byte("of the supervisor")})
	if err != nil {
		t.Fatal(err)
	}
	for _, content := range []string{"{", `{"active":true,"id":"cap_1"}`, `{"active":true,"id":"../x","assigned":"AAAA"}`} {
		b := newBench(t)
		received, note := filepath.Join(b.folder, receivedFile), filepath.Join(b.folder, knownFile)
		for path, text := range map[string]string{received: string(whole), note: content} {
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		b.start()
		if left, err := os.ReadFile(received); err != nil || !bytes.Equal(left, whole) {
			t.Errorf("%s: %q, %v", content, left, err)
		}
		if b.polls() != nil || len(b.told) > 0 {
			t.Errorf("%s: told %+v", content, b.told)
		}
	}
}

func TestErrorsThatLeaveTheHostHaveNoSecrets(t *testing.T) {
	const address, stays = "https://ada:hunter2@db.example.com refused", "'token': is required"
	health := func(text string) *protobufs.ComponentHealth { return &protobufs.ComponentHealth{LastError: text} }
	message := &protobufs.AgentToServer{
		RemoteConfigStatus: &protobufs.RemoteConfigStatus{ErrorMessage: address},
		Health:             health(stays),
	}
	message.Health.ComponentHealthMap = map[string]*protobufs.ComponentHealth{"pipeline:logs": health("key AKIA" + strings.Repeat("Q7", 8))}
	withoutSecrets(message)
	if message.RemoteConfigStatus.ErrorMessage != "https[REDACTED]db.example.com refused" || message.Health.LastError != stays {
		t.Errorf("%v", message)
	}
	if got := message.Health.ComponentHealthMap["pipeline:logs"].LastError; got != "key [REDACTED]" {
		t.Errorf("%q", got)
	}
}
