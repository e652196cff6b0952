// Package relay forwards the supervisor's messages to Headgate. It listens on this machine's loopback interface.
//
// It does nine things that the official packages do not: it reports a failure with the collector's own error, not only
// its exit code; it removes the effective configuration, which contains the values of secrets; it honours HTTPS_PROXY;
// it retries on a new connection if the server has closed an idle one; it tells Headgate when the host stops, which
// the official client does not over plain HTTP; it adds what internal/host knows of this host; it signs the messages with
// the host's key; it holds them until the supervisor has written its first file; and it takes Headgate's orders from the
// answers.
package relay

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptrace"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/open-telemetry/opamp-go/protobufs"
	"google.golang.org/protobuf/proto"
)

const (
	maxMessage = 4 << 20
	// Longer than the timeout of Headgate's gateway.
	timeout = 40 * time.Second
	// The collector's last lines may arrive after the supervisor has noticed its end.
	outputDelay = 100 * time.Millisecond
	// A host that shuts down does not wait longer.
	goodbyeTimeout = 3 * time.Second
)

// Host knows more of this host than the supervisor does; see internal/host.
type Host interface {
	Outgoing(message *protobufs.AgentToServer)
	Answered(message *protobufs.AgentToServer, answer *protobufs.ServerToAgent) (changed bool)
	Unanswered(message *protobufs.AgentToServer) *protobufs.ServerToAgent
}

// Signer proves messages to be of this host; see internal/identity. A message without a signature goes without the header.
type Signer interface {
	Sign(context string, body []byte) string
	// Renew makes another key, once Headgate has told this host to be another instance.
	Renew()
}

// Credentials are what messages come with, and what they are signed with; see internal/identity. Answered reports whether
// a message is to be sent again, since they have changed.
type Credentials interface {
	Headers() (headers http.Header, context string)
	Answered(status int) (again bool)
}

// Server is where the messages go: to the endpoint, with the credentials, and signed by the signer, if there is one. No
// message goes before Ready is closed, if it is not nil.
type Server struct {
	Endpoint    string
	Credentials Credentials
	Signer      Signer
	Ready       <-chan struct{}
}

// Relay is a server for the single client that knows its URL.
type Relay struct {
	server   Server
	cause    func() string
	host     Host
	client   *http.Client
	path     string
	listener net.Listener
	local    *http.Server

	// turn holds one message at a time, as the supervisor sends them: Host knows of no second one on its way.
	turn chan struct{}

	mutex sync.Mutex
	// The newest message that Headgate has answered; gone once the host has said goodbye.
	last *protobufs.AgentToServer
	gone bool
}

// Start listens on a free port. Every request goes to the server; cause returns why a collector ended, and host adds to
// the messages.
func Start(server Server, cause func() string, host Host) (*Relay, error) {
	// Other users of this machine can reach the port, and must not use our token.
	secret := make([]byte, 16)
	if _, err := rand.Read(secret); err != nil {
		return nil, fmt.Errorf("make a secret: %w", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &Relay{
		server: server,
		cause:  cause,
		host:   host,
		client: &http.Client{
			Timeout: timeout,
			// A redirect would send the token to another server.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		path:     "/" + hex.EncodeToString(secret),
		listener: listener,
		turn:     make(chan struct{}, 1),
	}
	r.local = &http.Server{Handler: r, ReadHeaderTimeout: timeout}
	go func() {
		if err := r.local.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			log.Printf("the relay ended: %v", err)
		}
	}()
	return r, nil
}

// URL returns the address to which the supervisor sends its messages.
func (r *Relay) URL() string {
	return "http://" + r.listener.Addr().String() + r.path
}

// Close stops the server once open requests are answered.
func (r *Relay) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_ = r.local.Shutdown(ctx)
}

func (r *Relay) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	known := subtle.ConstantTimeCompare([]byte(request.URL.Path), []byte(r.path)) == 1
	if request.Method != http.MethodPost || !known {
		http.NotFound(w, request)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, request.Body, maxMessage))
	if err != nil {
		http.Error(w, "the message cannot be read", http.StatusBadRequest)
		return
	}
	if !r.isReady(request.Context()) || !r.begin(request.Context()) {
		return
	}
	defer r.end()
	if r.isGone() {
		http.Error(w, "this host has said goodbye", http.StatusServiceUnavailable)
		return
	}
	message, body, err := r.changed(body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	answer, content, err := r.exchange(request.Context(), body)
	if request.Context().Err() != nil {
		// Nobody waits for the answer any more.
		return
	}
	if err != nil {
		log.Printf("%s cannot be reached: %v", r.server.Endpoint, err)
		if !r.answerAlone(w, message) {
			// After this status the supervisor sends the same message again. After any other error it drops the message.
			http.Error(w, "Headgate cannot be reached", http.StatusServiceUnavailable)
		}
		return
	}
	status := answer.StatusCode
	if status != http.StatusOK {
		log.Printf("%s answers %s: %.500q", r.server.Endpoint, answer.Status, content)
		if r.answerAlone(w, message) {
			return
		}
	} else {
		r.remember(message)
		content = r.answered(message, content)
	}
	for _, name := range []string{"Content-Type", "Retry-After"} {
		if value := answer.Header.Get(name); value != "" {
			w.Header().Set(name, value)
		}
	}
	if status >= 500 {
		// The failure of a gateway in between is temporary as well.
		status = http.StatusServiceUnavailable
	}
	w.WriteHeader(status)
	_, _ = w.Write(content)
}

// exchange sends a message and reads the whole answer.
func (r *Relay) exchange(ctx context.Context, body []byte) (*http.Response, []byte, error) {
	answer, err := r.send(ctx, body)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	content, err := io.ReadAll(io.LimitReader(answer.Body, maxMessage+1))
	if err != nil {
		return nil, nil, fmt.Errorf("the answer is incomplete: %w", err)
	}
	if len(content) > maxMessage {
		return nil, nil, fmt.Errorf("the answer has more than %d bytes", maxMessage)
	}
	return answer, content, nil
}

// answered gives the host Headgate's answer, and returns the supervisor's.
func (r *Relay) answered(message *protobufs.AgentToServer, content []byte) []byte {
	var answer protobufs.ServerToAgent
	if err := proto.Unmarshal(content, &answer); err != nil {
		return content
	}
	if len(answer.GetAgentIdentification().GetNewInstanceUid()) > 0 && r.server.Signer != nil {
		r.server.Signer.Renew()
	}
	if !r.host.Answered(message, &answer) {
		return content
	}
	changed, err := proto.Marshal(&answer)
	if err != nil {
		return content
	}
	return changed
}

// answerAlone answers a message that Headgate did not answer, if there is something to tell.
func (r *Relay) answerAlone(w http.ResponseWriter, message *protobufs.AgentToServer) bool {
	answer := r.host.Unanswered(message)
	if answer == nil {
		return false
	}
	content, err := proto.Marshal(answer)
	if err != nil {
		return false
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
	_, _ = w.Write(content)
	return true
}

// send posts a message, and once more if the renewed token is not known, or if the server has closed the idle connection that it went to. The standard client
// would send the same signature again, which Headgate takes once.
func (r *Relay) send(ctx context.Context, body []byte) (*http.Response, error) {
	answer, reused, err := r.post(ctx, body)
	if err == nil && r.server.Credentials.Answered(answer.StatusCode) {
		_ = answer.Body.Close()
		answer, reused, err = r.post(ctx, body)
	}
	if reused && err != nil && !os.IsTimeout(err) && ctx.Err() == nil {
		answer, _, err = r.post(ctx, body)
	}
	return answer, err
}

// post also reports whether the connection was there before.
func (r *Relay) post(ctx context.Context, body []byte) (answer *http.Response, reused bool, err error) {
	trace := &httptrace.ClientTrace{GotConn: func(connection httptrace.GotConnInfo) { reused = connection.Reused }}
	outgoing, err := http.NewRequestWithContext(httptrace.WithClientTrace(ctx, trace), http.MethodPost, r.server.Endpoint, bytes.NewReader(body))
	if err != nil {
		return nil, false, err
	}
	headers, context := r.server.Credentials.Headers()
	outgoing.Header = headers
	outgoing.Header.Set("Content-Type", "application/x-protobuf")
	if r.server.Signer != nil {
		if signature := r.server.Signer.Sign(context, body); signature != "" {
			outgoing.Header.Set("X-Host-Signature", signature)
		}
	}
	answer, err = r.client.Do(outgoing)
	return answer, reused, err
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

// isReady waits until messages may go, and reports whether they may before the context ends.
func (r *Relay) isReady(ctx context.Context) bool {
	if r.server.Ready == nil {
		return true
	}
	select {
	case <-r.server.Ready:
		return true
	case <-ctx.Done():
		return false
	}
}

// begin waits for the message before to end, and reports whether it did before the context.
func (r *Relay) begin(ctx context.Context) bool {
	select {
	case r.turn <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

func (r *Relay) end() { <-r.turn }

func (r *Relay) isGone() bool {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.gone
}

// Goodbye tells Headgate that this host stops, as its last message, and why if there is something to say. If it does not
// arrive, the host becomes Stale after a while.
func (r *Relay) Goodbye(why *protobufs.CustomMessage) {
	r.mutex.Lock()
	r.gone = true
	r.mutex.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), goodbyeTimeout)
	defer cancel()
	if r.begin(ctx) {
		defer r.end()
	}
	r.mutex.Lock()
	message := r.last
	r.mutex.Unlock()
	if message == nil {
		return
	}
	message.SequenceNum++
	message.AgentDisconnect = &protobufs.AgentDisconnect{}
	message.CustomMessage = why
	body, err := proto.Marshal(message)
	if err != nil {
		return
	}
	answer, err := r.send(ctx, body)
	if err != nil {
		log.Printf("%s could not be told that this host stops: %v", r.server.Endpoint, err)
		return
	}
	_ = answer.Body.Close()
}

// changed returns the message with the collector's own error and this host's report, and without the effective
// configuration.
func (r *Relay) changed(body []byte) (*protobufs.AgentToServer, []byte, error) {
	var message protobufs.AgentToServer
	if err := proto.Unmarshal(body, &message); err != nil {
		return nil, nil, fmt.Errorf("this is not an OpAMP agent's message: %w", err)
	}
	message.EffectiveConfig = nil
	r.host.Outgoing(&message)
	status, health := message.GetRemoteConfigStatus(), message.GetHealth()
	failed := status.GetStatus() == protobufs.RemoteConfigStatuses_RemoteConfigStatuses_FAILED &&
		isOnlySymptom(status.GetErrorMessage())
	down := !health.GetHealthy() && isOnlySymptom(health.GetLastError())
	if failed || down {
		time.Sleep(outputDelay)
		if cause := r.cause(); cause != "" {
			if failed {
				status.ErrorMessage = cause + "\n(" + status.GetErrorMessage() + ")"
			}
			if down {
				health.LastError = cause + "\n(" + health.GetLastError() + ")"
			}
		}
	}
	content, err := proto.Marshal(&message)
	return &message, content, err
}

// isOnlySymptom reports whether the supervisor's message tells that the collector ended or hangs, but not why.
func isOnlySymptom(message string) bool {
	return strings.Contains(message, "exited unexpectedly") || strings.Contains(message, "apply timeout exceeded")
}
