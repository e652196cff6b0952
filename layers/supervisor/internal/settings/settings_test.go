package settings_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/headgate/headgate/layers/supervisor/internal/guard"
	"github.com/headgate/headgate/layers/supervisor/internal/settings"
)

// host sets what a host needs, and then those of `changes`, "" for a variable that is not there.
func host(t *testing.T, changes map[string]string) {
	t.Helper()
	folder := t.TempDir()
	all := map[string]string{
		"HEADGATE_ENDPOINT":         "https://headgate.example/v1/opamp",
		"HEADGATE_DEPLOYMENT_ID":    "dep_1",
		"HEADGATE_FLEET_TOKEN":      "ft_secret",
		"HEADGATE_FLEET_TOKEN_FILE": "",
		"HEADGATE_COLLECTOR":        os.Args[0],
		"HEADGATE_STORAGE":          folder,
		"HEADGATE_APPLY_TIMEOUT":    "",
		"HEADGATE_STOP_TIMEOUT":     "",
		"STORAGE_DIRECTORY":         "",
		"QUEUE_DIRECTORY":           "",
		"K8S_NODE_NAME":             "",
		"K8S_NAMESPACE":             "",
	}
	for name, value := range changes {
		all[name] = value
	}
	for name, value := range all {
		t.Setenv(name, value)
	}
}

func TestReadTakesTheTokenAway(t *testing.T) {
	host(t, nil)
	s, err := settings.Read(nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Token(); got != "ft_secret" {
		t.Errorf("Authorization: %q", got)
	}
	if value, there := os.LookupEnv("HEADGATE_FLEET_TOKEN"); there {
		t.Errorf("the collector would be given %q", value)
	}
	c := s.Supervisor("/self", "http://127.0.0.1:1/x")
	if err := c.Server.Validate(); err != nil {
		t.Error(err)
	}
	if c.Agent.Executable != "/self" || c.Agent.Env[guard.Variable] != os.Args[0] || !c.Agent.ValidateConfig {
		t.Errorf("agent: %+v", c.Agent)
	}
	if c.Capabilities.AcceptsOpAMPConnectionSettings {
		t.Error("an offer could turn the verification of certificates off")
	}
}

func TestReadTakesVariablesOfAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "environment")
	strange := "line\nbreak 'quote' $x `y` =é\t"
	if err := os.WriteFile(path, []byte("STRANGE="+strange+"\x00HEADGATE_DEPLOYMENT_ID=dep_2\x00EMPTY=\x00"), 0o600); err != nil {
		t.Fatal(err)
	}
	tokens := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(tokens, []byte("ft_file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	host(t, map[string]string{"STRANGE": "", "EMPTY": "x", "HEADGATE_FLEET_TOKEN": "", "HEADGATE_FLEET_TOKEN_FILE": tokens})
	s, err := settings.Read([]string{"--environment", path})
	if err != nil {
		t.Fatal(err)
	}
	if os.Getenv("STRANGE") != strange || os.Getenv("EMPTY") != "" || s.DeploymentID != "dep_2" {
		t.Errorf("%q, %q, %q", os.Getenv("STRANGE"), os.Getenv("EMPTY"), s.DeploymentID)
	}
	if got := s.Token(); got != "ft_file" {
		t.Errorf("Authorization: %q", got)
	}
}

func TestReadNamesWhatIsWrong(t *testing.T) {
	for name, value := range map[string]string{
		"HEADGATE_ENDPOINT":         "ftp://x",
		"HEADGATE_DEPLOYMENT_ID":    "",
		"HEADGATE_FLEET_TOKEN":      "",
		"HEADGATE_COLLECTOR":        "/nonexistent",
		"HEADGATE_STORAGE":          "var",
		"HEADGATE_APPLY_TIMEOUT":    "-1s",
		"HEADGATE_STOP_TIMEOUT":     "31s",
		"HEADGATE_FLEET_TOKEN_FILE": "/nonexistent",
	} {
		t.Run(name, func(t *testing.T) {
			changes := map[string]string{name: value}
			if name == "HEADGATE_FLEET_TOKEN_FILE" {
				changes["HEADGATE_FLEET_TOKEN"] = ""
			}
			host(t, changes)
			if _, err := settings.Read(nil); err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("%s=%q: %v", name, value, err)
			}
		})
	}
	host(t, nil)
	if _, err := settings.Read([]string{"x"}); err == nil {
		t.Error("an unknown argument passed")
	}
}

func TestReadGivesConfigurationsFoldersThatTheyMayWriteTo(t *testing.T) {
	host(t, map[string]string{"QUEUE_DIRECTORY": "/elsewhere"})
	s, err := settings.Read(nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := os.Getenv("STORAGE_DIRECTORY"), filepath.Join(s.Storage, "storage"); got != want {
		t.Errorf("STORAGE_DIRECTORY: %q, not %q", got, want)
	}
	if got := os.Getenv("QUEUE_DIRECTORY"); got != "/elsewhere" {
		t.Errorf("QUEUE_DIRECTORY: %q, which the host had set", got)
	}
}

func TestNameAndLabelsComeFromTheEnvironment(t *testing.T) {
	for text, want := range map[string]string{
		"":                    "map[]",
		"zone=a, role=gw,":    "map[role:gw zone:a]",
		"app.k8s.io/name=a=b": "map[app.k8s.io/name:a=b]",
		"zone":                "error",
		"=a":                  "error",
		"-a=b":                "error",
		"a b=c":               "error",
		"a=b\nc":              "error",
		"a=" + strings.Repeat("<", 255) + strings.Repeat(",b="+strings.Repeat("<", 255)+",c="+strings.Repeat("<", 255), 1): "error",
	} {
		t.Run(text, func(t *testing.T) {
			host(t, map[string]string{"HEADGATE_LABELS": text, "HEADGATE_NAME": "web-1"})
			got, err := settings.Read(nil)
			switch {
			case want == "error":
				if err == nil || !strings.Contains(err.Error(), "HEADGATE_LABELS") {
					t.Errorf("%v, %v", got, err)
				}
			case err != nil || fmt.Sprint(got.Labels) != want || got.Name != "web-1":
				t.Errorf("%v, %v", got, err)
			}
		})
	}
}

func TestTheCollectorRunsWithTheGatesOfTheEnvironmentAndTheServiceIsTold(t *testing.T) {
	for given, works := range map[string]bool{
		"+service.profilesSupport": true, "a.b,-c.d": true, "": true, "+a b": false, "a,,b": false, "a;b": false, "--a": false,
	} {
		host(t, map[string]string{"HEADGATE_FEATURE_GATES": given})
		got, err := settings.Read(nil)
		if (err == nil) != works {
			t.Errorf("%q: %v", given, err)
			continue
		}
		if !works {
			continue
		}
		_, labelled := got.Labels["headgate.feature-gates"]
		started := got.Supervisor("/self", "http://127.0.0.1:1/x").Agent.Env[guard.Gates]
		if started != given || got.Labels["headgate.feature-gates"] != given || labelled != (given != "") {
			t.Errorf("%q: started with %q, labels %v", given, started, got.Labels)
		}
	}
}

func TestTheLabelOfTheGatesIsOneOfThoseThatAHostMayHave(t *testing.T) {
	labels := make([]string, 64)
	for i := range labels {
		labels[i] = fmt.Sprintf("label-%d=a", i)
	}
	for gates, works := range map[string]bool{"": true, "a.b": false} {
		host(t, map[string]string{"HEADGATE_LABELS": strings.Join(labels, ","), "HEADGATE_FEATURE_GATES": gates})
		if _, err := settings.Read(nil); (err == nil) != works || err != nil && !strings.Contains(err.Error(), "65 labels") {
			t.Errorf("with the gates %q: %v", gates, err)
		}
	}
}

func TestAPodIsLabelledWithItsNodeAndNamespaceByItself(t *testing.T) {
	host(t, map[string]string{"HEADGATE_LABELS": "zone=a", "K8S_NODE_NAME": "node-1", "K8S_NAMESPACE": "observed"})
	got, err := settings.Read(nil)
	if err != nil || fmt.Sprint(got.Labels) != "map[k8s.namespace.name:observed k8s.node.name:node-1 zone:a]" {
		t.Errorf("%v, %v", got, err)
	}
}
