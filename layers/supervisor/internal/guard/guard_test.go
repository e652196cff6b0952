package guard_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/headgate/headgate/layers/supervisor/internal/guard"
	"github.com/open-telemetry/opentelemetry-collector-contrib/cmd/opampsupervisor/supervisor/commander"
	"github.com/open-telemetry/opentelemetry-collector-contrib/cmd/opampsupervisor/supervisor/config"
	"go.uber.org/zap"
)

func TestArguments(t *testing.T) {
	for _, row := range []struct {
		name           string
		given, becomes string
	}{
		{"validate", "validate --config new --config old", "validate --config new"},
		{"validate, written with =", "validate --config=new --config=old", "validate --config=new"},
		{"validate with other flags", "validate --config new --config old --feature-gates=a", "validate --config new --feature-gates=a"},
		{
			"validate without asking for pipelines", "validate --config new --config old --feature-gates service.AllowNoPipelines",
			"validate --config new --feature-gates service.AllowNoPipelines --feature-gates=-service.AllowNoPipelines",
		},
		{"a run without pipelines", "--config a --feature-gates service.AllowNoPipelines", "--config a --feature-gates service.AllowNoPipelines"},
		{"validate of one", "validate --config new", "validate --config new"},
		{"a run of two files", "--config a --config b", "--config a --config b"},
		{"another command", "featuregate", "featuregate"},
		{"a flag without a value", "validate --config", "validate --config"},
		{"nothing", "", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := strings.Join(guard.Arguments(strings.Fields(row.given), filepath.Join(t.TempDir(), "added"), os.LookupEnv), " "); got != row.becomes {
				t.Errorf("%q becomes %q, not %q", row.given, got, row.becomes)
			}
		})
	}
}

func TestGatesOfTheHostAreThoseOfItsCollector(t *testing.T) {
	const gates = "+service.profilesSupport,-a.b"
	for given, becomes := range map[string]string{
		"--config a":              "--config a --feature-gates=" + gates,
		"validate --config new":   "validate --config new --feature-gates=" + gates,
		"components":              "components",
		"--config a --config b":   "--config a --config b --feature-gates=" + gates,
		"":                        "",
		"validate --config a --b": "validate --config a --b --feature-gates=" + gates,
	} {
		if got := strings.Join(guard.WithGates(strings.Fields(given), gates), " "); got != becomes {
			t.Errorf("%q becomes %q, not %q", given, got, becomes)
		}
		if got := strings.Join(guard.WithGates(strings.Fields(given), ""), " "); got != given {
			t.Errorf("%q becomes %q without gates", given, got)
		}
	}
}

func TestACollectorThatIsOnlyLearnedAboutServesNoMetrics(t *testing.T) {
	for _, row := range []struct {
		name, written string
		without       bool
	}{
		{"to learn", "extensions: {opamp: {}}\nservice: {extensions: [opamp]}\n", true},
		{"assigned", "extensions: {opamp: {}}\nservice: {extensions: [opamp], telemetry: {resource: {}}}\n", false},
		{"not of the supervisor", "extensions: {}\nservice: {}\n", false},
		{"no YAML", "{", false},
	} {
		t.Run(row.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "effective.yaml")
			if err := os.WriteFile(path, []byte(row.written), 0o600); err != nil {
				t.Fatal(err)
			}
			given := []string{"--config", path, "--feature-gates=a"}
			want := given
			if row.without {
				want = append([]string{"--set=service.telemetry.metrics.level=none"}, given...)
			}
			if got := guard.Arguments(given, "", os.LookupEnv); !slices.Equal(got, want) {
				t.Errorf("%q", got)
			}
		})
	}
	if given := []string{"--config", "/nonexistent"}; !slices.Equal(guard.Arguments(given, "", os.LookupEnv), given) {
		t.Error("a file that cannot be read changes the arguments")
	}
}

// The day this fails, the guard has nothing left to mend.
func TestTheSupervisorStillValidatesWithTheOldConfiguration(t *testing.T) {
	folder := t.TempDir()
	program, seen := filepath.Join(folder, "collector"), filepath.Join(folder, "arguments")
	script := "#!/bin/sh\nprintf '%s\\n' \"$@\" >" + seen + "\n"
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	official, err := commander.NewCommander(zap.NewNop(), folder, config.Agent{Executable: program}, "--config", "old")
	if err != nil {
		t.Fatal(err)
	}
	if err := official.ValidateConfig(context.Background(), "new"); err != nil {
		t.Fatal(err)
	}
	arguments, err := os.ReadFile(seen)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(strings.Fields(string(arguments)), strings.Fields("validate --config new --config old")) {
		t.Fatalf("The official supervisor now validates with %q: if the old configuration is gone, the defect is mended. "+
			"Drop the first part of Arguments, and say so in docs/decisions/0018-our-supervisor.md.", arguments)
	}
}

func TestACollectorWhoseTextServesNoMetricsGetsAPlaceForThem(t *testing.T) {
	for written, adds := range map[string]bool{
		"service: {telemetry: {metrics: {level: none}}}":  true,
		"service: {telemetry: {metrics: {level: basic}}}": false,
	} {
		folder := t.TempDir()
		path, added := filepath.Join(folder, "effective.yaml"), filepath.Join(folder, "added.yaml")
		if err := os.WriteFile(path, []byte(written), 0o600); err != nil {
			t.Fatal(err)
		}
		want := []string{"--config", path, "--feature-gates=a"}
		given := slices.Clone(want)
		if adds {
			want = append(want, "--config", added)
		}
		if got := guard.Arguments(given, added, os.LookupEnv); !slices.Equal(got, want) {
			t.Errorf("%s: %q", written, got)
		}
	}
}

// TestBecomingTheCollector is the program that the supervisor starts, in a process of its own.
func TestBecomingTheCollector(t *testing.T) {
	if arguments := os.Getenv("ARGUMENTS_OF_GUARD"); arguments != "" {
		collector, _ := guard.Collector()
		t.Fatal(guard.Start(collector, strings.Fields("headgate-supervisor "+arguments)))
	}
}

func TestTheCollectorStartsWithTheVariablesAndGatesOfItsHostAndNothingOfTheSupervisors(t *testing.T) {
	folder := t.TempDir()
	digest, damaged := strings.Repeat("1a", 32), strings.Repeat("2b", 32)
	stored := filepath.Join(folder, "programs", "variables")
	if err := os.MkdirAll(stored, 0o700); err != nil {
		t.Fatal(err)
	}
	for path, content := range map[string]string{
		filepath.Join(stored, digest+".json"):  `{"digest":"` + digest + `","variables":{"SECRET":"of the version"},"removed":["GONE"]}`,
		filepath.Join(stored, damaged+".json"): "{",
		filepath.Join(folder, "with.yaml"):     "service: {telemetry: {resource: {headgate.variables: " + digest + "}}}\n",
		filepath.Join(folder, "without.yaml"):  "service: {}\n",
		filepath.Join(folder, "damaged.yaml"):  "service: {telemetry: {resource: {headgate.variables: " + damaged + "}}}\n",
		filepath.Join(folder, "collector"):     "#!/bin/sh\nprintf '%s, ' \"$*\" \"$SECRET\" \"$GONE\"; env | grep -c ^HEADGATE_GUARDED_\n",
	} {
		if err := os.WriteFile(path, []byte(content), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for arguments, want := range map[string]string{
		"--config with.yaml":              "--config with.yaml --feature-gates=-a, of the version, , 0",
		"validate --config=with.yaml":     "validate --config=with.yaml --feature-gates=-a, of the version, , 0",
		"--config without.yaml":           "--config without.yaml --feature-gates=-a, of the install, also, 0",
		"--config missing.yaml":           "--config missing.yaml --feature-gates=-a, of the install, also, 0",
		"components":                      "components, of the install, also, 0",
		"--config":                        "--config --feature-gates=-a, of the install, also, 0",
		"validate --config damaged.yaml":  "so that the collector is not started",
		"--set=a=b --config=damaged.yaml": "so that the collector is not started",
	} {
		command := exec.Command(os.Args[0], "-test.run=^TestBecomingTheCollector$")
		command.Dir = folder
		command.Env = append(os.Environ(), "ARGUMENTS_OF_GUARD="+arguments, "SECRET=of the install", "GONE=also",
			guard.Variable+"="+filepath.Join(folder, "collector"), guard.Storage+"="+folder, guard.Variables+"="+folder, guard.Gates+"=-a")
		// A collector that is not started ends this with an error.
		if printed, _ := command.CombinedOutput(); !strings.Contains(string(printed), want) {
			t.Errorf("%s: %s", arguments, printed)
		}
	}
}
