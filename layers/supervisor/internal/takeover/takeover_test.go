//go:build unix

package takeover

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/headgate/headgate/layers/supervisor/internal/settings"
	"github.com/open-telemetry/opamp-go/protobufs"
	"google.golang.org/protobuf/proto"
)

const id = "01890a5d-ac96-774b-bcce-b302099a8057"

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// host is an official supervisor's: its process 7, the folder of processes, and its storage.
func host(t *testing.T, words, environment, more string) (processes, stored string) {
	t.Helper()
	root := t.TempDir()
	stored = filepath.Join(root, "stored")
	file := filepath.Join(root, "config.yaml")
	write(t, file, `
server: {endpoint: "wss://${HOST_OF_SERVER}/v1/opamp", headers: {Authorization: Bearer secret}}
storage: {directory: `+stored+`}
agent:
  executable: /usr/bin/otelcol
  env: {REGION: eu}
`+more)
	write(t, filepath.Join(root, "proc/7/cmdline"), strings.ReplaceAll(words, "FILE", file))
	write(t, filepath.Join(root, "proc/7/environ"), environment)
	write(t, filepath.Join(stored, stateFile), "instance_id: "+id+"\n")
	received, err := proto.Marshal(&protobufs.AgentRemoteConfig{ConfigHash: []byte("hash")})
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(stored, receivedFile), string(received))
	return filepath.Join(root, "proc"), stored
}

func bring(t *testing.T, processes string) (said, variables, storage string, err error) {
	t.Helper()
	storage = t.TempDir()
	file := filepath.Join(t.TempDir(), "variables")
	var output bytes.Buffer
	err = Bring(processes, 7, storage, file, &output)
	content, _ := os.ReadFile(file)
	return output.String(), string(content), storage, err
}

func TestTheInstanceAndWhatItReceivedLastAreBrought(t *testing.T) {
	environment := "HOST_OF_SERVER=old.example.com\x00PATH=/bin\x00OPAMP_OPTIONS=x\x00HEADGATE_FLEET_TOKEN=t\x00REGION=us\x00TEAM=a b\x00"
	processes, stored := host(t, "opampsupervisor\x00--config=FILE\x00", environment, `
  config_files: [/etc/own.yaml, $REMOTE_CONFIG]
  args: [--feature-gates=a]
  description:
    identifying_attributes: {service.name: x}
    non_identifying_attributes: {zone: a, "bad key": b, long: "x,y"}
  a_setting_of_later: true
capabilities: {accepts_remote_config: true}
`)
	write(t, filepath.Join(stored, effectiveFile), "extensions: {file_storage: {directory: /srv/queue}}\nexporters: {file/a: {path: /srv/out}, otlp: {path: /no}}\n")
	said, variables, storage, err := bring(t, processes)
	if err != nil {
		t.Fatal(err)
	}
	if want := "HEADGATE_LABELS=zone=a\x00HOST_OF_SERVER=old.example.com\x00REGION=eu\x00TEAM=a b\x00"; variables != want {
		t.Errorf("%q", variables)
	}
	for _, name := range []string{stateFile, receivedFile} {
		before, _ := os.ReadFile(filepath.Join(stored, name))
		if now, err := os.ReadFile(filepath.Join(storage, name)); err != nil || !bytes.Equal(before, now) {
			t.Errorf("%s: %q, %v", name, now, err)
		}
	}
	for _, line := range []string{
		"reports to wss://old.example.com/v1/opamp", "Stays: the instance " + id, "Stays: the configuration that was received last",
		"variables of the collector: HOST_OF_SERVER, REGION, TEAM", "as labels: zone=a", "attributes bad key, long, service.name",
		"/usr/bin/otelcol", "configuration: /etc/own.yaml\n", "--feature-gates=a", "write to /srv/out, /srv/queue;",
	} {
		if !strings.Contains(said, line) {
			t.Errorf("%q is not in %s", line, said)
		}
	}
	if strings.Contains(said, "secret") || strings.Contains(said, "TEAM=") {
		t.Errorf("it tells a secret: %s", said)
	}
}

func TestWithoutRemoteConfigurationTheHostStaysAndItsTextDoesNot(t *testing.T) {
	processes, _ := host(t, "opampsupervisor\x00-config\x00FILE\x00", "", "")
	said, _, storage, err := bring(t, processes)
	if err != nil || !strings.Contains(said, "Does not stay: what the collector runs") {
		t.Errorf("%s, %v", said, err)
	}
	for _, words := range []string{"the attributes", "these files", "the arguments", "server::tls", "the right to write"} {
		if strings.Contains(said, words) {
			t.Errorf("%s: there are none: %s", words, said)
		}
	}
	if _, err := os.Stat(filepath.Join(storage, receivedFile)); err == nil {
		t.Error("a configuration that the collector does not run was brought")
	}
}

func TestWhatIsNoOfficialSupervisorIsRefusedWithTheReason(t *testing.T) {
	for words, reason := range map[string]string{
		"opampsupervisor\x00":                      "names no file with --config",
		"opampsupervisor\x00--config=/nowhere\x00": "/nowhere",
	} {
		processes, _ := host(t, words, "", "")
		if _, _, _, err := bring(t, processes); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%v", err)
		}
	}
	processes, stored := host(t, "opampsupervisor\x00--config=FILE\x00", "", "")
	for content, reason := range map[string]string{"instance_id: mine": "has no instance", "[": stateFile} {
		write(t, filepath.Join(stored, stateFile), content)
		if _, _, _, err := bring(t, processes); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%v", err)
		}
	}
	// A link may lead to a file that only root reads.
	outside := filepath.Join(t.TempDir(), "outside")
	write(t, outside, "instance_id: "+id)
	if err := os.Remove(filepath.Join(stored, stateFile)); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(stored, stateFile)); err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := bring(t, processes); err == nil {
		t.Error("a link was followed")
	}
}

func TestATrialIsOverOnceACollectorRunsAndHeadgateHasAnsweredItsHealth(t *testing.T) {
	defer func(before time.Duration) { steady = before }(steady)
	steady = 20 * time.Millisecond
	storage := t.TempDir()
	trial := Of(storage)
	if trial.UnderWay() {
		t.Fatal("there is none")
	}
	if err := os.Mkdir(filepath.Join(storage, folder), 0o700); err != nil {
		t.Fatal(err)
	}
	well := &protobufs.AgentToServer{Health: &protobufs.ComponentHealth{Healthy: true}}
	trial.Answered(well)
	trial.Started()
	trial.Answered(&protobufs.AgentToServer{Health: &protobufs.ComponentHealth{LastError: "it is not there"}})
	trial.Answered(&protobufs.AgentToServer{})
	trial.Answered(well)
	trial.Exited()
	time.Sleep(3 * steady)
	if !trial.UnderWay() {
		t.Fatal("it ended before a collector ran")
	}
	trial.Started()
	trial.Answered(&protobufs.AgentToServer{Health: &protobufs.ComponentHealth{
		ComponentHealthMap: map[string]*protobufs.ComponentHealth{"pipeline:logs": {}},
	}})
	for end := time.Now().Add(10 * time.Second); trial.UnderWay() && time.Now().Before(end); time.Sleep(time.Millisecond) {
	}
	if trial.UnderWay() {
		t.Error("it goes on")
	}
}

func TestValuesOfArgumentsAndAddressesAreNotPrinted(t *testing.T) {
	processes, _ := host(t, "opampsupervisor\x00--config=FILE\x00", "HOST_OF_SERVER=me:s3cret@old\x00KEY=s3cret\x00", `
  args: ["--set=exporters::otlp::headers::key=${env:KEY}", --set, "a::b=${env:KEY}", --config, "yaml:a: ${env:KEY}", "--other=${env:KEY}",
    "x\e[2J${env:KEY}", --feature-gates, b]
  config_files: ["/etc/a\e[2J"]
`)
	said, _, _, err := bring(t, processes)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(said, "s3cret") || strings.Contains(said, "\x1b") {
		t.Errorf("%q", said)
	}
	if want := "--set=exporters::otlp::headers::key, --set, a::b, --config, --other, --feature-gates, b\n"; !strings.Contains(said, want) {
		t.Errorf("%s", said)
	}
}

func TestLabelsThatAreBroughtAreTakenByThisSupervisor(t *testing.T) {
	more := "\n  description:\n    non_identifying_attributes:\n      long: \"" + strings.Repeat("é", 200) + "\"\n      control: \"a\\x85b\"\n"
	for n := range 70 {
		more += fmt.Sprintf("      label-%02d: \"%s\"\n", n, strings.Repeat("<", n%9))
	}
	for n := range 20 {
		more += fmt.Sprintf("      wide-%02d: \"%s\"\n", n, strings.Repeat("w", 250))
	}
	processes, _ := host(t, "opampsupervisor\x00--config=FILE\x00", "", more)
	said, variables, _, err := bring(t, processes)
	if err != nil {
		t.Fatal(err)
	}
	brought, _, _ := strings.Cut(variables, "\x00")
	name, labels, _ := strings.Cut(brought, "=")
	t.Setenv(name, labels)
	t.Setenv("HEADGATE_NAME", strings.Repeat("n", 255))
	t.Setenv("HEADGATE_ENDPOINT", "https://localhost/v1/opamp")
	t.Setenv("HEADGATE_DEPLOYMENT_ID", "dep_1")
	t.Setenv("HEADGATE_FLEET_TOKEN", "ft_1")
	t.Setenv("HEADGATE_STORAGE", t.TempDir())
	t.Setenv("HEADGATE_COLLECTOR", "/bin/true")
	taken, err := settings.Read(nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(taken.Labels) < 40 || !strings.Contains(said, "attributes control, ") {
		t.Errorf("%d, %s", len(taken.Labels), said)
	}
}

func TestOfManyLabelsThoseStayThatOneReportHasRoomFor(t *testing.T) {
	for name, row := range map[string]struct {
		labels map[string]string
		stay   int
	}{
		"as many as there may be": {numbered(mostLabels, ""), mostLabels},
		"one too many":            {numbered(mostLabels+1, ""), mostLabels},
		"the longest value":       {map[string]string{"a": strings.Repeat("x", longestValue)}, 1},
		"a longer one":            {map[string]string{"a": strings.Repeat("x", longestValue+1)}, 0},
		// `"n01=…"` and what stands between two of them are 8 bytes more than the value.
		"the last byte": {numbered(largestLabels/(100+8), strings.Repeat("x", 100)), largestLabels / (100 + 8)},
		"more bytes":    {numbered(largestLabels/(100+8)+2, strings.Repeat("x", 100)), largestLabels / (100 + 8)},
	} {
		var said []string
		of := &official{}
		of.Agent.Description.NonIdentifying = row.labels
		brought := of.labels(func(format string, words ...any) { said = append(said, fmt.Sprintf(format, words...)) })
		if stay := strings.Count(brought, "="); stay != row.stay {
			t.Errorf("%s: %d stay", name, stay)
		}
		// Each of the two lines is there only if it names something.
		lines := min(row.stay, 1) + min(len(row.labels)-row.stay, 1)
		if len(said) != lines || strings.Contains(strings.Join(said, ""), ": \n") {
			t.Errorf("%s: %q", name, said)
		}
	}
}

func numbered(n int, value string) map[string]string {
	labels := map[string]string{}
	for i := range n {
		labels[fmt.Sprintf("n%02d", i)] = value
	}
	return labels
}

func TestATrialThatAnInstallerEndsIsNotWonAfterwards(t *testing.T) {
	defer func(before time.Duration) { steady = before }(steady)
	steady = 0
	storage := t.TempDir()
	path := filepath.Join(storage, folder)
	if err := os.MkdirAll(filepath.Join(path, "ended"), 0o700); err != nil {
		t.Fatal(err)
	}
	trial := Of(storage)
	trial.Started()
	trial.Answered(&protobufs.AgentToServer{Health: &protobufs.ComponentHealth{Healthy: true}})
	time.Sleep(20 * time.Millisecond)
	if !trial.UnderWay() {
		t.Error("a message would be signed although the official supervisor comes back")
	}
}

func TestATrialEndsWhoseInstallerIsGone(t *testing.T) {
	storage := t.TempDir()
	path := filepath.Join(storage, folder)
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	before := time.Now().Add(-longest)
	if err := os.Chtimes(path, before, before); err != nil {
		t.Fatal(err)
	}
	if Of(storage).UnderWay() {
		t.Error("it goes on")
	}
	// An installer that was only halted sees it.
	if _, err := os.Stat(path); err == nil {
		t.Error("the folder is there")
	}
}
