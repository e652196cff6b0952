// Package settings reads the settings from the environment and makes the official supervisor's configuration from them.
package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/headgate/headgate/layers/supervisor/internal/guard"
	"github.com/headgate/headgate/layers/supervisor/internal/metrics"
	"github.com/headgate/headgate/layers/supervisor/internal/output"
	"github.com/open-telemetry/opentelemetry-collector-contrib/cmd/opampsupervisor/supervisor/config"
)

// Variables of the environment; the chart sets those of Kubernetes. All others are for the collector.
const (
	endpoint     = "HEADGATE_ENDPOINT"
	deploymentID = "HEADGATE_DEPLOYMENT_ID"
	token        = "HEADGATE_FLEET_TOKEN"
	tokenFile    = "HEADGATE_FLEET_TOKEN_FILE"
	collector    = "HEADGATE_COLLECTOR"
	storage      = "HEADGATE_STORAGE"
	health       = "HEADGATE_HEALTH_ENDPOINT"
	applyTimeout = "HEADGATE_APPLY_TIMEOUT"
	stopTimeout  = "HEADGATE_STOP_TIMEOUT"
	hostName     = "HEADGATE_NAME"
	hostLabels   = "HEADGATE_LABELS"
	platform     = "HEADGATE_PLATFORM"
	featureGates = "HEADGATE_FEATURE_GATES"
	nodeName     = "K8S_NODE_NAME"
	namespace    = "K8S_NAMESPACE"
)

const linux = "linux"

var platforms = []string{linux, "docker", "kubernetes", "windows", "macos"}

// gatesLabel is the label by which the service is told the feature gates that the collector runs with.
const gatesLabel = "headgate.feature-gates"

var gates = regexp.MustCompile(`^[+-]?[0-9A-Za-z.]+(,[+-]?[0-9A-Za-z.]+)*$`)

// The service takes no more.
const (
	mostLabels   = 64
	longestKey   = 63
	longestValue = 255
	// As JSON, since a report of the host has room for that many bytes.
	largestNames = 4 << 10
)

// The host takes a configuration for one that is being applied for a minute.
const longestStop = 30 * time.Second

var labelKey = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._/-]*[A-Za-z0-9])?$`)

// Folders of the storage that configurations name by a variable, as the gallery's do. Often the collector may not write
// anywhere else.
var folders = map[string]string{"STORAGE_DIRECTORY": "storage", "QUEUE_DIRECTORY": "queue"}

// Settings are the settings of one host.
type Settings struct {
	Endpoint     string
	DeploymentID string
	Storage      string
	// Name is what people call this host, empty for its host name; Labels select it.
	Name   string
	Labels map[string]string
	// Platform is how this host was installed, one of platforms, or empty if nothing says so.
	Platform string
	// FeatureGates are those that the collector is started with, as --feature-gates takes them.
	FeatureGates string
	// StopTimeout is how long a collector may take to stop before another configuration is applied.
	StopTimeout  time.Duration
	token        string
	collector    string
	health       string
	applyTimeout time.Duration
}

// Read reads the settings from the environment. It first adds the variables of the file that --environment names to the
// environment: NAME=VALUE, each terminated by a NUL, so that a value may contain anything else.
func Read(arguments []string) (*Settings, error) {
	file, _, err := flagsOf(arguments)
	if err != nil {
		return nil, err
	}
	if file != "" {
		if err := addVariables(file); err != nil {
			return nil, err
		}
	}
	s := &Settings{
		Endpoint:     os.Getenv(endpoint),
		DeploymentID: os.Getenv(deploymentID),
		Storage:      or(os.Getenv(storage), "/var/lib/headgate"),
		collector:    or(os.Getenv(collector), "/usr/local/bin/otelcol-contrib"),
		health:       or(os.Getenv(health), "127.0.0.1:13143"),
	}
	s.Name, s.Platform = os.Getenv(hostName), os.Getenv(platform)
	if s.Labels, err = readLabels(os.Getenv(hostLabels)); err != nil {
		return nil, err
	}
	for key, name := range map[string]string{"k8s.node.name": nodeName, "k8s.namespace.name": namespace} {
		if value := os.Getenv(name); value != "" {
			s.Labels[key] = value
		}
	}
	if s.FeatureGates = os.Getenv(featureGates); s.FeatureGates != "" {
		if !gates.MatchString(s.FeatureGates) || len(s.FeatureGates) > longestValue {
			return nil, fmt.Errorf("%s is %q, but must be names with commas between them, such as +service.profilesSupport, of up to %d bytes", featureGates, s.FeatureGates, longestValue)
		}
		s.Labels[gatesLabel] = s.FeatureGates
	}
	s.applyTimeout, err = time.ParseDuration(or(os.Getenv(applyTimeout), "10s"))
	if err != nil || s.applyTimeout <= 0 {
		return nil, fmt.Errorf("%s is %q, but must be a duration such as 10s", applyTimeout, os.Getenv(applyTimeout))
	}
	s.StopTimeout, err = time.ParseDuration(or(os.Getenv(stopTimeout), "10s"))
	if err != nil || s.StopTimeout <= 0 || s.StopTimeout > longestStop {
		return nil, fmt.Errorf("%s is %q, but must be a duration such as 10s, at most %v", stopTimeout, os.Getenv(stopTimeout), longestStop)
	}
	if s.token, err = readToken(); err != nil {
		return nil, err
	}
	// So that no configuration can send the token anywhere by naming the variable.
	if err := os.Unsetenv(token); err != nil {
		return nil, err
	}
	for name, folder := range folders {
		if os.Getenv(name) == "" {
			if err := os.Setenv(name, filepath.Join(s.Storage, folder)); err != nil {
				return nil, err
			}
		}
	}
	return s, s.check()
}

// LogFile is the file that the arguments name for what this program logs, "" for standard error.
func LogFile(arguments []string) string {
	_, log, err := flagsOf(arguments)
	if err != nil {
		return ""
	}
	return log
}

func flagsOf(arguments []string) (environment, log string, err error) {
	flags := flag.NewFlagSet("headgate-supervisor", flag.ContinueOnError)
	flags.StringVar(&environment, "environment", "", "file of variables, each terminated by a NUL")
	flags.StringVar(&log, "log", "", "file to log to instead of standard error; it is kept below 20 MB with the one before")
	if err := flags.Parse(arguments); err != nil {
		return "", "", err
	}
	if flags.NArg() > 0 {
		return "", "", fmt.Errorf("unknown argument %q", flags.Arg(0))
	}
	return environment, log, nil
}

// Collector returns the path of the collector that was installed.
func (s *Settings) Collector() string { return s.collector }

// Upgrades reports whether this host replaces its collector and supervisor. An image has its own.
func (s *Settings) Upgrades() bool { return s.Platform == linux }

// Token returns the token that this host was installed with.
func (s *Settings) Token() string { return s.token }

// Renews reports whether this host keeps a renewed token. A pod starts with that of its Secret each time.
func (s *Settings) Renews() bool { return s.Platform != "kubernetes" }

// Supervisor returns the official supervisor's configuration: self is this program, which starts the collector, and
// server the address for messages.
func (s *Settings) Supervisor(self, server string) config.Supervisor {
	c := config.DefaultSupervisor()
	c.Server.Endpoint = server
	c.Capabilities = config.Capabilities{
		AcceptsRemoteConfig:        true,
		AcceptsRestartCommand:      true,
		ReportsEffectiveConfig:     true,
		ReportsHealth:              true,
		ReportsHeartbeat:           true,
		ReportsRemoteConfig:        true,
		ReportsAvailableComponents: true,
		// Accepting them would turn off the verification of certificates.
		AcceptsOpAMPConnectionSettings: false,
		ReportsOwnMetrics:              false,
	}
	c.Agent.Executable = self
	c.Agent.Env = map[string]string{
		guard.Variable: s.collector, guard.Metrics: filepath.Join(s.Storage, metrics.Name), guard.Variables: s.Storage,
	}
	if s.FeatureGates != "" {
		c.Agent.Env[guard.Gates] = s.FeatureGates
	}
	if s.Upgrades() {
		c.Agent.Env[guard.Storage] = s.Storage
	}
	// The collector has 360 MB: its first start from a slow disk takes long.
	c.Agent.BootstrapTimeout = 30 * time.Second
	c.Agent.ConfigApplyTimeout = s.applyTimeout
	c.Agent.ValidateConfig = true
	c.Agent.PassthroughLogs = output.Logged
	c.Storage.Directory = s.Storage
	c.HealthCheck.NetAddr.Endpoint = s.health
	c.Telemetry.Logs.OutputPaths = []string{"stderr"}
	return c
}

// readLabels reads `key=value` pairs with commas between them.
func readLabels(text string) (map[string]string, error) {
	labels := map[string]string{}
	for _, pair := range strings.Split(text, ",") {
		key, value, found := strings.Cut(strings.TrimSpace(pair), "=")
		if key == "" && !found {
			continue
		}
		if !found || len(key) > longestKey || !labelKey.MatchString(key) {
			return nil, fmt.Errorf("%s has %q, but must be pairs such as zone=a,role=gateway; a key has up to %d letters, digits, and . _ / - between them", hostLabels, pair, longestKey)
		}
		if len(value) > longestValue || strings.ContainsFunc(value, unicode.IsControl) {
			return nil, fmt.Errorf("%s: the value of %s must be one line of up to %d bytes", hostLabels, key, longestValue)
		}
		labels[key] = value
	}
	return labels, nil
}

func (s *Settings) check() error {
	var problems []error
	if len(s.Name) > longestValue || strings.ContainsFunc(s.Name, unicode.IsControl) {
		problems = append(problems, fmt.Errorf("%s must be one line of up to %d bytes", hostName, longestValue))
	}
	if len(s.Labels) > mostLabels {
		problems = append(problems, fmt.Errorf(
			"%s: with those of its node, namespace and feature gates the host has %d labels, but may have %d", hostLabels, len(s.Labels), mostLabels))
	}
	if names, err := json.Marshal([]any{s.Name, s.Labels}); err != nil || len(names) > largestNames {
		problems = append(problems, fmt.Errorf("%s and %s have %d bytes together, but may have %d", hostName, hostLabels, len(names), largestNames))
	}
	if address, err := url.Parse(s.Endpoint); err != nil || address.Host == "" || (address.Scheme != "http" && address.Scheme != "https") {
		problems = append(problems, fmt.Errorf("%s is %q, but must be Headgate's URL for messages, starting with http:// or https://", endpoint, s.Endpoint))
	}
	if s.Platform != "" && !slices.Contains(platforms, s.Platform) {
		problems = append(problems, fmt.Errorf("%s is %q, but must be %s", platform, s.Platform, strings.Join(platforms, ", ")))
	}
	if s.DeploymentID == "" || strings.ContainsAny(s.DeploymentID, "\r\n") {
		problems = append(problems, fmt.Errorf("%s is %q, but must be the id of a deployment", deploymentID, s.DeploymentID))
	}
	if s.token == "" || strings.ContainsAny(s.token, " \r\n") {
		problems = append(problems, fmt.Errorf("%s or the file named by %s must contain the fleet's token", token, tokenFile))
	}
	if !filepath.IsAbs(s.Storage) {
		problems = append(problems, fmt.Errorf("%s is %q, but must be an absolute path", storage, s.Storage))
	}
	if stat, err := os.Stat(s.collector); err != nil || stat.IsDir() {
		problems = append(problems, fmt.Errorf("%s: the file %q does not exist; it must be the collector", collector, s.collector))
	}
	return errors.Join(problems...)
}

func readToken() (string, error) {
	path := os.Getenv(tokenFile)
	if value := os.Getenv(token); value != "" || path == "" {
		return value, nil
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("%s: %w", tokenFile, err)
	}
	return strings.TrimSpace(string(content)), nil
}

func addVariables(path string) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("--environment: %w", err)
	}
	for _, variable := range bytes.Split(content, []byte{0}) {
		name, value, found := strings.Cut(string(variable), "=")
		if !found {
			if len(variable) > 0 {
				return fmt.Errorf("%s: an entry has no `=`; each entry is NAME=VALUE and ends with a NUL", path)
			}
			continue
		}
		if err := os.Setenv(name, value); err != nil {
			return fmt.Errorf("%s: %q is not a valid name for a variable", path, name)
		}
	}
	return nil
}

func or(value, otherwise string) string {
	if value == "" {
		return otherwise
	}
	return value
}
