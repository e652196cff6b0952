package host

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"log"
	"os"
	"path/filepath"

	"github.com/open-telemetry/opamp-go/protobufs"
	"google.golang.org/protobuf/proto"
)

// file in the supervisor's storage, readable for its owner only: configurations may contain secrets.
const configsFile = "headgate-configurations.json"

// configs are the configurations that this host was offered last, has applied, and had applied before.
type configs struct {
	Offered *config `json:"offered,omitempty"`
	Running config  `json:"running"`
	Before  *config `json:"before,omitempty"`

	path string
}

// config is a configuration of the service: its hash there, the SHA-256 in hex of its text, and the message with it.
type config struct {
	ConfigHash []byte `json:"config_hash"`
	TextHash   string `json:"text_hash"`
	Message    []byte `json:"message"`
}

func readConfigs(storage string) *configs {
	known := &configs{path: filepath.Join(storage, configsFile)}
	content, err := os.ReadFile(known.path)
	if err == nil {
		err = json.Unmarshal(content, known)
	}
	if err != nil && !os.IsNotExist(err) {
		log.Printf("%s cannot be read, and begins anew: %v", known.path, err)
		*known = configs{path: known.path}
	}
	return known
}

// offered notes what the service offers.
func (c *configs) offered(message *protobufs.AgentRemoteConfig) {
	encoded, err := proto.Marshal(message)
	if err != nil {
		return
	}
	text := ""
	if files := message.GetConfig().GetConfigMap(); len(files) > 0 {
		// The service sends one file.
		for _, file := range files {
			digest := sha256.Sum256(file.GetBody())
			text = inHex(digest[:])
		}
	}
	c.Offered = &config{ConfigHash: message.ConfigHash, TextHash: text, Message: encoded}
	c.save()
}

// applied notes that a configuration runs, and reports whether it is another one than before. The one before is where
// to go back to, unless it failed as well.
func (c *configs) applied(hash []byte, failed bool) bool {
	if bytes.Equal(hash, c.Running.ConfigHash) {
		return false
	}
	next := config{ConfigHash: bytes.Clone(hash)}
	for _, known := range []*config{c.Offered, c.Before} {
		if known != nil && bytes.Equal(known.ConfigHash, hash) {
			next = *known
		}
	}
	if !failed && c.Running.TextHash != "" {
		before := c.Running
		c.Before = &before
	}
	c.Running = next
	c.save()
	return true
}

// before is the configuration to go back to, nil if there is none.
func (c *configs) before() *protobufs.AgentRemoteConfig {
	if c.Before == nil || bytes.Equal(c.Before.ConfigHash, c.Running.ConfigHash) {
		return nil
	}
	message := &protobufs.AgentRemoteConfig{}
	if err := proto.Unmarshal(c.Before.Message, message); err != nil || len(message.ConfigHash) == 0 {
		return nil
	}
	return message
}

// textOf is the SHA-256 of the text of a configuration, empty if it is not known any more.
func (c *configs) textOf(hash []byte) string {
	for _, known := range []*config{&c.Running, c.Offered, c.Before} {
		if known != nil && bytes.Equal(known.ConfigHash, hash) {
			return known.TextHash
		}
	}
	return ""
}

func (c *configs) save() {
	content, err := json.Marshal(c)
	if err == nil {
		part := c.path + ".part"
		if err = os.WriteFile(part, content, 0o600); err == nil {
			err = os.Rename(part, c.path)
		}
	}
	if err != nil {
		log.Printf("%s cannot be written: %v", c.path, err)
	}
}
