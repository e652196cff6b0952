package relay_test

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/headgate/headgate/layers/supervisor/internal/relay"
	"github.com/open-telemetry/opamp-go/protobufs"
	"google.golang.org/protobuf/proto"
)

const failed = protobufs.RemoteConfigStatuses_RemoteConfigStatuses_FAILED

// fixed are credentials that never change.
type fixed struct {
	headers http.Header
	context string
}

func (f fixed) Headers() (http.Header, string) {
	if f.headers == nil {
		return http.Header{}, f.context
	}
	return f.headers.Clone(), f.context
}

func (fixed) Answered(int) bool { return false }

// passed sends a message through a relay to a server that answers `status`, and returns what arrived there.
func passed(t *testing.T, message *protobufs.AgentToServer, status int) (*http.Request, *protobufs.AgentToServer, *http.Response) {
	t.Helper()
	var request *http.Request
	arrived := &protobufs.AgentToServer{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		request = r
		if err := proto.Unmarshal(body, arrived); err != nil {
			t.Error(err)
		}
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(status)
		_, _ = w.Write([]byte("answer"))
	}))
	defer server.Close()
	credentials := fixed{http.Header{"Authorization": {"Bearer t"}, "X-Deployment-Id": {"dep_1"}}, ""}
	r, err := relay.Start(relay.Server{Endpoint: server.URL + "/v1/opamp", Credentials: credentials}, func() string { return "port taken" }, silent{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	body, err := proto.Marshal(message)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.Post(r.URL(), "application/x-protobuf", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = response.Body.Close() })
	return request, arrived, response
}

func TestAMessageArrivesWithTheTokenAndWithoutTheConfigurationInEffect(t *testing.T) {
	message := &protobufs.AgentToServer{
		InstanceUid:     []byte("0123456789abcdef"),
		SequenceNum:     3,
		EffectiveConfig: &protobufs.EffectiveConfig{ConfigMap: &protobufs.AgentConfigMap{}},
	}
	request, arrived, response := passed(t, message, http.StatusOK)

	if request.Header.Get("Authorization") != "Bearer t" || request.Header.Get("X-Deployment-Id") != "dep_1" {
		t.Errorf("headers %v", request.Header)
	}
	if request.URL.Path != "/v1/opamp" || arrived.SequenceNum != 3 || arrived.EffectiveConfig != nil {
		t.Errorf("at %s arrived %v", request.URL.Path, arrived)
	}
	if response.StatusCode != http.StatusOK {
		t.Errorf("answered %s", response.Status)
	}
	if content, _ := io.ReadAll(response.Body); string(content) != "answer" {
		t.Errorf("answered %q", content)
	}
}

func TestAFailureTravelsWithItsCause(t *testing.T) {
	for _, row := range []struct{ message, arrives string }{
		{
			"Agent exited unexpectedly with exit code 1 while applying configuration",
			"port taken\n(Agent exited unexpectedly with exit code 1 while applying configuration)",
		},
		{"Config apply timeout exceeded", "port taken\n(Config apply timeout exceeded)"},
		{"config validation failed: exit status 1, output: x", "config validation failed: exit status 1, output: x"},
	} {
		t.Run(row.message, func(t *testing.T) {
			status := &protobufs.RemoteConfigStatus{Status: failed, ErrorMessage: row.message}
			_, arrived, _ := passed(t, &protobufs.AgentToServer{RemoteConfigStatus: status}, http.StatusOK)
			if got := arrived.RemoteConfigStatus.ErrorMessage; got != row.arrives {
				t.Errorf("got %q, want %q", got, row.arrives)
			}
		})
	}
}

func TestTheHealthOfACollectorThatEndedSaysWhy(t *testing.T) {
	health := &protobufs.ComponentHealth{LastError: "Agent process PID=1 exited unexpectedly, exit code=1."}
	_, arrived, _ := passed(t, &protobufs.AgentToServer{Health: health}, http.StatusOK)
	if got := arrived.Health.LastError; !strings.HasPrefix(got, "port taken\n") {
		t.Errorf("got %q", got)
	}
}

func TestAPassingFaultIsOneThatTheSupervisorRetries(t *testing.T) {
	for answered, given := range map[int]int{401: 401, 429: 429, 500: 503, 502: 503, 503: 503, 504: 503} {
		_, _, response := passed(t, &protobufs.AgentToServer{}, answered)
		if response.StatusCode != given || response.Header.Get("Retry-After") != "7" {
			t.Errorf("%d becomes %d, Retry-After %q", answered, response.StatusCode, response.Header.Get("Retry-After"))
		}
	}
}

func TestAServerThatIsNotThereIsAPassingFault(t *testing.T) {
	r, err := relay.Start(relay.Server{Endpoint: "http://127.0.0.1:1", Credentials: fixed{}}, func() string { return "" }, silent{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	response, err := http.Post(r.URL(), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("answered %s", response.Status)
	}
}

func TestNobodySpeaksThroughItWhoDoesNotKnowItsSecret(t *testing.T) {
	called := false
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { called = true }))
	defer server.Close()
	r, err := relay.Start(relay.Server{Endpoint: server.URL, Credentials: fixed{}}, func() string { return "" }, silent{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, url := range []string{r.URL()[:len(r.URL())-1], r.URL() + "0", r.URL() + "/x", r.URL()[:strings.LastIndex(r.URL(), "/")+1]} {
		response, err := http.Post(url, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != http.StatusNotFound || called {
			t.Errorf("%s answered %s", url, response.Status)
		}
	}
}

// started is a relay to a server that does as the handler says, and how often that server was connected to.
func started(t *testing.T, handler http.HandlerFunc) (*relay.Relay, *int) {
	t.Helper()
	connections := 0
	server := httptest.NewUnstartedServer(handler)
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections++
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	r, err := relay.Start(relay.Server{Endpoint: server.URL, Credentials: fixed{}}, func() string { return "" }, silent{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r, &connections
}

// sent posts a message with that number through the relay.
func sent(t *testing.T, r *relay.Relay, number uint64) int {
	t.Helper()
	message := &protobufs.AgentToServer{InstanceUid: []byte("0123456789abcdef"), SequenceNum: number, Capabilities: 1}
	body, err := proto.Marshal(message)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.Post(r.URL(), "application/x-protobuf", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, response.Body)
	_ = response.Body.Close()
	return response.StatusCode
}

func TestAMessageOnAConnectionThatWasClosedUnderItIsSentAgainOnAnother(t *testing.T) {
	var numbers []uint64
	r, connections := started(t, func(w http.ResponseWriter, request *http.Request) {
		body, _ := io.ReadAll(request.Body)
		var arrived protobufs.AgentToServer
		if err := proto.Unmarshal(body, &arrived); err != nil {
			t.Error(err)
		}
		if _, there := request.Header["Idempotency-Key"]; there {
			t.Error("the server is sent a key")
		}
		numbers = append(numbers, arrived.SequenceNum)
		// As a server that closes idle connections does to one that is just used again: no answer.
		if len(numbers) == 2 {
			panic(http.ErrAbortHandler)
		}
	})
	for number := range uint64(2) {
		if status := sent(t, r, number); status != http.StatusOK {
			t.Errorf("message %d: %d", number, status)
		}
	}
	if len(numbers) != 3 || numbers[1] != 1 || numbers[2] != 1 || *connections != 2 {
		t.Errorf("arrived %v on %d connections", numbers, *connections)
	}
}

func TestAServerThatClosesANewConnectionIsAskedOnce(t *testing.T) {
	var asked atomic.Int32
	r, _ := started(t, func(http.ResponseWriter, *http.Request) {
		asked.Add(1)
		panic(http.ErrAbortHandler)
	})
	if status := sent(t, r, 0); status != http.StatusServiceUnavailable || asked.Load() != 1 {
		t.Errorf("%d after %d requests", status, asked.Load())
	}
}

func TestAHostThatIsStoppedSaysGoodbyeUnderTheNextNumber(t *testing.T) {
	var last protobufs.AgentToServer
	status := http.StatusOK
	r, _ := started(t, func(w http.ResponseWriter, request *http.Request) {
		body, _ := io.ReadAll(request.Body)
		last.Reset()
		if err := proto.Unmarshal(body, &last); err != nil {
			t.Error(err)
		}
		w.WriteHeader(status)
	})
	sent(t, r, 7)
	status = http.StatusServiceUnavailable
	sent(t, r, 8)
	r.Goodbye(nil)
	if last.AgentDisconnect == nil || last.SequenceNum != 8 || last.Capabilities != 1 || string(last.InstanceUid) != "0123456789abcdef" {
		t.Errorf("said %v", &last)
	}
	status = http.StatusOK
	// A later message would make the host one that is there.
	if sent(t, r, 9) != http.StatusServiceUnavailable || last.AgentDisconnect == nil {
		t.Errorf("said %v", &last)
	}
}

func TestAHostThatIsUninstalledSaysSoInItsGoodbye(t *testing.T) {
	var last protobufs.AgentToServer
	r, _ := started(t, func(_ http.ResponseWriter, request *http.Request) {
		body, _ := io.ReadAll(request.Body)
		last.Reset()
		if err := proto.Unmarshal(body, &last); err != nil {
			t.Error(err)
		}
	})
	sent(t, r, 7)
	r.Goodbye(&protobufs.CustomMessage{Capability: "io.headgate.host", Data: []byte(`{"v":1,"uninstalled":true}`)})
	if last.AgentDisconnect == nil || string(last.CustomMessage.GetData()) != `{"v":1,"uninstalled":true}` {
		t.Errorf("said %v", &last)
	}
}

func TestAHostThatNobodyKnowsSaysNoGoodbye(t *testing.T) {
	r, _ := started(t, func(http.ResponseWriter, *http.Request) { t.Error("it does") })
	r.Goodbye(nil)
}

func TestAnAnswerThatIsTooLargeIsAPassingFault(t *testing.T) {
	r, _ := started(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 4<<20+1)) })
	if status := sent(t, r, 0); status != http.StatusServiceUnavailable {
		t.Errorf("%d", status)
	}
}

// counting is a host that notes how many messages were on their way at once.
type counting struct {
	silent
	now, most atomic.Int32
}

func (c *counting) Outgoing(*protobufs.AgentToServer) { c.most.Store(max(c.most.Load(), c.now.Add(1))) }

func (c *counting) Answered(*protobufs.AgentToServer, *protobufs.ServerToAgent) bool {
	c.now.Add(-1)
	return false
}

func TestOneMessageAtATimeIsOnItsWay(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { time.Sleep(time.Millisecond) }))
	defer server.Close()
	counts := &counting{}
	r, err := relay.Start(relay.Server{Endpoint: server.URL, Credentials: fixed{}}, func() string { return "" }, counts)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var all sync.WaitGroup
	for number := range uint64(8) {
		all.Go(func() { sent(t, r, number) })
	}
	all.Wait()
	if counts.most.Load() != 1 || counts.now.Load() != 0 {
		t.Errorf("%d at once, %d at the end", counts.most.Load(), counts.now.Load())
	}
}

// silent is a host with nothing to add.
type silent struct{}

func (silent) Outgoing(*protobufs.AgentToServer)                                {}
func (silent) Answered(*protobufs.AgentToServer, *protobufs.ServerToAgent) bool { return false }
func (silent) Unanswered(*protobufs.AgentToServer) *protobufs.ServerToAgent     { return nil }

// before is a host that goes back to an earlier configuration when Headgate cannot be reached.
type before struct{ silent }

func (before) Unanswered(message *protobufs.AgentToServer) *protobufs.ServerToAgent {
	return &protobufs.ServerToAgent{InstanceUid: message.InstanceUid, RemoteConfig: &protobufs.AgentRemoteConfig{ConfigHash: []byte("b")}}
}

func TestAHostThatGoesBackIsAnsweredWithoutHeadgate(t *testing.T) {
	r, err := relay.Start(relay.Server{Endpoint: "http://127.0.0.1:1", Credentials: fixed{}}, func() string { return "" }, before{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	body, err := proto.Marshal(&protobufs.AgentToServer{InstanceUid: []byte("0123456789abcdef")})
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.Post(r.URL(), "application/x-protobuf", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	content, _ := io.ReadAll(response.Body)
	var answer protobufs.ServerToAgent
	if err := proto.Unmarshal(content, &answer); err != nil || string(answer.GetRemoteConfig().GetConfigHash()) != "b" {
		t.Errorf("%s, %v, %v", response.Status, &answer, err)
	}
}

// ordering is a host that adds a command to each answer, or leaves it as it is.
type ordering struct {
	silent
	adds bool
}

func (o ordering) Answered(_ *protobufs.AgentToServer, answer *protobufs.ServerToAgent) bool {
	answer.Command = &protobufs.ServerToAgentCommand{}
	return o.adds
}

func TestTheSupervisorGetsTheAnswerAsTheHostChangedIt(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	for _, adds := range []bool{true, false} {
		r, err := relay.Start(relay.Server{Endpoint: server.URL, Credentials: fixed{}}, func() string { return "" }, ordering{adds: adds})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(r.Close)
		response, err := http.Post(r.URL(), "application/x-protobuf", nil)
		if err != nil {
			t.Fatal(err)
		}
		content, _ := io.ReadAll(response.Body)
		_ = response.Body.Close()
		var answer protobufs.ServerToAgent
		if err := proto.Unmarshal(content, &answer); err != nil || (answer.Command != nil) != adds {
			t.Errorf("%v: %v, %v", adds, &answer, err)
		}
	}
}

func TestNoMessageGoesBeforeTheSupervisorHasWrittenItsFile(t *testing.T) {
	arrived := make(chan struct{}, 1)
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { arrived <- struct{}{} }))
	defer server.Close()
	ready := make(chan struct{})
	r, err := relay.Start(relay.Server{Endpoint: server.URL, Credentials: fixed{}, Ready: ready}, func() string { return "" }, silent{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	answered := make(chan error, 1)
	go func() {
		response, err := http.Post(r.URL(), "application/x-protobuf", nil)
		if err == nil {
			err = response.Body.Close()
		}
		answered <- err
	}()
	select {
	case <-arrived:
		t.Fatal("it went")
	case <-answered:
		t.Fatal("it was answered")
	case <-time.After(100 * time.Millisecond):
	}
	close(ready)
	if err := <-answered; err != nil {
		t.Fatal(err)
	}
	<-arrived
}

func TestARedirectTakesTheTokenNowhere(t *testing.T) {
	var asked atomic.Int32
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer elsewhere.Close()
	r, _ := started(t, func(w http.ResponseWriter, request *http.Request) {
		http.Redirect(w, request, elsewhere.URL, http.StatusTemporaryRedirect)
	})
	if status := sent(t, r, 0); status != http.StatusTemporaryRedirect || asked.Load() != 0 {
		t.Errorf("answered %d, and the other server was asked %d times", status, asked.Load())
	}
}

func TestWhatIsNoMessageGoesNowhere(t *testing.T) {
	var asked atomic.Int32
	r, _ := started(t, func(http.ResponseWriter, *http.Request) { asked.Add(1) })
	for name, body := range map[string][]byte{"no protobuf": []byte("GET / HTTP/1.1"), "too large": make([]byte, 4<<20+1)} {
		response, err := http.Post(r.URL(), "application/x-protobuf", bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != http.StatusBadRequest || asked.Load() != 0 {
			t.Errorf("%s is answered %s", name, response.Status)
		}
	}
}
