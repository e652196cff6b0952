// Package takeover lets this supervisor take the place of the official one on a host, with what that one knows.
package takeover

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"github.com/headgate/headgate/layers/supervisor/internal/files"
	"github.com/open-telemetry/opamp-go/protobufs"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/provider/envprovider"
	"go.opentelemetry.io/collector/confmap/provider/fileprovider"
	"go.yaml.in/yaml/v3"
	"google.golang.org/protobuf/proto"
)

const (
	// Files in the storage of both supervisors.
	stateFile    = "persistent_state.yaml"
	receivedFile = "last_recv_remote_config.dat"
	// The file from which the official supervisor starts its collector.
	effectiveFile = "effective.yaml"
	largest       = 16 << 20
	// What this supervisor takes, less what its name and feature gates may need.
	mostLabels    = 60
	largestLabels = 3 << 10
	longestValue  = 255
	mostNames     = 64
)

// notForCollector are variables that a service manager or a login sets for one process.
var notForCollector = regexp.MustCompile(`^(PATH|HOME|LANG|LANGUAGE|LC_.*|USER|LOGNAME|SHELL|SHLVL|PWD|OLDPWD|TERM|_|INVOCATION_ID|` +
	`JOURNAL_STREAM|SYSTEMD_.*|NOTIFY_SOCKET|WATCHDOG_.*|LISTEN_.*|MANAGERPID|MAINPID|MEMORY_PRESSURE_.*|` +
	`(STATE|LOGS|CONFIGURATION|RUNTIME|CACHE|CREDENTIALS)_DIRECTORY|OPAMP_OPTIONS|HEADGATE_.*|LD_.*)$`)

// A label as the service takes it, from one variable with commas between the labels.
var label = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._/-]{0,61}[A-Za-z0-9])?=[^,\p{Cc}]*$`)

// official is what this program reads of the official supervisor's file.
type official struct {
	Server struct {
		Endpoint string         `mapstructure:"endpoint"`
		TLS      map[string]any `mapstructure:"tls"`
	} `mapstructure:"server"`
	Agent struct {
		Executable  string            `mapstructure:"executable"`
		ConfigFiles []string          `mapstructure:"config_files"`
		Arguments   []string          `mapstructure:"args"`
		Env         map[string]string `mapstructure:"env"`
		Description struct {
			Identifying    map[string]string `mapstructure:"identifying_attributes"`
			NonIdentifying map[string]string `mapstructure:"non_identifying_attributes"`
		} `mapstructure:"description"`
	} `mapstructure:"agent"`
	Capabilities struct {
		AcceptsRemoteConfig bool `mapstructure:"accepts_remote_config"`
	} `mapstructure:"capabilities"`
	Storage struct {
		Directory string `mapstructure:"directory"`
	} `mapstructure:"storage"`
}

// Bring copies into the storage what a running official supervisor knows, and writes to `variables` those for the
// environment of this one, each terminated by a NUL. It tells a person what stays and what does not, and stops nothing.
// The folder of processes is /proc.
func Bring(processes string, pid int, storage, variables string, say io.Writer) error {
	process := filepath.Join(processes, strconv.Itoa(pid))
	path, err := fileOf(process)
	if err != nil {
		return err
	}
	environment, err := os.ReadFile(filepath.Join(process, "environ"))
	if err != nil {
		return fmt.Errorf("read the official supervisor's environment: %w", err)
	}
	values := variablesOf(environment)
	read, err := load(path, values)
	if err != nil {
		return fmt.Errorf("read the official supervisor's file %s: %w", path, err)
	}
	tell := func(format string, words ...any) { _, _ = fmt.Fprintf(say, format+"\n", words...) }
	tell("The official supervisor is process %d with %s, and reports to %s.", pid, quoted([]string{path}), read.address())
	if err := read.bringState(storage, tell); err != nil {
		return err
	}
	collectors := map[string]string{}
	for _, from := range []map[string]string{values, read.Agent.Env} {
		for name, value := range from {
			if !notForCollector.MatchString(name) {
				collectors[name] = value
			}
		}
	}
	if len(collectors) > 0 {
		tell("Stays: the variables of the collector: %s", names(collectors))
	}
	if labels := read.labels(tell); labels != "" {
		collectors["HEADGATE_LABELS"] = labels
	}
	read.tellOfRest(tell)
	var entries bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(collectors)) {
		entries.WriteString(name + "=" + collectors[name] + "\x00")
	}
	return files.Replace(variables, entries.Bytes())
}

// fileOf is the configuration file that the process was started with.
func fileOf(process string) (string, error) {
	content, err := os.ReadFile(filepath.Join(process, "cmdline"))
	if err != nil {
		return "", fmt.Errorf("the official supervisor does not run: %w", err)
	}
	words := strings.Split(strings.TrimSuffix(string(content), "\x00"), "\x00")
	for i, word := range words {
		path, is := strings.CutPrefix(strings.TrimPrefix(word, "-"), "-config=")
		if !is && (word == "--config" || word == "-config") && i+1 < len(words) {
			path, is = words[i+1], true
		}
		if !is {
			continue
		}
		if !filepath.IsAbs(path) {
			folder, err := os.Readlink(filepath.Join(process, "cwd"))
			if err != nil {
				return "", err
			}
			path = filepath.Join(folder, path)
		}
		return path, nil
	}
	return "", errors.New("the process of the official supervisor's service names no file with --config")
}

func variablesOf(environment []byte) map[string]string {
	values := map[string]string{}
	for _, entry := range strings.Split(string(environment), "\x00") {
		if name, value, is := strings.Cut(entry, "="); is && name != "" {
			values[name] = value
		}
	}
	return values
}

// load reads the file as the official supervisor does, also one of a later version with settings that are not known here.
func load(path string, values map[string]string) (*official, error) {
	// The provider reads this process's environment.
	for name, value := range values {
		if err := os.Setenv(name, value); err != nil {
			return nil, err
		}
	}
	resolver, err := confmap.NewResolver(confmap.ResolverSettings{
		URIs:              []string{path},
		ProviderFactories: []confmap.ProviderFactory{fileprovider.NewFactory(), envprovider.NewFactory()},
		DefaultScheme:     "env",
	})
	if err != nil {
		return nil, err
	}
	content, err := resolver.Resolve(context.Background())
	if err != nil {
		return nil, err
	}
	read := &official{}
	read.Storage.Directory = "/var/lib/otelcol/supervisor"
	return read, content.Unmarshal(read, confmap.WithIgnoreUnused())
}

// bringState copies the instance's id and the configuration that was received last.
func (o *official) bringState(storage string, tell func(format string, words ...any)) error {
	state, err := files.Read(filepath.Join(o.Storage.Directory, stateFile), largest)
	if err != nil {
		return fmt.Errorf("the official supervisor has no instance yet: %w", err)
	}
	var written struct {
		InstanceID string `yaml:"instance_id"`
	}
	if err := yaml.Unmarshal(state, &written); err != nil {
		return fmt.Errorf("read %s: %w", stateFile, err)
	}
	if _, err := uuid.Parse(written.InstanceID); err != nil {
		return fmt.Errorf("%s has no instance: %w", stateFile, err)
	}
	if err := files.Replace(filepath.Join(storage, stateFile), state); err != nil {
		return err
	}
	tell("Stays: the instance %s, so that the fleet lists the same host", written.InstanceID)
	received, err := files.Read(filepath.Join(o.Storage.Directory, receivedFile), largest)
	if err != nil || !o.Capabilities.AcceptsRemoteConfig || proto.Unmarshal(received, &protobufs.AgentRemoteConfig{}) != nil {
		tell("Does not stay: what the collector runs, which no server assigned; it runs the version of its group from the first answer on")
		return nil
	}
	tell("Stays: the configuration that was received last, with which the collector starts")
	return files.Replace(filepath.Join(storage, receivedFile), received)
}

// labels are the attributes by which people describe the host.
func (o *official) labels(tell func(format string, words ...any)) string {
	var labels, lost []string
	size := 0
	for _, name := range slices.Sorted(maps.Keys(o.Agent.Description.NonIdentifying)) {
		value := o.Agent.Description.NonIdentifying[name]
		pair := name + "=" + value
		// As JSON, in which a character may have six bytes.
		written, _ := json.Marshal(pair)
		fits := len(labels) < mostLabels && len(value) <= longestValue && size+len(written) <= largestLabels
		if fits && label.MatchString(pair) {
			size += len(written) + 2
			labels = append(labels, pair)
		} else {
			lost = append(lost, name)
		}
	}
	for name := range o.Agent.Description.Identifying {
		lost = append(lost, name)
	}
	slices.Sort(lost)
	if len(labels) > 0 {
		tell("Stays: the attributes of its description, as labels: %s", quoted(labels))
	}
	if len(lost) > 0 {
		tell("Does not stay: the attributes %s", quoted(lost))
	}
	return strings.Join(labels, ",")
}

// tellOfRest names what the file has beside that.
func (o *official) tellOfRest(tell func(format string, words ...any)) {
	tell("Does not stay: the collector %s; Headgate's own takes its place", quoted([]string{o.Agent.Executable}))
	files := slices.DeleteFunc(slices.Clone(o.Agent.ConfigFiles), func(path string) bool { return strings.HasPrefix(path, "$") })
	if len(files) > 0 {
		tell("Does not stay: what these files add to the configuration: %s", quoted(files))
	}
	if len(o.Agent.Arguments) > 0 {
		tell("Does not stay: the arguments %s", quoted(withoutValues(o.Agent.Arguments)))
	}
	if len(o.Server.TLS) > 0 {
		tell("Does not stay: server::tls; the host's authorities are used, or those of SSL_CERT_FILE")
	}
	if folders := o.writes(); len(folders) > 0 {
		tell("Does not stay: the right to write to %s; add them to ReadWritePaths of the service, and let its account write there", quoted(folders))
	}
	tell("Stays on the host, unused: the official supervisor's program, files and %s", quoted([]string{o.Storage.Directory}))
}

// address is the server's, without what may be a secret.
func (o *official) address() string {
	server, err := url.Parse(o.Server.Endpoint)
	if err != nil {
		return "an address that cannot be read"
	}
	return quoted([]string{(&url.URL{Scheme: server.Scheme, Host: server.Host, Path: server.Path}).String()})
}

// withoutValues leaves of the collector's arguments what is not a value of its configuration, which may be a secret.
func withoutValues(arguments []string) []string {
	var shown []string
	option := ""
	for _, word := range arguments {
		value := word
		if strings.HasPrefix(word, "-") {
			name, rest, joined := strings.Cut(word, "=")
			option, value = strings.TrimLeft(name, "-"), rest
			shown = append(shown, name)
			if !joined {
				continue
			}
		}
		switch option {
		case "feature-gates":
		case "set":
			value, _, _ = strings.Cut(value, "=")
		default:
			continue
		}
		if last := len(shown) - 1; strings.HasPrefix(word, "-") {
			shown[last] += "=" + value
		} else {
			shown = append(shown, value)
		}
	}
	return shown
}

// writes are the places where the collector stores or exports files, by the configuration that it runs.
func (o *official) writes() []string {
	content, err := files.Read(filepath.Join(o.Storage.Directory, effectiveFile), largest)
	if err != nil {
		return nil
	}
	var text struct {
		Extensions map[string]any `yaml:"extensions"`
		Exporters  map[string]any `yaml:"exporters"`
	}
	if yaml.Unmarshal(content, &text) != nil {
		return nil
	}
	var places []string
	for key, parts := range map[string]map[string]any{"directory": text.Extensions, "path": text.Exporters} {
		for id, part := range parts {
			settings, is := part.(map[string]any)
			if !is || !strings.HasPrefix(id, "file") {
				continue
			}
			if place, is := settings[key].(string); is {
				places = append(places, place)
			}
		}
	}
	slices.Sort(places)
	return slices.Compact(places)
}

func names(of map[string]string) string { return quoted(slices.Sorted(maps.Keys(of))) }

// quoted makes what somebody wrote harmless for a terminal.
func quoted(texts []string) string {
	var written []string
	for _, text := range texts[:min(len(texts), mostNames)] {
		content, err := json.Marshal(text[:min(len(text), 200)])
		if err == nil {
			written = append(written, strings.Trim(string(content), `"`))
		}
	}
	return strings.Join(written, ", ")
}
