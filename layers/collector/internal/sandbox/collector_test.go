package sandbox

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// published serves a compressed binary, and returns what is announced of it.
func published(t *testing.T, binary []byte) source {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	encoder, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	packed := encoder.EncodeAll(binary, nil)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(packed) }))
	t.Cleanup(server.Close)
	return source{
		URL: server.URL + "?" + secret, SHA256: hashOf(packed), Size: int64(len(packed)),
		BinarySHA256: hashOf(binary), BinarySize: int64(len(binary)),
	}
}

func hashOf(content []byte) string {
	digest := sha256.Sum256(content)
	return hex.EncodeToString(digest[:])
}

func TestACollectorIsFetchedAndIsTheAnnouncedOne(t *testing.T) {
	binary := []byte(strings.Repeat("a collector", 100_000))
	announced := published(t, binary)
	path, err := announced.fetch(context.Background(), testFiles())
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil || string(content) != string(binary) {
		t.Errorf("%d bytes, %v", len(content), err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o555 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

func TestACollectorThatIsNotTheAnnouncedOneIsRefusedAndLeavesNothing(t *testing.T) {
	for name, change := range map[string]func(*source){
		"another hash":               func(s *source) { s.SHA256 = hashOf(nil) },
		"no hash":                    func(s *source) { s.SHA256 = "" },
		"another binary":             func(s *source) { s.BinarySHA256 = hashOf(nil) },
		"larger than announced":      func(s *source) { s.Size-- },
		"smaller than announced":     func(s *source) { s.Size++ },
		"a bomb":                     func(s *source) { s.BinarySize /= 2 },
		"less than announced inside": func(s *source) { s.BinarySize++ },
		"no size":                    func(s *source) { s.Size = 0 },
		"too large":                  func(s *source) { s.BinarySize = largestBinary + 1 },
		"another place":              func(s *source) { s.URL = "http://192.0.2.1/?" + secret },
		"no place":                   func(s *source) { s.URL = "" },
	} {
		t.Run(name, func(t *testing.T) {
			announced := published(t, []byte(strings.Repeat("a collector", 100_000)))
			change(&announced)
			_, err := announced.fetch(context.Background(), testFiles())
			if err == nil || strings.Contains(err.Error(), "c0ffee") {
				t.Errorf("%v", err)
			}
			if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) != 0 {
				t.Errorf("it left %v, %v", left, err)
			}
		})
	}
}

func TestWhatIsNotCompressedIsRefused(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("hello")) }))
	defer server.Close()
	announced := source{URL: server.URL, SHA256: hashOf([]byte("hello")), Size: 5, BinarySHA256: hashOf([]byte("hello")), BinarySize: 5}
	if _, err := announced.fetch(context.Background(), testFiles()); err == nil {
		t.Error("it was unpacked")
	}
}
