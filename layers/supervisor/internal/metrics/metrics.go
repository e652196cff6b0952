// Package metrics says where the collector serves its own metrics to this host, and has it do so if the configuration
// does not: what a version loses is seen whatever its text says.
package metrics

import (
	"fmt"
	"net"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/headgate/headgate/layers/supervisor/internal/files"
	"go.yaml.in/yaml/v3"
)

// Name is the file, in the storage, of what is added to the configuration that runs.
const Name = "own-metrics.yaml"

// largest bounds what is read of a configuration.
const largest = 8 << 20

// Values tells the value of a variable in the environment of the collector, and whether it is set.
type Values func(name string) (value string, set bool)

// Address is where a configuration has the collector serve its own metrics, if that is this machine: `127.0.0.1:8888` by
// default.
func Address(root map[string]any, values Values) string {
	if root == nil || isOff(root, values) {
		return ""
	}
	listed, given := At(root, "service", "telemetry", "metrics", "readers").([]any)
	if !given {
		return "127.0.0.1:8888"
	}
	for _, reader := range listed {
		exporter := At(reader, "pull", "exporter", "prometheus")
		if exporter == nil {
			continue
		}
		host, port := "localhost", "8888"
		if text, is := At(exporter, "host").(string); is {
			host = text
		}
		switch value := At(exporter, "port").(type) {
		case int:
			port = strconv.Itoa(value)
		case string:
			port = value
		}
		if address := onThisHost(Filled(host, values), Filled(port, values)); address != "" {
			return address
		}
	}
	return ""
}

// Instance is what the collector calls itself in its metrics, or empty.
func Instance(root map[string]any, values Values) string {
	instance, _ := At(root, "service", "telemetry", "resource", "service.instance.id").(string)
	return Filled(instance, values)
}

func isOff(root map[string]any, values Values) bool {
	level, isText := At(root, "service", "telemetry", "metrics", "level").(string)
	return isText && strings.EqualFold(Filled(level, values), "none")
}

// Add writes what has the collector serve its metrics at a free port of this machine to `added`, if the configuration at
// `path` does not, and returns whether it did. Without room for it the collector runs as it is.
func Add(path, added string, values Values) bool {
	_ = os.Remove(added)
	content, err := files.Read(path, largest)
	if err != nil {
		return false
	}
	root := map[string]any{}
	if err := yaml.Unmarshal(content, &root); err != nil || Address(root, values) != "" {
		return false
	}
	port, err := freePort()
	if err != nil {
		return false
	}
	written, err := yaml.Marshal(with(root, port, values))
	if err != nil {
		return false
	}
	return files.Replace(added, written) == nil
}

// with is a configuration to be merged over the one with that root, whose readers it repeats: the collector replaces
// lists. What is off by the text stays off, but for this reader.
func with(root map[string]any, port int, values Values) map[string]any {
	readers := []any{}
	own := map[string]any{}
	if isOff(root, values) {
		own["level"] = "normal"
	} else if listed, given := At(root, "service", "telemetry", "metrics", "readers").([]any); given {
		readers = append(readers, listed...)
	}
	own["readers"] = append(readers, map[string]any{"pull": map[string]any{"exporter": map[string]any{
		"prometheus": map[string]any{"host": "127.0.0.1", "port": port},
	}}})
	return map[string]any{"service": map[string]any{"telemetry": map[string]any{"metrics": own}}}
}

// Added is the address that was written to `path`, empty if none was.
func Added(path string, values Values) string {
	content, err := files.Read(path, largest)
	if err != nil {
		return ""
	}
	root := map[string]any{}
	if err := yaml.Unmarshal(content, &root); err != nil {
		return ""
	}
	return Address(root, values)
}

func freePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if closing := listener.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	return strconv.Atoi(port)
}

// A variable as the collector writes it, with a default or without.
var variable = regexp.MustCompile(`\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}`)

// Filled fills variables in.
func Filled(text string, values Values) string {
	return variable.ReplaceAllStringFunc(text, func(written string) string {
		parts := variable.FindStringSubmatch(written)
		if value, set := values(parts[1]); set {
			return value
		}
		return parts[2]
	})
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

// At is the value at a path of keys, nil if there is none.
func At(value any, path ...string) any {
	for _, key := range path {
		mapping, is := value.(map[string]any)
		if !is {
			return nil
		}
		value = mapping[key]
	}
	return value
}
