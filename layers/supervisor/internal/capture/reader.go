package capture

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"
)

const (
	// largestBatch bounds one request of the collector.
	largestBatch = 16 << 20
	readTimeout  = 10 * time.Second
	// listensOn is how long the address is held after the end.
	listensOn = 3 * time.Minute
)

// reader takes what the branch of the collector's pipeline exports. It listens on this machine's loopback interface, and
// other users of the machine do not know its secret.
type reader struct {
	secret   string
	listener net.Listener
	server   *http.Server

	mutex  sync.Mutex
	sample *sample
	until  time.Time
}

// listen takes records into the sample until then.
func listen(into *sample, until time.Time) (*reader, error) {
	secret := make([]byte, 16)
	if _, err := rand.Read(secret); err != nil {
		return nil, fmt.Errorf("make a secret: %w", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &reader{secret: hex.EncodeToString(secret), listener: listener, sample: into, until: until}
	r.server = &http.Server{Handler: r, ReadTimeout: readTimeout, WriteTimeout: readTimeout}
	go func() {
		if err := r.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			log.Printf("the reader of a capture ended: %v", err)
		}
	}()
	return r, nil
}

func (r *reader) address() string { return r.listener.Addr().String() }

func (r *reader) close() { _ = r.server.Close() }

func (r *reader) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	known := subtle.ConstantTimeCompare([]byte(request.Header.Get("Authorization")), []byte("Bearer "+r.secret)) == 1
	if request.Method != http.MethodPost || !known {
		http.NotFound(w, request)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, request.Body, largestBatch))
	if err != nil {
		http.Error(w, "this cannot be read", http.StatusBadRequest)
		return
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if time.Now().Before(r.until) {
		if err := r.sample.add(body); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write([]byte("{}"))
}

// full reports whether there is no room for further records.
func (r *reader) full() bool {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.sample.full()
}

// taken ends the reading, and returns what was read. The address stays taken until the collector, which still sends to
// it, has restarted without the branch: another user of the machine could listen there.
func (r *reader) taken() *sample {
	time.AfterFunc(listensOn, r.close)
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.until = time.Time{}
	return r.sample
}
