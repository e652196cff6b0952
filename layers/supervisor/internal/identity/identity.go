// Package identity saves an instance's id in case the official supervisor loses it, and discards it on a cloned
// machine. It has the key by which this host proves its messages.
//
// The supervisor overwrites its state in place. A full disk or a power failure at that moment leaves an empty file, on
// which v0.149.0 panics at every start. And a machine cloned with its disk would have the id of the original, so that
// Headgate would see the two as one.
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
	"github.com/headgate/headgate/layers/supervisor/internal/files"
	"go.yaml.in/yaml/v3"
)

const (
	// What the official supervisor writes to its storage.
	stateName = "persistent_state.yaml"
	savedName = "identity.json"
	// Both have some hundred bytes, and the error of a configuration.
	largest = 8 << 20
)

// Identity is the identity of the storage folder's instance.
type Identity struct {
	storage string
	machine string
	// ID is the id to restore, "" if the supervisor has one or must create a new one.
	ID string
}

type saved struct {
	InstanceID string `json:"instance_id"`
	Machine    string `json:"machine"`
}

// Prepare removes a state from which the supervisor must not start: a damaged one, or another machine's. `machineID` is
// this machine's id; without one, as in a container, all machines count as the same.
func Prepare(storage, machineID string) (*Identity, error) {
	i := &Identity{storage: storage, machine: machineOf(machineID)}
	before := i.saved()
	if i.machine != "" && before.Machine != "" && i.machine != before.Machine {
		log.Printf("this storage was copied from another machine: this machine becomes an instance of its own")
		return i, errors.Join(i.remove(stateName), i.remove(keyName))
	}
	_, err := i.state()
	if err == nil || errors.Is(err, os.ErrNotExist) {
		if err != nil {
			i.ID = before.InstanceID
		}
		return i, nil
	}
	log.Printf("%v; the supervisor writes it again", err)
	i.ID = before.InstanceID
	return i, i.remove(stateName)
}

// Save saves the id that the supervisor runs with.
func (i *Identity) Save() error {
	id, err := i.state()
	if err != nil {
		return err
	}
	now := saved{InstanceID: id, Machine: i.machine}
	if i.saved() == now {
		return nil
	}
	content, err := json.Marshal(now)
	if err != nil {
		return err
	}
	return files.Replace(filepath.Join(i.storage, savedName), content)
}

func (i *Identity) saved() saved {
	var found saved
	content, err := files.Read(filepath.Join(i.storage, savedName), largest)
	if err != nil || json.Unmarshal(content, &found) != nil || !isID(found.InstanceID) {
		return saved{}
	}
	return found
}

// state returns the id in the supervisor's own file.
func (i *Identity) state() (string, error) {
	path := filepath.Join(i.storage, stateName)
	content, err := files.Read(path, largest)
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

func (i *Identity) remove(name string) error {
	if err := os.Remove(filepath.Join(i.storage, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove the old state: %w", err)
	}
	return nil
}

func isID(text string) bool {
	id, err := uuid.Parse(text)
	return err == nil && id != uuid.Nil
}

// machineOf returns a hash of the machine's id: the id itself must not leave the machine.
func machineOf(id string) string {
	id = strings.TrimSpace(id)
	// systemd writes this word until the first boot has finished.
	if id == "" || id == "uninitialized" {
		return ""
	}
	sum := sha256.Sum256([]byte("headgate " + id))
	return hex.EncodeToString(sum[:])
}
