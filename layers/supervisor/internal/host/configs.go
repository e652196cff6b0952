package host

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/headgate/headgate/layers/supervisor/internal/files"
	"github.com/open-telemetry/opamp-go/protobufs"
	"google.golang.org/protobuf/proto"
)

const (
	// Files in the supervisor's storage, readable for its owner only: configurations may contain secrets. The second one
	// is the official supervisor's: what it was offered last, and starts with.
	configsFile  = "headgate-configurations.json"
	receivedFile = "last_recv_remote_config.dat"
	// Three configurations of up to 1 MB, in base64, with what JSON adds.
	largestConfigs = 16 << 20
	longestApply   = time.Minute
)

// configs are the configurations that this host was offered last, that is in the collector's file, and that was there
// before and had been applied.
type configs struct {
	Offered *config `json:"offered,omitempty"`
	Running config  `json:"running"`
	Before  *config `json:"before,omitempty"`

	// refused is whether the supervisor did not even try what was offered; applying since when it tries one, or zero;
	// unsaved whether the file could not be written.
	refused  bool
	unsaved  bool
	applying time.Time
	path     string
	received string
}

// config is a configuration of the service: its hash there, the SHA-256 in hex of its text, and the message with it.
type config struct {
	ConfigHash []byte `json:"config_hash"`
	TextHash   string `json:"text_hash"`
	Message    []byte `json:"message"`
	// Written is when it became the collector's, Applied whether the supervisor called it so.
	Written time.Time `json:"written"`
	Applied bool      `json:"applied"`
	// Program names the collector that ran it, empty for the installed one.
	Program string `json:"program,omitempty"`
}

func readConfigs(storage string) *configs {
	known := &configs{path: filepath.Join(storage, configsFile), received: filepath.Join(storage, receivedFile)}
	content, err := files.Read(known.path, largestConfigs)
	if err == nil {
		err = json.Unmarshal(content, known)
	}
	if err != nil && !os.IsNotExist(err) {
		log.Printf("%s cannot be read, and begins anew: %v", known.path, err)
		*known = configs{path: known.path, received: known.received}
	}
	known.mend()
	return known
}

// mend replaces the supervisor's file by what ran, if a full disk or a power cut has damaged it: from a damaged file the
// supervisor would start a collector that runs nothing, and report it as applied.
func (c *configs) mend() {
	content, err := files.Read(c.received, largestConfigs)
	if err != nil || decoded(content) != nil {
		return
	}
	log.Printf("%s is damaged: the supervisor starts with what ran before", c.received)
	// Removed first, because the disk may be full.
	err = os.Remove(c.received)
	for _, before := range c.known() {
		if content, encoding := proto.Marshal(before); err == nil && encoding == nil {
			err = files.Replace(c.received, content)
			break
		}
	}
	if err != nil {
		log.Printf("%s cannot be replaced: %v", c.received, err)
	}
}

// decoded returns the configuration in a message of the service, nil if the message is incomplete: its hash comes last, and
// is missing then.
func decoded(content []byte) *protobufs.AgentRemoteConfig {
	message := &protobufs.AgentRemoteConfig{}
	if err := proto.Unmarshal(content, message); err != nil || len(message.ConfigHash) == 0 {
		return nil
	}
	return message
}

// offered notes what the service offers.
func (c *configs) offered(message *protobufs.AgentRemoteConfig) {
	encoded, err := proto.Marshal(message)
	if err != nil {
		return
	}
	text := ""
	if file, there := message.GetConfig().GetConfigMap()[""]; there {
		digest := sha256.Sum256(file.GetBody())
		text = inHex(digest[:])
	}
	c.Offered = &config{ConfigHash: bytes.Clone(message.ConfigHash), TextHash: text, Message: encoded}
	c.refused = false
	c.save()
}

// failed notes that the supervisor calls a configuration failed. If it is not in the file, it will not get there.
func (c *configs) failed(hash []byte) {
	if c.Offered != nil && bytes.Equal(hash, c.Offered.ConfigHash) && !bytes.Equal(hash, c.Running.ConfigHash) {
		c.refused = true
	}
}

// wroteOffered notes that what was offered is in the collector's file, and reports whether it is another one than
// before. The one before is where to go back to, if it was applied and has not failed since.
func (c *configs) wroteOffered(at time.Time, failed bool, program string) bool {
	if c.Offered == nil || c.refused || bytes.Equal(c.Offered.ConfigHash, c.Running.ConfigHash) {
		return false
	}
	if c.Running.Applied && !failed && c.Running.TextHash != "" {
		before := c.Running
		c.Before = &before
	}
	c.Running = *c.Offered
	c.Running.Written, c.Running.Program = at.UTC(), program
	c.save()
	return true
}

// startedWithOffered notes that the supervisor has started. It starts from what it received last, whatever came of that,
// and without it a collector that runs nothing.
func (c *configs) startedWithOffered(at time.Time, program string) {
	content, _ := files.Read(c.received, largestConfigs)
	message := decoded(content)
	if message == nil {
		c.Running = config{}
		return
	}
	c.offered(message)
	c.wroteOffered(at, false, program)
}

// undo puts what ran before into the supervisor's file, if the file holds this configuration: the supervisor starts from
// it.
func (c *configs) undo(hash []byte) error {
	content, _ := files.Read(c.received, largestConfigs)
	if message := decoded(content); message == nil || !bytes.Equal(message.ConfigHash, hash) {
		// It was not handed over.
		return nil
	}
	before := &c.Running
	if bytes.Equal(before.ConfigHash, hash) {
		before = c.Before
	}
	if before == nil || len(before.Message) == 0 {
		return os.Remove(c.received)
	}
	return files.Replace(c.received, before.Message)
}

// isApplying reports whether the supervisor tries a configuration. One that was killed meanwhile says so for ever.
func (c *configs) isApplying(now time.Time) bool {
	return !c.applying.IsZero() && now.Sub(c.applying) < longestApply
}

// applied notes that the supervisor calls a configuration applied.
func (c *configs) applied(hash []byte) {
	if bytes.Equal(hash, c.Running.ConfigHash) && !c.Running.Applied {
		c.Running.Applied = true
		c.save()
	}
}

// settled is the configuration that runs, nil if it is not the one that was offered last, or was not called applied.
func (c *configs) settled() *protobufs.AgentRemoteConfig {
	newer := c.Offered != nil && !bytes.Equal(c.Offered.ConfigHash, c.Running.ConfigHash)
	if newer || !c.Running.Applied || c.Running.TextHash == "" {
		return nil
	}
	return decoded(c.Running.Message)
}

// before is the configuration to go back to, nil if there is none.
func (c *configs) before() *protobufs.AgentRemoteConfig {
	if c.Before == nil || bytes.Equal(c.Before.ConfigHash, c.Running.ConfigHash) {
		return nil
	}
	return decoded(c.Before.Message)
}

// known are all that the supervisor may start with, or that this host goes back to, first what runs.
func (c *configs) known() []*protobufs.AgentRemoteConfig {
	var found []*protobufs.AgentRemoteConfig
	for _, one := range []*config{&c.Running, c.Before, c.Offered} {
		if one != nil {
			if message := decoded(one.Message); message != nil {
				found = append(found, message)
			}
		}
	}
	return found
}

func (c *configs) save() {
	content, err := json.Marshal(c)
	if err == nil {
		err = files.Replace(c.path, content)
	}
	if err != nil && !c.unsaved {
		log.Printf("%s cannot be written: %v", c.path, err)
	}
	c.unsaved = err != nil
}

// again repeats a write that failed, and mends the supervisor's file, whose write may have failed as well.
func (c *configs) again() {
	if !c.unsaved {
		return
	}
	if c.save(); !c.unsaved {
		c.mend()
	}
}
