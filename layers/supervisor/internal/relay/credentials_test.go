package relay_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/headgate/headgate/layers/supervisor/internal/relay"
	"github.com/open-telemetry/opamp-go/protobufs"
	"google.golang.org/protobuf/proto"
)

// signer counts what it signs.
type signer struct{ signed, renewed int }

func (s *signer) Sign(context string, body []byte) string {
	s.signed++
	return fmt.Sprintf("%s %d %d", context, s.signed, len(body))
}

func (s *signer) Renew() { s.renewed++ }

func TestEachMessageIsSignedAnewAlsoOnASecondConnectionAndAtTheEnd(t *testing.T) {
	var signatures []string
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, request *http.Request) {
		body, _ := io.ReadAll(request.Body)
		signatures = append(signatures, strings.TrimSuffix(request.Header.Get("X-Host-Signature"), fmt.Sprintf(" %d", len(body))))
		if len(signatures) == 2 {
			panic(http.ErrAbortHandler)
		}
	}))
	defer server.Close()
	key := &signer{}
	r, err := relay.Start(relay.Server{Endpoint: server.URL, Credentials: fixed{http.Header{}, "dep_1"}, Signer: key}, func() string { return "" }, silent{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	sent(t, r, 0)
	sent(t, r, 1)
	r.Goodbye(nil)
	if want := []string{"dep_1 1", "dep_1 2", "dep_1 3", "dep_1 4"}; !slices.Equal(signatures, want) {
		t.Errorf("%q", signatures)
	}
}

func TestAHostThatIsToldToBeAnotherInstanceGetsAnotherKeyAndNoOther(t *testing.T) {
	var uid []byte
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		answer, _ := proto.Marshal(&protobufs.ServerToAgent{AgentIdentification: &protobufs.AgentIdentification{NewInstanceUid: uid}})
		_, _ = w.Write(answer)
	}))
	defer server.Close()
	key := &signer{}
	for _, signs := range []relay.Signer{key, nil} {
		r, err := relay.Start(relay.Server{Endpoint: server.URL, Credentials: fixed{}, Signer: signs}, func() string { return "" }, silent{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(r.Close)
		for _, uid = range [][]byte{nil, []byte("fedcba9876543210"), nil} {
			if status := sent(t, r, 0); status != http.StatusOK {
				t.Errorf("answered %d", status)
			}
		}
	}
	if key.renewed != 1 {
		t.Errorf("renewed %d times", key.renewed)
	}
}

// renewed are credentials whose new token the server does not know.
type renewed struct{ token string }

func (r *renewed) Headers() (http.Header, string) {
	return http.Header{"Authorization": {"Bearer " + r.token}}, r.token
}

func (r *renewed) Answered(status int) bool {
	unknown := status == http.StatusUnauthorized && r.token == "new"
	if unknown {
		r.token = "before"
	}
	return unknown
}

func TestAMessageIsSentOnceMoreSignedForTheTokenBeforeIfTheNewOneIsNotKnown(t *testing.T) {
	var asked []string
	known := "Bearer before"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		body, _ := io.ReadAll(request.Body)
		var arrived protobufs.AgentToServer
		if err := proto.Unmarshal(body, &arrived); err != nil {
			t.Error(err)
		}
		token, signature := request.Header.Get("Authorization"), strings.Fields(request.Header.Get("X-Host-Signature"))
		asked = append(asked, fmt.Sprintf("%s, signed %s, message %d", token, strings.Join(signature[:2], " "), arrived.SequenceNum))
		if token != known {
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	defer server.Close()
	r, err := relay.Start(relay.Server{Endpoint: server.URL, Credentials: &renewed{"new"}, Signer: &signer{}}, func() string { return "" }, silent{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if status := sent(t, r, 5); status != http.StatusOK {
		t.Errorf("answered %d", status)
	}
	known = "none"
	if status := sent(t, r, 6); status != http.StatusUnauthorized {
		t.Errorf("a token that nobody knows is answered %d", status)
	}
	want := []string{
		"Bearer new, signed new 1, message 5", "Bearer before, signed before 2, message 5", "Bearer before, signed before 3, message 6",
	}
	if !slices.Equal(asked, want) {
		t.Errorf("%q", asked)
	}
}
