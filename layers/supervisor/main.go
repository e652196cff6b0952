// Program headgate-supervisor runs a collector under the official OpAMP supervisor. Environment variables configure it;
// internal/settings lists them.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/headgate/headgate/layers/supervisor/internal/capture"
	"github.com/headgate/headgate/layers/supervisor/internal/files"
	"github.com/headgate/headgate/layers/supervisor/internal/guard"
	"github.com/headgate/headgate/layers/supervisor/internal/host"
	"github.com/headgate/headgate/layers/supervisor/internal/identity"
	"github.com/headgate/headgate/layers/supervisor/internal/launch"
	"github.com/headgate/headgate/layers/supervisor/internal/official"
	"github.com/headgate/headgate/layers/supervisor/internal/output"
	"github.com/headgate/headgate/layers/supervisor/internal/relay"
	"github.com/headgate/headgate/layers/supervisor/internal/settings"
	"github.com/headgate/headgate/layers/supervisor/internal/takeover"
	"github.com/headgate/headgate/layers/supervisor/internal/upgrade"
	"github.com/headgate/headgate/layers/supervisor/internal/variables"
	"github.com/open-telemetry/opentelemetry-collector-contrib/cmd/opampsupervisor/supervisor"
	"github.com/open-telemetry/opentelemetry-collector-contrib/cmd/opampsupervisor/supervisor/config"
	"github.com/open-telemetry/opentelemetry-collector-contrib/cmd/opampsupervisor/supervisor/telemetry"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// Set by the build: the official supervisor's version, and the beginning of a hash of this program's sources.
var version = "development"

// The file to which the supervisor writes the collector's output.
const outputName = "agent.log"

// The file from which the supervisor starts the collector.
const effectiveName = "effective.yaml"

// A collector that starts from a part of its configuration may run without what is missing.
var errNotWritten = errors.New(effectiveName + " could not be written whole, so no collector starts from it: make room on the disk")

// When the service is told that this host stops, although its collector has not ended yet: Docker kills a container ten
// seconds after it was asked to stop.
const latestGoodbye = 6 * time.Second

// How long a cancelled start may take to end the processes that it started.
const startGrace = 2 * time.Second

func main() {
	log.SetFlags(0)
	log.SetPrefix("headgate-supervisor: ")
	// The supervisor starts this program instead of the collector.
	if collector, ok := guard.Collector(); ok {
		log.Fatal(guard.Start(collector, os.Args))
	}
	if len(os.Args) == 2 && os.Args[1] == "version" {
		fmt.Println(version)
		return
	}
	if is, err := installCommand(os.Args[1:]); is {
		if err != nil {
			log.Fatal(err)
		}
		return
	}
	closeLog := func() {}
	if path := settings.LogFile(os.Args[1:]); path != "" {
		var err error
		if closeLog, err = output.LogTo(path); err != nil {
			log.Fatalf("open the log: %v", err)
		}
	}
	os.Exit(managed(func(stop context.Context) int {
		// On Windows a service that fails ends its process in managed.
		defer closeLog()
		return supervising(stop)
	}))
}

// untilASignal runs the work until this process is asked to end.
func untilASignal(work func(stop context.Context) int) int {
	stop, end := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer end()
	return work(stop)
}

// supervising supervises until it is stopped, and returns the exit code.
func supervising(stop context.Context) int {
	launched, environment := launch.Launched(), os.Environ()
	ours, err := settings.Read(os.Args[1:])
	if err != nil {
		log.Print(err)
		return 1
	}
	if err := os.MkdirAll(ours.Storage, 0o700); err != nil {
		log.Printf("make the storage folder: %v", err)
		return 1
	}
	self, err := os.Executable()
	if err != nil {
		log.Printf("find this program: %v", err)
		return 1
	}
	launcher := &launch.Launcher{Storage: ours.Storage, Installed: self, Arguments: os.Args[1:], Environment: environment}
	if !launched && ours.Upgrades() && launcher.Needed() {
		return started(launcher)
	}
	err = run(stop, ours, self)
	switch {
	case err == nil:
		return 0
	case !errors.Is(err, launch.ErrRestart):
		log.Print(err)
		return 1
	case launched:
		return launch.Restart
	default:
		return started(launcher)
	}
}

// started runs a supervisor that was fetched, as a child of this process.
func started(launcher *launch.Launcher) int {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	return launcher.Run(signals)
}

// run supervises until the context's end, and then stops the collector before it returns; `self` is this
// program. It returns launch.ErrRestart if another supervisor is to run.
func run(stop context.Context, ours *settings.Settings, self string) error {
	unlock, err := files.Lock(ours.Storage)
	if err != nil {
		return err
	}
	defer unlock()

	signals, end := context.WithCancelCause(stop)
	defer end(nil)

	lines, err := output.Open(filepath.Join(ours.Storage, outputName), os.Stderr)
	if err != nil {
		return fmt.Errorf("read the collector's output: %w", err)
	}
	defer lines.Close()
	upgrades, interrupted, err := openUpgrades(signals, ours)
	if err != nil {
		return err
	}
	// Before the supervisor starts its collector, so that there is memory for one at a time.
	components, err := host.Components(signals, upgrades.Program())
	if err != nil {
		log.Printf("the collector does not list its components, so Headgate cannot tell what it lacks: %v", err)
	}
	// A copy of another host gets a key of its own here.
	instance, err := identity.Prepare(ours.Storage, identity.MachineID())
	if err != nil {
		return err
	}
	token := identity.ReadToken(ours.Storage, ours.DeploymentID, ours.Token())
	key, err := identity.SigningKey(ours.Storage)
	if err != nil {
		log.Printf("messages are not signed: %v", err)
	}
	trial := takeover.Of(ours.Storage)
	replacing := &replacing{ours: ours, installed: self, end: end, trial: trial}
	known := host.New(host.Settings{
		Version: version, Name: ours.Name, Labels: ours.Labels, Components: components, List: host.Components,
		Storage: ours.Storage, Effective: filepath.Join(ours.Storage, effectiveName), Can: capture.Ability,
		Platform: ours.Platform, Upgrades: upgrades, ReplaceSelf: replacing.start, RenewToken: renewing(ours, token, key),
		Variables: variablesOf(ours, key),
	})
	if err := known.Undo(interrupted); err != nil {
		return fmt.Errorf("go back to the configuration before: %w", err)
	}
	captures := capture.New(known, capture.Settings{Storage: ours.Storage, Capability: host.Capability})
	replacing.Host, replacing.known = captures, known
	replacing.tellFailure()
	// The official supervisor overwrites an offer that arrives before it has written its initial file, starts the collector
	// without it and reports it as applied.
	ready, begun := context.WithCancel(context.Background())
	defer begun()
	messages, err := relay.Start(server(ours, token, key, trial, ready.Done()), lines.Cause, replacing)
	if err != nil {
		return fmt.Errorf("listen for the supervisor: %w", err)
	}
	defer messages.Close()

	cfg := ours.Supervisor(self, messages.URL())
	cfg.Agent.InstanceID = instance.ID
	watching, endWatch := context.WithCancel(context.Background())
	defer endWatch()
	go known.Watch(watching)
	events := official.Events{
		Exited: func() { trial.Exited(); captures.Exited() }, Initial: func() { known.Started(); begun() }, Written: known.Written,
		Started: func() { trial.Started(); known.CollectorStarted() }, Line: lines.Line,
		// The service manager starts this program again until there is room.
		NotWritten: func() { _ = os.Remove(filepath.Join(ours.Storage, effectiveName)); end(errNotWritten) },
	}
	goodbye := func() { messages.Goodbye(host.Uninstalled(ours.Storage)) }
	if err := supervise(signals, cfg, instance, events, ours.StopTimeout, goodbye); err != nil {
		return err
	}
	if cause := context.Cause(signals); errors.Is(cause, launch.ErrRestart) || errors.Is(cause, errNotWritten) {
		return cause
	}
	return nil
}

// server is Headgate, with this host's key. Without one, Headgate serves a host that never had one.
func server(
	ours *settings.Settings, token *identity.Token, key *identity.Key, trial *takeover.Trial, ready <-chan struct{},
) relay.Server {
	headgate := relay.Server{Endpoint: ours.Endpoint, Credentials: token, Ready: ready}
	if key != nil {
		headgate.Signer = signing{key, trial}
	}
	return headgate
}

// signing signs with the key, once the official supervisor does not come back.
type signing struct {
	*identity.Key
	trial *takeover.Trial
}

func (s signing) Sign(context string, body []byte) string {
	if s.trial.UnderWay() {
		return ""
	}
	return s.Key.Sign(context, body)
}

// renewing takes a renewed token; nil for a host that takes none.
func renewing(ours *settings.Settings, token *identity.Token, key *identity.Key) func(sealed []byte) error {
	if key == nil || !ours.Renews() {
		return nil
	}
	return func(sealed []byte) error { return token.Renew(key, sealed) }
}

// variablesOf keeps the variables that are sealed for this host's key. A host without one takes none, nor one that cannot
// tell which ones its collector has: no rollout of them would succeed.
func variablesOf(ours *settings.Settings, key *identity.Key) variables.Store {
	if key == nil || !upgrade.TellsEnvironments("/proc") {
		return variables.Store{Storage: ours.Storage}
	}
	return variables.Store{Storage: ours.Storage, Open: key.Open}
}

// openUpgrades reads which collector is to run. It also returns the hash of a configuration whose collector does not.
func openUpgrades(signals context.Context, ours *settings.Settings) (*upgrade.Upgrades, []byte, error) {
	installed := ""
	if ours.Upgrades() {
		var err error
		if installed, err = upgrade.Version(signals, ours.Collector()); err != nil {
			log.Printf("the installed collector does not tell its version: %v", err)
		}
	}
	return upgrade.Open(upgrade.Settings{
		Able: ours.Upgrades(), Endpoint: ours.Endpoint, Storage: ours.Storage,
		Installed: ours.Collector(), InstalledVersion: installed,
		Try: upgrade.Try(ours.Storage, guard.Environment),
	})
}

// supervise runs the official supervisor until a signal. It calls the events as they occur, and goodbye at the end; a
// collector has `stopWithin` to stop before another configuration is applied.
func supervise(
	signals context.Context, cfg config.Supervisor, instance *identity.Identity, events official.Events,
	stopWithin time.Duration, goodbye func(),
) error {
	logger, err := telemetry.NewLogger(cfg.Telemetry.Logs)
	if err != nil {
		return fmt.Errorf("make the logger: %w", err)
	}
	logger = logger.Named("supervisor").WithOptions(zap.WrapCore(func(core zapcore.Core) zapcore.Core { return official.Listen(core, events, stopWithin) }))
	// Not the signals' context: a clean shutdown needs this one alive. Its end stops what a failed start leaves running.
	running, end := context.WithCancel(context.Background())
	defer end()
	supervised, err := supervisor.NewSupervisor(running, logger, cfg)
	if err != nil {
		return fmt.Errorf("make the supervisor: %w", err)
	}

	started := make(chan error, 1)
	go func() { started <- supervised.Start(running) }()
	select {
	case err := <-started:
		if err != nil {
			return fmt.Errorf("start the supervisor: %w", err)
		}
	case <-signals.Done():
		// The start runs the collector twice to learn about it and waits for its answers. These runs end now.
		end()
		select {
		case <-started:
		case <-time.After(startGrace):
		}
		goodbye()
		return nil
	}
	if err := instance.Save(); err != nil {
		// The supervisor runs without it; the next start tries again.
		log.Printf("the instance's id could not be saved: %v", err)
	}
	<-signals.Done()
	stopped := make(chan struct{})
	go func() {
		supervised.Shutdown()
		close(stopped)
	}()
	select {
	case <-stopped:
	case <-time.After(latestGoodbye):
	}
	goodbye()
	<-stopped
	return nil
}
