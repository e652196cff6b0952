package host

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// largestFile bounds what is read of the collector's file.
const largestFile = 8 << 20

// fileState is what is known of the file from which the supervisor starts the collector.
type fileState struct {
	// written are the digests of its top-level keys as the supervisor wrote it.
	written map[string][sha256.Size]byte
	content [sha256.Size]byte
	changed []string
	// metricsAddress is where the collector serves its own metrics to this host, or empty.
	metricsAddress string
}

// drifted returns the top-level keys in which the file is not what the supervisor wrote, in order.
func (f *fileState) drifted(path string) []string {
	content, err := readFile(path)
	if err != nil {
		return []string{}
	}
	digest := sha256.Sum256(content)
	if f.written != nil && digest == f.content {
		return f.changed
	}
	keys, root, err := digests(content)
	if f.written == nil {
		if err != nil {
			return []string{}
		}
		f.written = keys
	}
	f.content = digest
	f.metricsAddress = metricsAddress(root)
	f.changed = []string{}
	for key := range f.written {
		if keys[key] != f.written[key] {
			f.changed = append(f.changed, key)
		}
	}
	for key := range keys {
		if _, known := f.written[key]; !known {
			f.changed = append(f.changed, printable(key))
		}
	}
	slices.Sort(f.changed)
	if len(f.changed) > 20 {
		f.changed = f.changed[:20]
	}
	return f.changed
}

func readFile(path string) ([]byte, error) {
	stat, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if stat.Size() > largestFile {
		return nil, fmt.Errorf("%s is too large", path)
	}
	return os.ReadFile(path)
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

// metricsAddress is where the collector serves its own metrics, if that is this machine: `127.0.0.1:8888` by default.
func metricsAddress(root map[string]any) string {
	if root == nil {
		return ""
	}
	metrics := at(root, "service", "telemetry", "metrics")
	if level, isText := at(metrics, "level").(string); isText && strings.EqualFold(level, "none") {
		return ""
	}
	readers, given := at(metrics, "readers").([]any)
	if !given {
		return "127.0.0.1:8888"
	}
	for _, reader := range readers {
		exporter := at(reader, "pull", "exporter", "prometheus")
		if exporter == nil {
			continue
		}
		host, port := "localhost", "8888"
		if text, is := at(exporter, "host").(string); is {
			host = text
		}
		switch value := at(exporter, "port").(type) {
		case int:
			port = strconv.Itoa(value)
		case string:
			port = value
		}
		return onThisHost(host, port)
	}
	return ""
}

// onThisHost is the address if it is one of this machine, else empty: nothing else is asked.
func onThisHost(host, port string) string {
	number, err := strconv.Atoi(port)
	if err != nil || number < 1 || number > 65_535 {
		return ""
	}
	ip := net.ParseIP(host)
	switch {
	case host == "localhost" || host == "" || (ip != nil && ip.IsUnspecified()):
		return net.JoinHostPort("127.0.0.1", port)
	case ip != nil && ip.IsLoopback():
		return net.JoinHostPort(host, port)
	}
	return ""
}

func at(value any, path ...string) any {
	for _, key := range path {
		mapping, is := value.(map[string]any)
		if !is {
			return nil
		}
		value = mapping[key]
	}
	return value
}

// printable is a key that somebody wrote here, made harmless for a message.
func printable(key string) string {
	kept := strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == '/' || ('a' <= r && r <= 'z') || ('A' <= r && r <= 'Z') || ('0' <= r && r <= '9') {
			return r
		}
		return -1
	}, key)
	return kept[:min(len(kept), 60)]
}
