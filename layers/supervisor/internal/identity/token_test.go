package identity_test

import (
	"crypto/ecdh"
	"crypto/rand"
	"crypto/sha512"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/headgate/headgate/layers/supervisor/internal/identity"
	"golang.org/x/crypto/nacl/box"
)

const (
	tokenFile = "headgate-token.json"
	installed = "ft_installed"
)

var renewed = "ft_" + strings.Repeat("r", 43)

// sealed is what the service seals for the key of that storage.
func sealed(t *testing.T, storage, text string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(storage, keyFile))
	var saved struct{ Seed []byte }
	if err != nil || json.Unmarshal(content, &saved) != nil {
		t.Fatal(err)
	}
	sum := sha512.Sum512(saved.Seed)
	private, err := ecdh.X25519().NewPrivateKey(sum[:32])
	if err != nil {
		t.Fatal(err)
	}
	closed, err := box.SealAnonymous(nil, []byte(text), (*[32]byte)(private.PublicKey().Bytes()), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return closed
}

func bearer(token *identity.Token) string {
	headers, _ := token.Headers()
	return strings.TrimPrefix(headers.Get("Authorization"), "Bearer ")
}

func TestARenewedTokenIsUsedAtOnceAndAfterARestart(t *testing.T) {
	storage := t.TempDir()
	key := signing(t, storage)
	token := identity.ReadToken(storage, "dep_1", installed)
	if err := token.Renew(key, sealed(t, storage, renewed)); err != nil {
		t.Fatal(err)
	}
	if bearer(token) != renewed || token.Answered(http.StatusServiceUnavailable) || token.Answered(http.StatusOK) {
		t.Errorf("signs in with %q", bearer(token))
	}
	if again := identity.ReadToken(storage, "dep_1", installed); bearer(again) != renewed || again.Answered(http.StatusUnauthorized) {
		t.Errorf("after a restart it signs in with %q", bearer(again))
	}
	stat, err := os.Stat(filepath.Join(storage, tokenFile))
	if err != nil || stat.Mode().Perm() != 0o600 {
		t.Errorf("the file: %v, %v", stat, err)
	}
	if another := identity.ReadToken(storage, "dep_1", "ft_reinstalled"); bearer(another) != "ft_reinstalled" {
		t.Errorf("after another install it signs in with %q", bearer(another))
	}
}

func TestATokenThatHeadgateDoesNotKnowGivesWayToTheOneBefore(t *testing.T) {
	storage := t.TempDir()
	key := signing(t, storage)
	token := identity.ReadToken(storage, "dep_1", installed)
	if err := token.Renew(key, sealed(t, storage, renewed)); err != nil {
		t.Fatal(err)
	}
	// Also if this program is restarted before the next message, or Headgate does not look at the token of that one.
	token = identity.ReadToken(storage, "dep_1", installed)
	if token.Answered(http.StatusServiceUnavailable) || bearer(token) != renewed {
		t.Errorf("signs in with %q", bearer(token))
	}
	if !token.Answered(http.StatusUnauthorized) || bearer(token) != installed || token.Answered(http.StatusUnauthorized) {
		t.Errorf("signs in with %q", bearer(token))
	}
}

func TestWhatWasNotSealedForThisHostIsRefused(t *testing.T) {
	storage, other := t.TempDir(), t.TempDir()
	key := signing(t, storage)
	signing(t, other)
	token := identity.ReadToken(storage, "dep_1", installed)
	for name, content := range map[string][]byte{
		"of another host": sealed(t, other, renewed),
		"in clear":        []byte(renewed),
		"not a token":     sealed(t, storage, "ft_short"),
		"two lines":       sealed(t, storage, renewed+"\nX-Evil: 1"),
		"empty":           nil,
	} {
		if err := token.Renew(key, content); err == nil || bearer(token) != installed {
			t.Errorf("%s: %v, %q", name, err, bearer(token))
		}
	}
}

func TestADamagedFileLeavesTheInstalledToken(t *testing.T) {
	storage := t.TempDir()
	if err := os.WriteFile(filepath.Join(storage, tokenFile), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if token := identity.ReadToken(storage, "dep_1", installed); bearer(token) != installed {
		t.Errorf("signs in with %q", bearer(token))
	}
}
