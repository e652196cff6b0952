// Package relay passes the supervisor's messages on to Headgate, on this machine's loopback interface.
//
// It is here for five things that the official packages leave no other way to: a failure travels with the collector's
// own words and not only its exit code; the configuration in effect, which holds the values of secrets, stays on this
// machine; the way out honours HTTPS_PROXY; a connection that was closed while nobody used it is no fault; and Headgate
// is told when the host is stopped in order, which over plain HTTP the official client does not.
package relay

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/open-telemetry/opamp-go/protobufs"
	"google.golang.org/protobuf/proto"
)

const (
	largest = 4 << 20
	// Longer than Headgate's gateway waits.
	patience = 40 * time.Second
	// What the collector wrote last may still be on its way when the supervisor learns of its end.
	lastWords = 100 * time.Millisecond
	// What a host that is shut down has time for.
	parting = 3 * time.Second
)

// Relay is a server for the one client that knows its URL.
type Relay struct {
	endpoint string
	headers  http.Header
	cause    func() string
	client   *http.Client
	path     string
	listener net.Listener
	server   *http.Server

	mutex sync.Mutex
	// The newest message that Headgate has answered.
	last *protobufs.AgentToServer
}

// Start listens on a free port. Every request goes to the endpoint with those headers; cause says why a collector ended.
func Start(endpoint string, headers http.Header, cause func() string) (*Relay, error) {
	// Other users of this machine can reach the port, and must not speak with our token.
	secret := make([]byte, 16)
	if _, err := rand.Read(secret); err != nil {
		return nil, fmt.Errorf("make a secret: %w", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &Relay{
		endpoint: endpoint,
		headers:  headers,
		cause:    cause,
		client: &http.Client{
			Timeout: patience,
			// A redirect would carry the token to another place.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		path:     "/" + hex.EncodeToString(secret),
		listener: listener,
	}
	r.server = &http.Server{Handler: r, ReadHeaderTimeout: patience}
	go func() {
		if err := r.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			log.Printf("the relay ended: %v", err)
		}
	}()
	return r, nil
}

// URL is where the supervisor sends its messages to.
func (r *Relay) URL() string {
	return "http://" + r.listener.Addr().String() + r.path
}

// Close ends it once what is under way is answered.
func (r *Relay) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_ = r.server.Shutdown(ctx)
}

func (r *Relay) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	if request.Method != http.MethodPost || request.URL.Path != r.path {
		http.NotFound(w, request)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, request.Body, largest))
	if err != nil {
		http.Error(w, "the message cannot be read", http.StatusBadRequest)
		return
	}
	message, body, err := r.told(body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	answer, err := r.send(request.Context(), body)
	if err != nil {
		if request.Context().Err() == nil {
			log.Printf("%s cannot be reached: %v", r.endpoint, err)
		}
		// The supervisor sends the same message again; it loses what any other error answers.
		http.Error(w, "Headgate cannot be reached", http.StatusServiceUnavailable)
		return
	}
	defer func() { _ = answer.Body.Close() }()
	content, err := io.ReadAll(io.LimitReader(answer.Body, largest))
	if err != nil {
		log.Printf("the answer of %s broke off: %v", r.endpoint, err)
		http.Error(w, "Headgate cannot be reached", http.StatusServiceUnavailable)
		return
	}
	if answer.StatusCode != http.StatusOK {
		log.Printf("%s answers %s: %.500q", r.endpoint, answer.Status, content)
	}
	for _, name := range []string{"Content-Type", "Retry-After"} {
		if value := answer.Header.Get(name); value != "" {
			w.Header().Set(name, value)
		}
	}
	status := answer.StatusCode
	if status == http.StatusOK {
		r.remember(message)
	}
	if status >= 500 {
		// A gateway in between that fails is a passing fault as well.
		status = http.StatusServiceUnavailable
	}
	w.WriteHeader(status)
	_, _ = w.Write(content)
}

// send posts a message. On a connection that was closed under it the standard client sends it again on another one, if
// it may take the request as one that does no harm twice: an agent's message with one number says the same, and is
// answered the same. A nil key says so to the client, and is not sent.
func (r *Relay) send(ctx context.Context, body []byte) (*http.Response, error) {
	outgoing, err := http.NewRequestWithContext(ctx, http.MethodPost, r.endpoint, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	outgoing.Header = r.headers.Clone()
	outgoing.Header.Set("Content-Type", "application/x-protobuf")
	outgoing.Header["Idempotency-Key"] = nil
	return r.client.Do(outgoing)
}

func (r *Relay) remember(message *protobufs.AgentToServer) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.last = &protobufs.AgentToServer{
		InstanceUid:  message.InstanceUid,
		SequenceNum:  message.SequenceNum,
		Capabilities: message.Capabilities,
	}
}

// Goodbye tells Headgate that this host was stopped in order; without an answer it is Stale after a while.
func (r *Relay) Goodbye() {
	r.mutex.Lock()
	message := r.last
	r.mutex.Unlock()
	if message == nil {
		return
	}
	message.SequenceNum++
	message.AgentDisconnect = &protobufs.AgentDisconnect{}
	body, err := proto.Marshal(message)
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), parting)
	defer cancel()
	answer, err := r.send(ctx, body)
	if err != nil {
		log.Printf("%s is not told that this host stops: %v", r.endpoint, err)
		return
	}
	_ = answer.Body.Close()
}

// told is the message with what the collector said of its end, and without the configuration in effect.
func (r *Relay) told(body []byte) (*protobufs.AgentToServer, []byte, error) {
	var message protobufs.AgentToServer
	if err := proto.Unmarshal(body, &message); err != nil {
		return nil, nil, fmt.Errorf("this is no message of an agent: %w", err)
	}
	message.EffectiveConfig = nil
	status, health := message.GetRemoteConfigStatus(), message.GetHealth()
	failed := status.GetStatus() == protobufs.RemoteConfigStatuses_RemoteConfigStatuses_FAILED &&
		isOnlySymptom(status.GetErrorMessage())
	down := !health.GetHealthy() && isOnlySymptom(health.GetLastError())
	if failed || down {
		time.Sleep(lastWords)
		if cause := r.cause(); cause != "" {
			if failed {
				status.ErrorMessage = cause + "\n(" + status.GetErrorMessage() + ")"
			}
			if down {
				health.LastError = cause + "\n(" + health.GetLastError() + ")"
			}
		}
	}
	changed, err := proto.Marshal(&message)
	return &message, changed, err
}

// isOnlySymptom tells whether the supervisor says that the collector ended or hangs, but not why.
func isOnlySymptom(message string) bool {
	return strings.Contains(message, "exited unexpectedly") || strings.Contains(message, "apply timeout exceeded")
}
