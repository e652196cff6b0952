// Package settings reads what this supervisor is to do, and makes the official supervisor's configuration of it.
package settings

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/headgate/headgate/layers/supervisor/internal/guard"
	"github.com/open-telemetry/opentelemetry-collector-contrib/cmd/opampsupervisor/supervisor/config"
)

// Variables of the environment. All others are for the collector.
const (
	endpoint     = "HEADGATE_ENDPOINT"
	deploymentID = "HEADGATE_DEPLOYMENT_ID"
	token        = "HEADGATE_FLEET_TOKEN"
	tokenFile    = "HEADGATE_FLEET_TOKEN_FILE"
	collector    = "HEADGATE_COLLECTOR"
	storage      = "HEADGATE_STORAGE"
	health       = "HEADGATE_HEALTH_ENDPOINT"
	applyTimeout = "HEADGATE_APPLY_TIMEOUT"
)

// Folders that configurations name by a variable, as those of the gallery do, each a part of the storage. There is often
// no other place that the collector may write to.
var folders = map[string]string{"STORAGE_DIRECTORY": "storage", "QUEUE_DIRECTORY": "queue"}

// Settings are those of one host.
type Settings struct {
	Endpoint     string
	DeploymentID string
	Storage      string
	token        string
	collector    string
	health       string
	applyTimeout time.Duration
}

// Read takes the settings from the environment, after adding to it the variables of the file that --environment names:
// NAME=VALUE, each ended by a NUL, so that a value may hold anything.
func Read(arguments []string) (*Settings, error) {
	flags := flag.NewFlagSet("headgate-supervisor", flag.ContinueOnError)
	file := flags.String("environment", "", "file of variables, each ended by a NUL")
	if err := flags.Parse(arguments); err != nil {
		return nil, err
	}
	if flags.NArg() > 0 {
		return nil, fmt.Errorf("unknown argument %q", flags.Arg(0))
	}
	if *file != "" {
		if err := addVariables(*file); err != nil {
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
	var err error
	s.applyTimeout, err = time.ParseDuration(or(os.Getenv(applyTimeout), "10s"))
	if err != nil || s.applyTimeout <= 0 {
		return nil, fmt.Errorf("%s is %q; it has to be a time such as 10s", applyTimeout, os.Getenv(applyTimeout))
	}
	if s.token, err = readToken(); err != nil {
		return nil, err
	}
	// No configuration may send the token somewhere by naming the variable.
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

// Headers go with every message to Headgate.
func (s *Settings) Headers() http.Header {
	return http.Header{"Authorization": {"Bearer " + s.token}, "X-Deployment-Id": {s.DeploymentID}}
}

// Supervisor is the official configuration: `self` is this program, which guards the collector, and `server` where the
// messages go.
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
		// An offer would turn the verification of certificates off.
		AcceptsOpAMPConnectionSettings: false,
		ReportsOwnMetrics:              false,
	}
	c.Agent.Executable = self
	c.Agent.Env = map[string]string{guard.Variable: s.collector}
	// The collector is of 360 MB: its first start on a slow disk takes its time.
	c.Agent.BootstrapTimeout = 30 * time.Second
	c.Agent.ConfigApplyTimeout = s.applyTimeout
	c.Agent.ValidateConfig = true
	c.Storage.Directory = s.Storage
	c.HealthCheck.NetAddr.Endpoint = s.health
	c.Telemetry.Logs.OutputPaths = []string{"stderr"}
	return c
}

func (s *Settings) check() error {
	var problems []error
	if address, err := url.Parse(s.Endpoint); err != nil || address.Host == "" || (address.Scheme != "http" && address.Scheme != "https") {
		problems = append(problems, fmt.Errorf("%s is %q; it has to be the URL that messages go to", endpoint, s.Endpoint))
	}
	if s.DeploymentID == "" || strings.ContainsAny(s.DeploymentID, "\r\n") {
		problems = append(problems, fmt.Errorf("%s is %q; it has to be the id of a deployment group", deploymentID, s.DeploymentID))
	}
	if s.token == "" || strings.ContainsAny(s.token, " \r\n") {
		problems = append(problems, fmt.Errorf("%s or %s has to give the fleet's token", token, tokenFile))
	}
	if !filepath.IsAbs(s.Storage) {
		problems = append(problems, fmt.Errorf("%s is %q; it has to be an absolute path", storage, s.Storage))
	}
	if stat, err := os.Stat(s.collector); err != nil || stat.IsDir() {
		problems = append(problems, fmt.Errorf("%s: there is no collector at %q", collector, s.collector))
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
				return fmt.Errorf("%s: an entry without `=`; each is NAME=VALUE and ends with a NUL", path)
			}
			continue
		}
		if err := os.Setenv(name, value); err != nil {
			return fmt.Errorf("%s: %q is no variable's name", path, name)
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
