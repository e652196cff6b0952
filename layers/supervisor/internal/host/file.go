package host

import (
	"bytes"
	"crypto/sha256"
	"log"
	"slices"
	"strings"

	"github.com/headgate/headgate/layers/supervisor/internal/files"
	"github.com/headgate/headgate/layers/supervisor/internal/metrics"
	"github.com/headgate/headgate/layers/supervisor/internal/variables"
	"go.yaml.in/yaml/v3"
)

const (
	// largestFile bounds what is read of the collector's file.
	largestFile = 8 << 20
	mostDrifted = 20
)

// file is what is known of the file from which the supervisor starts the collector.
type file struct {
	// generation counts how often the supervisor wrote it.
	generation int
	// known is whether the supervisor has written it since this program started.
	known bool
	// written is what the supervisor wrote, until its keys are known; digest that of all of it.
	written []byte
	digest  [sha256.Size]byte
	keys    map[string][sha256.Size]byte
	// seen is the digest of the content for which `changed` was found: the top-level keys that are not as they were
	// written, in order.
	seen    [sha256.Size]byte
	changed []string
	// metricsAddress is where the text has the collector serve its own metrics to this host, instance what it calls itself
	// there, or empty; discards are the ids of exporters that deliver nothing from this host.
	metricsAddress, instance string
	discards                 map[string]bool
	// pipelines are those of each of its components.
	pipelines map[part][]string
	// values are the variables of the collector that has the text.
	values metrics.Values
}

// wrote notes that the supervisor has just written the file.
func (f *file) wrote(path string) {
	content, err := files.Read(path, largestFile)
	if err != nil {
		log.Printf("%s cannot be read, so a change of it will not be noticed: %v", path, err)
		content = nil
	}
	digest := sha256.Sum256(content)
	*f = file{
		generation: f.generation + 1, known: true, written: content, digest: digest, seen: digest, changed: []string{},
		metricsAddress: f.metricsAddress, instance: f.instance, discards: f.discards, pipelines: f.pipelines,
		values: f.values,
	}
}

// look compares the file with what the supervisor wrote. `known` has the variables that a text may name.
func (f *file) look(path string, known variables.Store) {
	if f.written != nil {
		keys, root, err := digests(f.written)
		if err == nil {
			f.keys, f.values = keys, known.Values(f.written)
			f.metricsAddress, f.instance = metrics.Address(root, f.values), metrics.Instance(root, f.values)
			f.discards = discards(root, f.values)
			f.pipelines = pipelines(root)
		}
		f.written = nil
	}
	content, err := files.Read(path, largestFile)
	if err != nil || f.keys == nil {
		return
	}
	digest := sha256.Sum256(content)
	if digest == f.seen {
		return
	}
	f.seen, f.changed = digest, []string{}
	if digest == f.digest {
		return
	}
	// What cannot be read as YAML differs in every key.
	keys, _, _ := digests(content)
	for key := range f.keys {
		if keys[key] != f.keys[key] {
			f.changed = append(f.changed, printable(key))
		}
	}
	for key := range keys {
		if _, known := f.keys[key]; !known {
			f.changed = append(f.changed, printable(key))
		}
	}
	f.changed = slices.DeleteFunc(f.changed, func(key string) bool { return key == "" })
	slices.Sort(f.changed)
	f.changed = f.changed[:min(mostDrifted, len(f.changed))]
}

// digests returns a digest of each top-level key's value, whatever its formatting and comments.
func digests(content []byte) (map[string][sha256.Size]byte, map[string]any, error) {
	root := map[string]any{}
	if err := yaml.Unmarshal(content, &root); err != nil {
		return nil, nil, err
	}
	keys := map[string][sha256.Size]byte{}
	for key, value := range root {
		// It sorts the keys of mappings.
		text, err := yaml.Marshal(value)
		if err != nil {
			return nil, nil, err
		}
		keys[key] = sha256.Sum256(bytes.TrimSpace(text))
	}
	return keys, root, nil
}

// printable is a key that somebody wrote here, made harmless for a message: the service takes no others.
func printable(key string) string {
	kept := strings.Map(func(r rune) rune {
		if strings.ContainsRune("./-", r) || ('a' <= r && r <= 'z') || ('A' <= r && r <= 'Z') || ('0' <= r && r <= '9') {
			return r
		}
		return -1
	}, key)
	kept = strings.TrimLeft(kept, "./-")
	return kept[:min(len(kept), 60)]
}
