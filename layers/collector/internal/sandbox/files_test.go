package sandbox

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func testFiles() *files {
	made := newFiles()
	made.wait = time.Millisecond
	return made
}

const secret = "X-Amz-Signature=c0ffee"

func TestAFileIsFetchedAndBounded(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "four") }))
	defer server.Close()
	content, err := testFiles().get(context.Background(), "input", server.URL+"?"+secret, 4)
	if string(content) != "four" || err != nil {
		t.Errorf("%q, %v", content, err)
	}
	if _, err := testFiles().get(context.Background(), "input", server.URL+"?"+secret, 3); err == nil {
		t.Error("a file over its bound was taken")
	}
}

func TestWhatPassesIsTriedAgainAndNothingElse(t *testing.T) {
	for status, expected := range map[int]int32{
		http.StatusServiceUnavailable: attempts, http.StatusTooManyRequests: attempts, http.StatusForbidden: 1, http.StatusNotFound: 1,
	} {
		var asked atomic.Int32
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			asked.Add(1)
			w.WriteHeader(status)
		}))
		_, err := testFiles().get(context.Background(), "input", server.URL, 10)
		if err == nil || asked.Load() != expected {
			t.Errorf("%d: asked %d times, %v", status, asked.Load(), err)
		}
		server.Close()
	}
}

func TestALinkLeadsNowhereElse(t *testing.T) {
	var reached atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	defer other.Close()
	server := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer server.Close()
	t.Setenv("HTTP_PROXY", other.URL)
	for _, link := range []string{
		server.URL, "http://192.0.2.1/x", "http://169.254.170.2/v2/credentials", "file:///etc/passwd", "ftp://127.0.0.1/x", "x", "",
	} {
		if _, err := testFiles().get(context.Background(), "input", link, 10); err == nil {
			t.Errorf("%s was followed", link)
		}
	}
	if reached.Load() != 0 {
		t.Error("a redirect was followed")
	}
}

func TestNoErrorSaysALink(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	gone := server.URL
	server.Close()
	for _, link := range []string{gone + "?" + secret, "http://192.0.2.1/?" + secret, "http://[::1]:namedport/?" + secret} {
		_, err := testFiles().get(context.Background(), "input", link, 10)
		if err == nil || strings.Contains(err.Error(), "c0ffee") {
			t.Errorf("%v", err)
		}
	}
}

func TestAFileIsStoredByItsForm(t *testing.T) {
	var stored string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reader, err := r.MultipartReader()
		if err != nil {
			t.Error(err)
			return
		}
		for {
			part, err := reader.NextPart()
			if err != nil {
				break
			}
			content, _ := io.ReadAll(part)
			stored += part.FormName() + "=" + string(content) + ";"
		}
		w.WriteHeader(http.StatusNoContent)
	}))
	defer server.Close()
	err := testFiles().post(context.Background(), "output", form{server.URL, map[string]string{"key": "k", "policy": "p"}}, []byte("x"))
	if err != nil || stored != "key=k;policy=p;file=x;" {
		t.Errorf("%q, %v", stored, err)
	}
}

func TestATaskThatIsNotOneIsRefused(t *testing.T) {
	for text, refused := range map[string]bool{
		`{"budget_seconds": 5, "get": {"cases": "x"}}`: false,
		`{"get": 5}`: true,
		`[]`:         true,
		string(bytes.Repeat([]byte(" "), largestTask+1)): true,
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) }))
		if _, err := fetchTask(context.Background(), testFiles(), server.URL); (err != nil) != refused {
			t.Errorf("%.60s: %v", text, err)
		}
		server.Close()
	}
}
