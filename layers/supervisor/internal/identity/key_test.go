package identity_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/headgate/headgate/layers/supervisor/internal/identity"
)

const keyFile = "host-key.json"

func signing(t *testing.T, storage string) *identity.Key {
	t.Helper()
	key, err := identity.SigningKey(storage)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func decoded(t *testing.T, text string) []byte {
	t.Helper()
	content, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func TestAMessageIsSignedWithItsContextAndPlace(t *testing.T) {
	key := signing(t, t.TempDir())
	for number, want := range []string{"1", "2"} {
		parts := strings.Split(key.Sign("hash\ndep_1", []byte("body")), ".")
		if len(parts) != 5 || parts[0] != "v1" || parts[1] != key.Public() || parts[3] != want {
			t.Fatalf("message %d: %q", number, parts)
		}
		message := "headgate-host-message-v1\nhash\ndep_1\n" + parts[2] + "." + parts[3] + "\nbody"
		if !ed25519.Verify(decoded(t, parts[1]), []byte(message), decoded(t, parts[4])) {
			t.Errorf("message %d does not verify", number)
		}
	}
}

func TestAKeyIsTheSameAfterARestartWhoseMessagesComeLater(t *testing.T) {
	storage := t.TempDir()
	first := signing(t, storage)
	again := signing(t, storage)
	if first.Public() != again.Public() {
		t.Error("another key")
	}
	start := func(key *identity.Key) string { return strings.Split(key.Sign("", nil), ".")[2] }
	if start(first) >= start(again) {
		t.Error("the later start does not come later")
	}
	stat, err := os.Stat(filepath.Join(storage, keyFile))
	if err != nil || stat.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", stat.Mode(), err)
	}
}

func TestALaterStartComesLaterAlsoIfTheClockGoesBack(t *testing.T) {
	storage := t.TempDir()
	signing(t, storage)
	path := filepath.Join(storage, keyFile)
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.LastIndex(content, []byte(":"))
	write(t, path, string(content[:at])+":9000000000000000}")
	if place := strings.Split(signing(t, storage).Sign("", nil), "."); place[2] != "9000000000000001" {
		t.Errorf("start %s", place[2])
	}
}

func TestADamagedOrForeignKeyFileGivesAnotherKey(t *testing.T) {
	storage := t.TempDir()
	before := signing(t, storage).Public()
	for _, content := range []string{"", "{}", `{"seed":"AAAA"}`} {
		write(t, filepath.Join(storage, keyFile), content)
		after := signing(t, storage).Public()
		if after == before || after != signing(t, storage).Public() {
			t.Errorf("%q: %s", content, after)
		}
	}
}

func TestAPipeInThePlaceOfTheKeyIsNotWaitedFor(t *testing.T) {
	storage := t.TempDir()
	if err := os.Symlink("/dev/zero", filepath.Join(storage, keyFile)); err != nil {
		t.Fatal(err)
	}
	if _, err := identity.SigningKey(storage); err == nil {
		t.Error("it is a key")
	}
}

func TestAKeyThatCannotBeSavedIsNotUsed(t *testing.T) {
	if _, err := identity.SigningKey(filepath.Join(t.TempDir(), "missing")); err == nil {
		t.Error("it is used")
	}
}

func TestACopiedStorageGetsAKeyOfItsOwn(t *testing.T) {
	storage, _ := ran(t)
	before := signing(t, storage).Public()
	prepared(t, storage, write(t, filepath.Join(t.TempDir(), "machine-id"), "bbbb\n"))
	if signing(t, storage).Public() == before {
		t.Error("the copy has the original's key")
	}
}

func TestARenewedKeyIsSaved(t *testing.T) {
	storage := t.TempDir()
	key := signing(t, storage)
	before := key.Public()
	key.Renew()
	if key.Public() == before || signing(t, storage).Public() != key.Public() {
		t.Error("not renewed, or not saved")
	}
}

func TestWhatWasNotSealedForThisHostIsNotOpened(t *testing.T) {
	key := signing(t, t.TempDir())
	random := make([]byte, 80)
	_, _ = rand.Read(random)
	for _, sealed := range [][]byte{nil, {1}, random} {
		if opened, err := key.Open(sealed); err == nil {
			t.Errorf("%v", opened)
		}
	}
}
