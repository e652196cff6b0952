// Command load runs many agents by the official client library of OpAMP, over plain HTTP or WebSocket, and measures at
// their connections what they sent and how long the answers took. With -serve it is the library's own server instead,
// which answers and stores nothing: the baseline. tests/benchmarks/bench_observed.py starts both.
package main

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/google/uuid"
	"github.com/open-telemetry/opamp-go/client"
	"github.com/open-telemetry/opamp-go/client/types"
	"github.com/open-telemetry/opamp-go/protobufs"
	"github.com/open-telemetry/opamp-go/server"
	servertypes "github.com/open-telemetry/opamp-go/server/types"
)

const (
	// configuration is what all agents report as effective; it has a secret for the service to find.
	configuration = `receivers: {otlp: {protocols: {grpc: {endpoint: "0.0.0.0:4317"}}}}
processors: {batch: {send_batch_size: 8192, timeout: 200ms}, memory_limiter: {check_interval: 1s, limit_mib: 512}}
exporters:
  otlphttp:
    endpoint: https://backend.example.com
    headers: {authorization: Bearer 0123456789abcdef0123456789abcdef}
    sending_queue: {enabled: true, num_consumers: 10, queue_size: 1000}
service:
  pipelines:
    logs: {receivers: [otlp], processors: [memory_limiter, batch], exporters: [otlphttp]}
    metrics: {receivers: [otlp], processors: [memory_limiter, batch], exporters: [otlphttp]}
`
	capabilities = protobufs.AgentCapabilities_AgentCapabilities_ReportsStatus |
		protobufs.AgentCapabilities_AgentCapabilities_ReportsHealth |
		protobufs.AgentCapabilities_AgentCapabilities_ReportsEffectiveConfig
)

// quiet drops what the library logs: each refusal is counted at the connection.
type quiet struct{}

func (quiet) Debugf(context.Context, string, ...any) {}
func (quiet) Errorf(context.Context, string, ...any) {}

func main() {
	url := flag.String("url", "", "the service, http://…/v1/opamp or ws://…/v1/opamp; the token is in HEADGATE_FLEET_TOKEN")
	agents := flag.Int("agents", 100, "how many agents")
	join := flag.Float64("join", 20, "agents that start in a second")
	seed := flag.String("seed", "", "agents of the same seed are the same instances")
	heeds := flag.Bool("heeds", true, "agents take the interval that the server tells")
	serve := flag.String("serve", "", "an address: be the server")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	var err error
	if *serve != "" {
		err = answer(ctx, *serve)
	} else {
		err = load(ctx, *url, *agents, *join, *seed, *heeds)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// answer serves until the end, as the library's own example does it, without keeping anything.
func answer(ctx context.Context, address string) error {
	callbacks := servertypes.ConnectionCallbacks{}
	callbacks.SetDefaults()
	accept := func(*http.Request) servertypes.ConnectionResponse {
		return servertypes.ConnectionResponse{Accept: true, ConnectionCallbacks: callbacks}
	}
	running := server.New(quiet{})
	err := running.Start(server.StartSettings{
		Settings:       server.Settings{Callbacks: servertypes.Callbacks{OnConnecting: accept}},
		ListenEndpoint: address,
	})
	if err != nil {
		return fmt.Errorf("listen at %s: %w", address, err)
	}
	<-ctx.Done()
	return running.Stop(context.Background())
}

// load starts the agents one after the other. For each line of its input it prints what happened since the line before,
// and ends with its input.
func load(ctx context.Context, url string, agents int, join float64, seed string, heeds bool) error {
	seen := &figures{outcomes: map[string]int{}}
	observe(seen)
	lines := make(chan struct{})
	go func() {
		for scanner := bufio.NewScanner(os.Stdin); scanner.Scan(); {
			lines <- struct{}{}
		}
		close(lines)
	}()
	output := json.NewEncoder(os.Stdout)
	due := time.NewTicker(time.Duration(float64(time.Second) / join))
	defer due.Stop()
	for started := 0; ; {
		starts := due.C
		if started == agents {
			starts = nil
		}
		select {
		case <-starts:
			if err := start(ctx, url, started, seed, heeds); err != nil {
				return err
			}
			started++
		case _, more := <-lines:
			if !more {
				return nil
			}
			if err := output.Encode(seen.since(started)); err != nil {
				return fmt.Errorf("print the figures: %w", err)
			}
		case <-ctx.Done():
			return nil
		}
	}
}

// start runs an agent that reports what a collector's extension does.
func start(ctx context.Context, url string, n int, seed string, heeds bool) error {
	uid, err := uid(seed, n)
	if err != nil {
		return err
	}
	var agent client.OpAMPClient = client.NewHTTP(quiet{})
	if strings.HasPrefix(url, "ws") {
		agent = client.NewWebSocket(quiet{})
	}
	can := capabilities
	if heeds {
		can |= protobufs.AgentCapabilities_AgentCapabilities_ReportsHeartbeat
	}
	if err := agent.SetHealth(health()); err != nil {
		return fmt.Errorf("set the health: %w", err)
	}
	if err := agent.SetCapabilities(&can); err != nil {
		return fmt.Errorf("set capabilities: %w", err)
	}
	if err := agent.SetAgentDescription(&protobufs.AgentDescription{
		IdentifyingAttributes: attributes(
			"service.name", "otelcol-contrib", "service.version", "0.139.0", "service.instance.id", uid.String(),
		),
		NonIdentifyingAttributes: attributes("host.name", fmt.Sprintf("edge-%d", n), "os.type", "linux", "host.arch", "amd64"),
	}); err != nil {
		return fmt.Errorf("set the description: %w", err)
	}
	files := map[string]*protobufs.AgentConfigFile{"": {Body: []byte(configuration), ContentType: "text/yaml"}}
	err = agent.Start(ctx, types.StartSettings{
		OpAMPServerURL: url,
		Header:         http.Header{"Authorization": {"Bearer " + os.Getenv("HEADGATE_FLEET_TOKEN")}},
		InstanceUid:    types.InstanceUid(uid),
		Callbacks: types.Callbacks{
			GetEffectiveConfig: func(context.Context) (*protobufs.EffectiveConfig, error) {
				return &protobufs.EffectiveConfig{ConfigMap: &protobufs.AgentConfigMap{ConfigMap: files}}, nil
			},
		},
	})
	if err != nil {
		return fmt.Errorf("start agent %d: %w", n, err)
	}
	return nil
}

// uid is the id of the n-th agent of a seed: a UUID of version 7 with the present time, as collectors make it, whose
// other bits are the seed's.
func uid(seed string, n int) (uuid.UUID, error) {
	if seed == "" {
		made, err := uuid.NewV7()
		if err != nil {
			return uuid.UUID{}, fmt.Errorf("make an id: %w", err)
		}
		return made, nil
	}
	sum := sha256.Sum256(binary.BigEndian.AppendUint64([]byte(seed), uint64(n)))
	made := uuid.UUID(sum[:16])
	made[6], made[8] = made[6]&0x0f|0x70, made[8]&0x3f|0x80
	return made, nil
}

func attributes(pairs ...string) []*protobufs.KeyValue {
	list := make([]*protobufs.KeyValue, 0, len(pairs)/2)
	for at := 0; at < len(pairs); at += 2 {
		value := &protobufs.AnyValue{Value: &protobufs.AnyValue_StringValue{StringValue: pairs[at+1]}}
		list = append(list, &protobufs.KeyValue{Key: pairs[at], Value: value})
	}
	return list
}

// health is the tree of a collector with two pipelines.
func health() *protobufs.ComponentHealth {
	began := uint64(time.Now().UnixNano())
	well := func(parts map[string]*protobufs.ComponentHealth) *protobufs.ComponentHealth {
		return &protobufs.ComponentHealth{
			Healthy: true, Status: "StatusOK", StartTimeUnixNano: began, StatusTimeUnixNano: began, ComponentHealthMap: parts,
		}
	}
	pipeline := func() *protobufs.ComponentHealth {
		parts := map[string]*protobufs.ComponentHealth{}
		for _, name := range []string{"receiver:otlp", "processor:memory_limiter", "processor:batch", "exporter:otlphttp"} {
			parts[name] = well(nil)
		}
		return well(parts)
	}
	return well(map[string]*protobufs.ComponentHealth{"pipeline:logs": pipeline(), "pipeline:metrics": pipeline()})
}
