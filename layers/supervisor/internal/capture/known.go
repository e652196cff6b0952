package capture

import (
	"bytes"
	"encoding/json"
	"log"
	"os"
	"path/filepath"

	"github.com/headgate/headgate/layers/supervisor/internal/files"
	"github.com/open-telemetry/opamp-go/protobufs"
	"google.golang.org/protobuf/proto"
)

const (
	// Files in the supervisor's storage. The second one is the official supervisor's: what it was offered last, and starts
	// with.
	knownFile    = "headgate-capture.json"
	receivedFile = "last_recv_remote_config.dat"
	// Two configurations of up to 1 MB, in base64, with what JSON adds.
	largestKnown = 8 << 20
	// mostDone is how many captures that ended are remembered.
	mostDone = 64
)

// known is what survives this process: the assigned configuration that the last capture stands for, and the branch that
// it had. The supervisor may report its hash after a restart.
type known struct {
	ID string `json:"id"`
	// Active is whether the supervisor may have the configuration with the branch.
	Active   bool   `json:"active"`
	Assigned []byte `json:"assigned"`
	Branch   []byte `json:"branch"`

	hash, assignedHash []byte
}

func newKnown(id string, assigned *protobufs.AgentRemoteConfig, added []byte) (known, error) {
	content, err := marshal(assigned)
	if err != nil {
		return known{}, err
	}
	k := known{ID: id, Active: true, Assigned: content, Branch: added}
	k.hash, k.assignedHash = hashOf([]byte(id), assigned.ConfigHash, added), assigned.ConfigHash
	return k, nil
}

func readKnown(storage string) known {
	path := filepath.Join(storage, knownFile)
	content, err := files.Read(path, largestKnown)
	var k known
	if err == nil {
		err = json.Unmarshal(content, &k)
	}
	if err != nil {
		if !os.IsNotExist(err) {
			log.Printf("%s cannot be read, and begins anew: %v", path, err)
		}
		return known{}
	}
	assigned := k.assigned()
	if assigned == nil || !captureID.MatchString(k.ID) {
		return known{}
	}
	k.hash, k.assignedHash = hashOf([]byte(k.ID), assigned.ConfigHash, k.Branch), assigned.ConfigHash
	return k
}

func (k *known) save(storage string) error {
	content, err := json.Marshal(k)
	if err != nil {
		return err
	}
	return files.Replace(filepath.Join(storage, knownFile), content)
}

// restore lets the supervisor start with the assigned configuration instead of the one with the branch.
func (k *known) restore(storage string) {
	path := filepath.Join(storage, receivedFile)
	content, err := files.Read(path, largestKnown)
	received := &protobufs.AgentRemoteConfig{}
	if err != nil || proto.Unmarshal(content, received) != nil || !k.isBranched(received.ConfigHash) {
		return
	}
	if err := files.Replace(path, k.Assigned); err != nil {
		log.Printf("the branch of a capture stays until Headgate assigns anew: %v", err)
	}
}

func (k *known) isBranched(hash []byte) bool { return len(k.hash) > 0 && bytes.Equal(hash, k.hash) }

func (k *known) isAssigned(hash []byte) bool {
	return len(k.assignedHash) > 0 && bytes.Equal(hash, k.assignedHash)
}

// assigned is the configuration of the service, nil if there is none.
func (k *known) assigned() *protobufs.AgentRemoteConfig {
	message := &protobufs.AgentRemoteConfig{}
	if err := proto.Unmarshal(k.Assigned, message); err != nil || len(message.ConfigHash) == 0 || message.GetConfig().GetConfigMap()[""] == nil {
		return nil
	}
	return message
}

// branched is the same with the branch. The supervisor merges files by their names, and the one without a name last: the
// assigned text gets a name after that of the file which an upgrade of the collector adds.
func (k *known) branched() *protobufs.AgentRemoteConfig {
	config := k.assigned()
	config.ConfigHash = k.hash
	merged := config.Config.ConfigMap
	merged["text"], merged[""] = merged[""], &protobufs.AgentConfigFile{Body: k.Branch, ContentType: "text/yaml"}
	return config
}

func (k *known) applied() *protobufs.RemoteConfigStatus {
	return &protobufs.RemoteConfigStatus{
		LastRemoteConfigHash: k.assignedHash, Status: protobufs.RemoteConfigStatuses_RemoteConfigStatuses_APPLIED,
	}
}

func newest(ids []string) []string { return ids[max(0, len(ids)-mostDone):] }
