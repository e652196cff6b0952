// Package identity keeps an instance's id where the official supervisor may lose it, and renews it where it must not stay.
//
// The supervisor writes its state over the old one in place. A full disk or a power failure at that moment leaves an
// empty file, which v0.149.0 ends on with a panic at every start. And a machine that was cloned with everything on its
// disk speaks with the id of the machine that it is a copy of, so that the two are seen as one.
package identity

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/uuid"
	"go.yaml.in/yaml/v3"
)

const (
	// What the official supervisor writes to its storage.
	stateName = "persistent_state.yaml"
	keptName  = "identity.json"
)

// Identity is that of the storage folder's instance.
type Identity struct {
	storage string
	machine string
	// ID is the one to take up again, "" where the supervisor has it, or is to make a new one.
	ID string
}

type kept struct {
	InstanceID string `json:"instance_id"`
	Machine    string `json:"machine"`
}

// Prepare makes the storage one that the supervisor can start from. The file at machineID names this machine; without
// one, as in a container, every machine is the same.
func Prepare(storage, machineID string) (*Identity, error) {
	i := &Identity{storage: storage, machine: machineOf(machineID)}
	before := i.kept()
	if i.machine != "" && before.Machine != "" && i.machine != before.Machine {
		log.Printf("this storage is a copy of another machine's: this one becomes an instance of its own")
		return i, i.removeState()
	}
	_, err := i.state()
	if err == nil || errors.Is(err, os.ErrNotExist) {
		if err != nil {
			i.ID = before.InstanceID
		}
		return i, nil
	}
	log.Printf("%v; it is written anew", err)
	i.ID = before.InstanceID
	return i, i.removeState()
}

// Keep remembers the id that the supervisor runs with.
func (i *Identity) Keep() error {
	id, err := i.state()
	if err != nil {
		return err
	}
	now := kept{InstanceID: id, Machine: i.machine}
	if i.kept() == now {
		return nil
	}
	content, err := json.Marshal(now)
	if err != nil {
		return err
	}
	return replace(filepath.Join(i.storage, keptName), content)
}

func (i *Identity) kept() kept {
	var found kept
	content, err := os.ReadFile(filepath.Join(i.storage, keptName))
	if err != nil || json.Unmarshal(content, &found) != nil || !isID(found.InstanceID) {
		return kept{}
	}
	return found
}

// state is the id in the supervisor's own file.
func (i *Identity) state() (string, error) {
	path := filepath.Join(i.storage, stateName)
	content, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	var written struct {
		InstanceID string `yaml:"instance_id"`
	}
	if err := yaml.Unmarshal(content, &written); err != nil || !isID(written.InstanceID) {
		return "", fmt.Errorf("%s is damaged", path)
	}
	return written.InstanceID, nil
}

func (i *Identity) removeState() error {
	if err := os.Remove(filepath.Join(i.storage, stateName)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove the old state: %w", err)
	}
	return nil
}

func isID(text string) bool {
	id, err := uuid.Parse(text)
	return err == nil && id != uuid.Nil
}

// machineOf is a hash, for the id itself is not to leave its file.
func machineOf(path string) string {
	content, err := os.ReadFile(path)
	id := strings.TrimSpace(string(content))
	// systemd writes the word while the first start is under way.
	if err != nil || id == "" || id == "uninitialized" {
		return ""
	}
	sum := sha256.Sum256([]byte("headgate " + id))
	return hex.EncodeToString(sum[:])
}

// replace writes the file whole or not at all.
func replace(path string, content []byte) error {
	part, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(part.Name()) }()
	_, err = part.Write(content)
	if err == nil {
		err = part.Sync()
	}
	if closing := part.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return err
	}
	return os.Rename(part.Name(), path)
}
