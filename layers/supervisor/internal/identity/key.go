package identity

import (
	"crypto/ecdh"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/headgate/headgate/layers/supervisor/internal/files"
	"golang.org/x/crypto/nacl/box"
)

const (
	keyName = "host-key.json"
	purpose = "headgate-host-message-v1"
)

var encoding = base64.RawURLEncoding

// Key is the key pair of this host. It signs every message, so that nobody else can speak for its instance, and opens
// what was sealed for it.
type Key struct {
	storage string

	mutex   sync.Mutex
	private ed25519.PrivateKey
	// start grows with each start of the supervisor, number with each message since.
	start  int64
	number int64
}

// savedKey is the file. Start is that of the last supervisor that signed with the key.
type savedKey struct {
	Seed  []byte `json:"seed"`
	Start int64  `json:"start"`
}

// ReadKey returns the key of the storage folder, and makes it if there is none. It cannot sign.
func ReadKey(storage string) (*Key, error) {
	k := &Key{storage: storage}
	content, err := files.Read(filepath.Join(storage, keyName), largest)
	var found savedKey
	switch {
	case errors.Is(err, os.ErrNotExist):
	case err != nil:
		return nil, fmt.Errorf("read the host's key: %w", err)
	case json.Unmarshal(content, &found) != nil || len(found.Seed) != ed25519.SeedSize:
		log.Printf("%s is damaged; this host gets another key, and becomes an instance of its own", filepath.Join(storage, keyName))
	default:
		k.private, k.start = ed25519.NewKeyFromSeed(found.Seed), found.Start
		return k, nil
	}
	if k.private, err = newPrivate(); err != nil {
		return nil, err
	}
	return k, k.save()
}

// SigningKey returns the key for a supervisor that starts: its messages come after all those of earlier starts.
func SigningKey(storage string) (*Key, error) {
	k, err := ReadKey(storage)
	if err != nil {
		return nil, err
	}
	// The clock may be wrong, and the file an old one from a backup: the later of both is right as long as one is.
	k.start = max(k.start+1, time.Now().UnixMilli())
	if err := k.save(); err != nil {
		log.Printf("the start of this supervisor could not be saved with the host's key: %v", err)
	}
	return k, nil
}

// Public returns the public key, in base64url.
func (k *Key) Public() string {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	return k.public()
}

func (k *Key) public() string {
	return encoding.EncodeToString(k.private.Public().(ed25519.PublicKey))
}

// Sign returns the header that proves a message to be of this host. The context is what the message comes with, besides
// its body: the hash of the token, and the deployment.
func (k *Key) Sign(context string, body []byte) string {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	k.number++
	place := fmt.Sprintf("%d.%d", k.start, k.number)
	message := append([]byte(purpose+"\n"+context+"\n"+place+"\n"), body...)
	return "v1." + k.public() + "." + place + "." + encoding.EncodeToString(ed25519.Sign(k.private, message))
}

// Renew makes another key: this host is another instance from now on, and the former one's key may be on another host.
func (k *Key) Renew() {
	private, err := newPrivate()
	if err != nil {
		log.Printf("the host's key stays the same: %v", err)
		return
	}
	k.mutex.Lock()
	defer k.mutex.Unlock()
	k.private = private
	if err := k.save(); err != nil {
		log.Printf("the host's new key could not be saved, so the next start makes this host an instance of its own: %v", err)
	}
}

// Open returns what was sealed for this host: a sealed box of NaCl for the key in its Curve25519 form.
func (k *Key) Open(sealed []byte) ([]byte, error) {
	sum := sha512.Sum512(k.private.Seed())
	private, err := ecdh.X25519().NewPrivateKey(sum[:32])
	if err != nil {
		return nil, err
	}
	opened, ok := box.OpenAnonymous(nil, sealed, (*[32]byte)(private.PublicKey().Bytes()), (*[32]byte)(sum[:32]))
	if !ok {
		return nil, errors.New("this was not sealed for the key of this host")
	}
	return opened, nil
}

func (k *Key) save() error {
	content, err := json.Marshal(savedKey{Seed: k.private.Seed(), Start: k.start})
	if err != nil {
		return err
	}
	if err := files.Replace(filepath.Join(k.storage, keyName), content); err != nil {
		return fmt.Errorf("save the host's key: %w", err)
	}
	return nil
}

func newPrivate() (ed25519.PrivateKey, error) {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make the host's key: %w", err)
	}
	return private, nil
}
