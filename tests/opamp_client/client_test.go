// Package opampclient holds the fleet service to the official client library of OpAMP: what that sends is understood,
// and what it is sent it understands. tests/end_to_end/test_opamp_client.py starts the service and this.
package opampclient

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/open-telemetry/opamp-go/client"
	"github.com/open-telemetry/opamp-go/client/types"
	"github.com/open-telemetry/opamp-go/protobufs"
)

const patience = 30 * time.Second

// service is a running Headgate, by its public API.
type service struct {
	t              *testing.T
	base, apiToken string
}

func running(t *testing.T) service {
	t.Helper()
	base, token := os.Getenv("HEADGATE_URL"), os.Getenv("SERVICE_API_TOKEN")
	if base == "" || token == "" {
		t.Fatal("HEADGATE_URL and SERVICE_API_TOKEN have to name a running service")
	}
	return service{t, base, token}
}

func (s service) call(method, path string, body, answer any) {
	s.t.Helper()
	content, err := json.Marshal(body)
	if err != nil {
		s.t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(s.t.Context(), method, s.base+"/api/v1/public"+path, bytes.NewReader(content))
	if err != nil {
		s.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+s.apiToken)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		s.t.Fatal(err)
	}
	defer response.Body.Close()
	content, err = io.ReadAll(response.Body)
	if err != nil || response.StatusCode >= 300 {
		s.t.Fatalf("%s %s: %d %s %v", method, path, response.StatusCode, content, err)
	}
	if err := json.Unmarshal(content, answer); err != nil {
		s.t.Fatal(err)
	}
}

// fleet is a fleet with one group and one configuration.
type fleet struct {
	service
	id, group, configuration, endpoint, token string
}

func (s service) fleet(label string) fleet {
	s.t.Helper()
	var made, configuration struct{ ID string }
	var install struct {
		Connection struct {
			Endpoint, Token string
			DeploymentID    string `json:"deployment_id"`
		}
	}
	s.call("POST", "/fleets", map[string]any{"label": label, "type": "server-supervisor"}, &made)
	s.call("POST", "/fleets/"+made.ID+"/install", map[string]any{"platform": "linux"}, &install)
	s.call("POST", "/configurations", map[string]any{"name": label, "yaml": version(1)}, &configuration)
	found := install.Connection
	return fleet{s, made.ID, found.DeploymentID, configuration.ID, found.Endpoint, found.Token}
}

// version is a text with a pipeline.
func version(n int) string {
	return fmt.Sprintf("# version %d\nservice: {pipelines: {logs: {receivers: [nop], exporters: [nop]}}}\n", n)
}

func (f fleet) publish(n int) {
	f.t.Helper()
	var ignored any
	if n > 1 {
		f.call("POST", "/configurations/"+f.configuration+"/versions", map[string]any{"yaml": version(n)}, &ignored)
	}
	f.call("POST", fmt.Sprintf("/configurations/%s/versions/%d/publish", f.configuration, n), nil, &ignored)
}

func (f fleet) assign(fields map[string]any) {
	f.t.Helper()
	var ignored any
	f.call("PATCH", "/fleets/"+f.id+"/deployments/"+f.group, fields, &ignored)
}

type assigned struct {
	VersionNumber *int `json:"version_number"`
}

type instance struct {
	ID, State        string
	HostName         string `json:"host_name"`
	OS, Arch         string
	CollectorVersion string `json:"collector_version"`
	StateMessage     string `json:"state_message"`
	Running          assigned
}

// becomes waits until the one instance is as it should be.
func (f fleet) becomes(state string, version int) instance {
	f.t.Helper()
	var found struct{ Items []instance }
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		f.call("GET", "/fleets/"+f.id+"/instances", nil, &found)
		if len(found.Items) == 1 && found.Items[0].State == state {
			runs := 0
			if n := found.Items[0].Running.VersionNumber; n != nil {
				runs = *n
			}
			if runs == version {
				return found.Items[0]
			}
		}
	}
	f.t.Fatalf("no one instance is %s and runs version %d: %+v", state, version, found.Items)
	return instance{}
}

// agent is the official client with the least of an agent behind it.
type agent struct {
	client.OpAMPClient
	configs chan *protobufs.AgentRemoteConfig
	uids    chan []byte
	failed  chan error
}

func (f fleet) agent(uid types.InstanceUid, token string) agent {
	f.t.Helper()
	made := agent{
		client.NewHTTP(quiet{}),
		make(chan *protobufs.AgentRemoteConfig, 10),
		make(chan []byte, 10),
		make(chan error, 100),
	}
	must(f.t, made.SetAgentDescription(&protobufs.AgentDescription{
		IdentifyingAttributes:    []*protobufs.KeyValue{text("service.version", "0.139.0")},
		NonIdentifyingAttributes: []*protobufs.KeyValue{text("host.name", "edge"), text("os.type", "linux"), text("host.arch", "amd64")},
	}))
	must(f.t, made.SetHealth(&protobufs.ComponentHealth{Healthy: true}))
	capabilities := protobufs.AgentCapabilities_AgentCapabilities_ReportsStatus |
		protobufs.AgentCapabilities_AgentCapabilities_AcceptsRemoteConfig |
		protobufs.AgentCapabilities_AgentCapabilities_ReportsRemoteConfig |
		protobufs.AgentCapabilities_AgentCapabilities_ReportsEffectiveConfig |
		protobufs.AgentCapabilities_AgentCapabilities_ReportsHealth |
		protobufs.AgentCapabilities_AgentCapabilities_ReportsHeartbeat
	must(f.t, made.SetCapabilities(&capabilities))
	// The service has to tell an interval that a test can wait for.
	silence := time.Hour
	must(f.t, made.Start(context.Background(), types.StartSettings{
		OpAMPServerURL:    f.endpoint,
		InstanceUid:       uid,
		HeartbeatInterval: &silence,
		Header:            http.Header{"Authorization": {"Bearer " + token}, "X-Deployment-Id": {f.group}},
		Callbacks: types.Callbacks{
			OnMessage: func(_ context.Context, message *types.MessageData) {
				if message.RemoteConfig != nil {
					made.configs <- message.RemoteConfig
				}
				if message.AgentIdentification != nil {
					made.uids <- message.AgentIdentification.NewInstanceUid
				}
			},
			OnConnectFailed: func(_ context.Context, err error) { made.failed <- err },
			GetEffectiveConfig: func(context.Context) (*protobufs.EffectiveConfig, error) {
				return &protobufs.EffectiveConfig{}, nil
			},
		},
	}))
	f.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := made.Stop(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
			f.t.Error(err)
		}
	})
	return made
}

// offered waits for a config and gives it with its text.
func (a agent) offered(t *testing.T) (*protobufs.AgentRemoteConfig, string) {
	t.Helper()
	select {
	case config := <-a.configs:
		files := config.GetConfig().GetConfigMap()
		if len(files) == 0 {
			return config, ""
		}
		return config, string(files[""].GetBody())
	case <-time.After(patience):
		t.Fatal("no config was offered")
		return nil, ""
	}
}

func (a agent) says(t *testing.T, config *protobufs.AgentRemoteConfig, status protobufs.RemoteConfigStatuses, message string) {
	t.Helper()
	must(t, a.SetRemoteConfigStatus(&protobufs.RemoteConfigStatus{
		LastRemoteConfigHash: config.GetConfigHash(), Status: status, ErrorMessage: message,
	}))
}

const (
	applying = protobufs.RemoteConfigStatuses_RemoteConfigStatuses_APPLYING
	applied  = protobufs.RemoteConfigStatuses_RemoteConfigStatuses_APPLIED
	failed   = protobufs.RemoteConfigStatuses_RemoteConfigStatuses_FAILED
	// What the official supervisor puts before a collector's words. Of others the service says that the reason is unclear.
	refused = "configuration validation failed: config validation failed: exit status 1, output: Error: "
)

func TestARolloutAFailureAndClearing(t *testing.T) {
	f := running(t).fleet("Official client")
	f.publish(1)
	f.publish(2)
	f.assign(map[string]any{"configuration_id": f.configuration, "version_number": 1})
	a := f.agent(types.InstanceUid(uuid.Must(uuid.NewV7())), f.token)

	config, text := a.offered(t)
	equal(t, text, version(1))
	a.says(t, config, applying, "")
	f.becomes("applying", 0)
	a.says(t, config, applied, "")
	seen := f.becomes("applied", 1)
	equal(t, []string{seen.HostName, seen.OS, seen.Arch, seen.CollectorVersion}, []string{"edge", "linux", "amd64", "0.139.0"})

	// Its own interval is an hour: it hears of this only because it was told another one.
	f.assign(map[string]any{"version_number": 2})
	config, text = a.offered(t)
	equal(t, text, version(2))
	a.says(t, config, applying, "")
	a.says(t, config, failed, refused+"bind: address already in use")
	config, text = a.offered(t)
	equal(t, text, version(1))
	a.says(t, config, applied, "")
	equal(t, f.becomes("apply_failed", 1).StateMessage, "bind: address already in use")

	f.assign(map[string]any{"configuration_id": nil})
	config, text = a.offered(t)
	equal(t, text, "")
	a.says(t, config, applied, "")
	f.becomes("idle", 0)
}

func TestAUidThatIsInUseTwiceIsReplaced(t *testing.T) {
	f := running(t).fleet("Two of one uid")
	f.publish(1)
	f.assign(map[string]any{"configuration_id": f.configuration, "version_number": 1})
	uid := types.InstanceUid(uuid.Must(uuid.NewV7()))
	first := f.agent(uid, f.token)
	// Nobody says what became of it, so a rollout is under way, in which the service looks at the number of every message.
	first.offered(t)
	speaks := func(a agent) {
		must(t, a.SetHealth(&protobufs.ComponentHealth{Healthy: true, StatusTimeUnixNano: uint64(time.Now().UnixNano())}))
	}
	// Ahead of the second, as a host is that was copied while it ran.
	for range 10 {
		speaks(first)
		time.Sleep(50 * time.Millisecond)
	}
	second := f.agent(uid, f.token)
	for end := time.After(patience); ; {
		select {
		case replaced := <-first.uids:
			equal(t, len(replaced), 16)
			return
		case replaced := <-second.uids:
			equal(t, len(replaced), 16)
			return
		case <-first.configs:
		case <-second.configs:
		case <-time.After(100 * time.Millisecond):
			speaks(first)
			speaks(second)
		case <-end:
			t.Fatal("nobody was given a uid of its own")
		}
	}
}

func TestAWrongTokenIsNotTriedAgainAndAgain(t *testing.T) {
	f := running(t).fleet("Wrong token")
	a := f.agent(types.InstanceUid(uuid.Must(uuid.NewV7())), "ft_"+strings.Repeat("A", 43))
	select {
	case err := <-a.failed:
		t.Fatalf("the client takes the refusal for a passing fault: %v", err)
	case config := <-a.configs:
		t.Fatalf("it was offered %v", config)
	case <-time.After(3 * time.Second):
	}
}

type quiet struct{}

func (quiet) Debugf(context.Context, string, ...any) {}
func (quiet) Errorf(context.Context, string, ...any) {}

func text(key, value string) *protobufs.KeyValue {
	return &protobufs.KeyValue{Key: key, Value: &protobufs.AnyValue{Value: &protobufs.AnyValue_StringValue{StringValue: value}}}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func equal[T any](t *testing.T, got, want T) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("got %v, want %v", got, want)
	}
}
