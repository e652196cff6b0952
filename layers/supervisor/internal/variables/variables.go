// Package variables keeps the variables that came with configurations, and puts them into the environment of a collector
// that is started with one.
//
// A configuration names its variables in the resource of the collector's own telemetry. So both are one thing wherever the
// supervisor keeps or goes back to a configuration, and a start after a power cut has those that belong to it.
package variables

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/headgate/headgate/layers/supervisor/internal/files"
	"github.com/open-telemetry/opamp-go/protobufs"
	"go.yaml.in/yaml/v3"
	"google.golang.org/protobuf/proto"
)

const (
	// Marker is the variable by which the kernel tells which variables a process has.
	Marker = "HEADGATE_VARIABLES"
	// folder is in that of the programs, which every install removes with all that is in it.
	folder = "programs/variables"
	// attribute names the variables in the resource of the collector's own telemetry, entry the part of the configuration
	// that says so.
	attribute = "headgate.variables"
	entry     = "headgate-variables"
	suffix    = ".json"
	// largest bounds the file: 50 values of 4 KiB with their names, escaped.
	largest = 1 << 20
)

var name = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// Offer is what the service says of the variables for a configuration: those of the install, or some by their digest.
// Without Sealed this host is to use those that it has.
type Offer struct {
	Installed bool   `json:"installed,omitempty"`
	Digest    string `json:"digest,omitempty"`
	Sealed    []byte `json:"sealed,omitempty"`
}

// content is what is sealed, and the file. Config is the hash of the configuration that it was sealed for.
type content struct {
	Digest    string            `json:"digest"`
	Config    string            `json:"config,omitempty"`
	Variables map[string]string `json:"variables"`
	Removed   []string          `json:"removed"`
}

// Store has the files, in a storage folder. Open opens what was sealed for this host; nil: this host takes none.
type Store struct {
	Storage string
	Open    func(sealed []byte) ([]byte, error)
}

// Able reports whether this host takes variables.
func (s Store) Able() bool { return s.Open != nil }

// Take keeps the variables of an offer, and returns its configuration with their name. It is on the disk then.
func (s Store) Take(config *protobufs.AgentRemoteConfig, offer *Offer) (*protobufs.AgentRemoteConfig, error) {
	if offer == nil || offer.Installed || len(config.GetConfig().GetConfigMap()) == 0 {
		return config, nil
	}
	if !s.Able() || !isDigest(offer.Digest) {
		return nil, errors.New("they cannot be read")
	}
	if len(offer.Sealed) > 0 {
		if err := s.keep(config.ConfigHash, offer); err != nil {
			return nil, err
		}
	} else if _, err := read(s.Storage, offer.Digest); err != nil {
		return nil, fmt.Errorf("the service cannot send them again, and they are not on this host: %w", err)
	}
	named := proto.Clone(config).(*protobufs.AgentRemoteConfig)
	// Hex digits need no more quoting.
	body := fmt.Sprintf("service: {telemetry: {resource: {%s: %q}}}\n", attribute, offer.Digest)
	named.Config.ConfigMap[entry] = &protobufs.AgentConfigFile{Body: []byte(body), ContentType: "text/yaml"}
	return named, nil
}

func (s Store) keep(configHash []byte, offer *Offer) error {
	opened, err := s.Open(offer.Sealed)
	if err != nil {
		return err
	}
	var found content
	if err := json.Unmarshal(opened, &found); err != nil {
		return errors.New("what was sealed for this host are not variables")
	}
	if found.Digest != offer.Digest || found.Config != hex.EncodeToString(configHash) {
		return errors.New("what was sealed for this host belongs to another configuration")
	}
	for key, value := range found.Variables {
		if !name.MatchString(key) || reserved(key) || strings.Contains(value, "\x00") {
			return fmt.Errorf("%.70q is not a variable that this host takes from Headgate", key)
		}
	}
	found.Config = ""
	var written bytes.Buffer
	encoder := json.NewEncoder(&written)
	// Else each `<` takes six bytes.
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(found); err != nil {
		return err
	}
	if written.Len() > largest {
		return fmt.Errorf("the variables have more than %d bytes", largest)
	}
	in := filepath.Join(s.Storage, folder)
	if known, err := files.Read(path(s.Storage, offer.Digest), largest); err != nil || !bytes.Equal(known, written.Bytes()) {
		if err := os.MkdirAll(in, 0o700); err != nil {
			return err
		}
		if err := files.Replace(path(s.Storage, offer.Digest), written.Bytes()); err != nil {
			return err
		}
	}
	// The configuration that needs the file is written after this.
	return errors.Join(files.Sync(in), files.Sync(filepath.Dir(in)))
}

// Prune removes all files but those of the configurations.
func (s Store) Prune(configs ...*protobufs.AgentRemoteConfig) {
	entries, _ := os.ReadDir(filepath.Join(s.Storage, folder))
	for _, one := range entries {
		needed := slices.ContainsFunc(configs, func(config *protobufs.AgentRemoteConfig) bool {
			return one.Name() == Of(config)+suffix
		})
		if !needed {
			_ = os.Remove(filepath.Join(s.Storage, folder, one.Name()))
		}
	}
}

// Of returns the digest of the variables that belong to a configuration, "" for those of the install.
func Of(config *protobufs.AgentRemoteConfig) string {
	return named(config.GetConfig().GetConfigMap()[entry].GetBody())
}

// Environment is the environment for a collector with this configuration, as the text of its file.
func Environment(environment []string, storage string, text []byte) ([]string, error) {
	return With(environment, storage, named(text))
}

// With is the environment with the variables of that digest, the same for "".
func With(environment []string, storage, digest string) ([]string, error) {
	// Nobody else says which variables a process has.
	environment = without(environment, func(key string) bool { return key == Marker })
	if digest == "" {
		return environment, nil
	}
	found, err := read(storage, digest)
	if err != nil {
		return nil, fmt.Errorf("the variables that belong to this configuration are not here, so that the collector is not started: %w", err)
	}
	changed := without(environment, func(key string) bool {
		_, replaced := found.Variables[key]
		return replaced || (slices.Contains(found.Removed, key) && !reserved(key))
	})
	for key, value := range found.Variables {
		if !reserved(key) {
			changed = append(changed, key+"="+value)
		}
	}
	return append(changed, Marker+"="+digest), nil
}

// Values are the variables of a collector that is started with this text. Without those that came with the text it is not
// started, and they are those of the install.
func (s Store) Values(text []byte) func(name string) (value string, set bool) {
	environment, err := Environment(os.Environ(), s.Storage, text)
	if err != nil {
		environment = os.Environ()
	}
	return ValuesOf(environment)
}

// ValuesOf tells each variable of an environment, and whether it is set.
func ValuesOf(environment []string) func(name string) (value string, set bool) {
	values := make(map[string]string, len(environment))
	for _, variable := range environment {
		key, value, _ := strings.Cut(variable, "=")
		values[key] = value
	}
	return func(name string) (value string, set bool) {
		value, set = values[name]
		return value, set
	}
}

func without(environment []string, left func(key string) bool) []string {
	return slices.DeleteFunc(slices.Clone(environment), func(variable string) bool {
		key, _, _ := strings.Cut(variable, "=")
		return left(key)
	})
}

// reserved reports whether a variable is this program's, or could make another program of the collector.
func reserved(key string) bool {
	return strings.HasPrefix(key, "HEADGATE_") || strings.HasPrefix(key, "LD_")
}

func read(storage, digest string) (*content, error) {
	if !isDigest(digest) {
		return nil, errors.New("the configuration names none that can be")
	}
	text, err := files.Read(path(storage, digest), largest)
	if err != nil {
		return nil, err
	}
	var found content
	if err := json.Unmarshal(text, &found); err != nil || found.Digest != digest {
		return nil, fmt.Errorf("%s is damaged", path(storage, digest))
	}
	return &found, nil
}

func path(storage, digest string) string { return filepath.Join(storage, folder, digest+suffix) }

func isDigest(text string) bool {
	decoded, err := hex.DecodeString(text)
	return err == nil && len(decoded) == 32 && strings.ToLower(text) == text
}

// named is what a configuration names as its variables.
func named(text []byte) string {
	var said struct {
		Service struct {
			Telemetry struct {
				Resource map[string]any `yaml:"resource"`
			} `yaml:"telemetry"`
		} `yaml:"service"`
	}
	if err := yaml.Unmarshal(text, &said); err != nil {
		return ""
	}
	digest, _ := said.Service.Telemetry.Resource[attribute].(string)
	return digest
}
