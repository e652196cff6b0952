// Program headgate-supervisor runs a collector under the official OpAMP supervisor. Environment variables configure it;
// internal/settings lists them.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/headgate/headgate/layers/supervisor/internal/guard"
	"github.com/headgate/headgate/layers/supervisor/internal/host"
	"github.com/headgate/headgate/layers/supervisor/internal/identity"
	"github.com/headgate/headgate/layers/supervisor/internal/output"
	"github.com/headgate/headgate/layers/supervisor/internal/relay"
	"github.com/headgate/headgate/layers/supervisor/internal/settings"
	"github.com/open-telemetry/opentelemetry-collector-contrib/cmd/opampsupervisor/supervisor"
	"github.com/open-telemetry/opentelemetry-collector-contrib/cmd/opampsupervisor/supervisor/config"
	"github.com/open-telemetry/opentelemetry-collector-contrib/cmd/opampsupervisor/supervisor/telemetry"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// Set by the build.
var version = "development"

// The file to which the supervisor writes the collector's output.
const outputName = "agent.log"

// The file from which the supervisor starts the collector.
const effectiveName = "effective.yaml"

// The file with the machine's id, if systemd or D-Bus is installed.
const machineID = "/etc/machine-id"

// How long a cancelled start may take to end the processes that it started.
const startGrace = 2 * time.Second

func main() {
	log.SetFlags(0)
	log.SetPrefix("headgate-supervisor: ")
	// The supervisor starts this program instead of the collector.
	if collector, ok := guard.Collector(); ok {
		log.Fatal(guard.Exec(collector, os.Args))
	}
	if len(os.Args) == 2 && os.Args[1] == "version" {
		fmt.Println(version)
		return
	}
	if err := run(os.Args[1:]); err != nil {
		log.Fatal(err)
	}
}

// run supervises until a signal, and then stops the collector before it returns.
func run(arguments []string) error {
	ours, err := settings.Read(arguments)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(ours.Storage, 0o700); err != nil {
		return fmt.Errorf("make the storage folder: %w", err)
	}
	unlock, err := lock(ours.Storage)
	if err != nil {
		return err
	}
	defer unlock()

	signals, stopListening := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stopListening()

	lines, err := output.Open(filepath.Join(ours.Storage, outputName), os.Stderr)
	if err != nil {
		return fmt.Errorf("read the collector's output: %w", err)
	}
	defer lines.Close()
	known := host.New(host.Settings{
		Version: version, Name: ours.Name, Labels: ours.Labels,
		Storage: ours.Storage, Effective: filepath.Join(ours.Storage, effectiveName),
	})
	messages, err := relay.Start(ours.Endpoint, ours.Headers(), lines.Cause, known)
	if err != nil {
		return fmt.Errorf("listen for the supervisor: %w", err)
	}
	defer messages.Close()

	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	instance, err := identity.Prepare(ours.Storage, machineID)
	if err != nil {
		return err
	}
	cfg := ours.Supervisor(self, messages.URL())
	cfg.Agent.InstanceID = instance.ID
	if err := supervise(signals, cfg, instance, known.Exited); err != nil {
		return err
	}
	messages.Goodbye()
	return nil
}

func supervise(signals context.Context, cfg config.Supervisor, instance *identity.Identity, exited func()) error {
	logger, err := telemetry.NewLogger(cfg.Telemetry.Logs)
	if err != nil {
		return fmt.Errorf("make the logger: %w", err)
	}
	logger = logger.Named("supervisor").WithOptions(zap.WrapCore(func(core zapcore.Core) zapcore.Core { return &listening{core, exited} }))
	// Not the signals' context: a clean shutdown needs this one alive. Its end stops what a failed start leaves running.
	running, end := context.WithCancel(context.Background())
	defer end()
	official, err := supervisor.NewSupervisor(running, logger, cfg)
	if err != nil {
		return fmt.Errorf("make the supervisor: %w", err)
	}

	started := make(chan error, 1)
	go func() { started <- official.Start(running) }()
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
		return nil
	}
	if err := instance.Save(); err != nil {
		// The supervisor runs without it; the next start tries again.
		log.Printf("the instance's id could not be saved: %v", err)
	}
	<-signals.Done()
	official.Shutdown()
	return nil
}

// exitedMessage is what the supervisor logs, at the level debug, when the collector ended by itself.
const exitedMessage = "Agent process exited unexpectedly. Will restart in a bit..."

// listening notices the end of the collector, which the supervisor tells its log only, and drops the line that the
// supervisor logs after every message.
type listening struct {
	zapcore.Core
	exited func()
}

func (l *listening) With(fields []zapcore.Field) zapcore.Core {
	return &listening{l.Core.With(fields), l.exited}
}

// Enabled is true for all levels, so that Check sees every line.
func (l *listening) Enabled(zapcore.Level) bool { return true }

func (l *listening) Check(entry zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if entry.Message == exitedMessage {
		l.exited()
	}
	if entry.Message == "Connected to the server." || !l.Core.Enabled(entry.Level) {
		return checked
	}
	return l.Core.Check(entry, checked)
}

// lock prevents a second supervisor with the same storage, which would use the first one's identity.
func lock(folder string) (func(), error) {
	file, err := os.OpenFile(filepath.Join(folder, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock the storage folder: %w", err)
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		holder, _ := io.ReadAll(file)
		_ = file.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("%s is in use by another supervisor, process %s", folder, holder)
		}
		return nil, fmt.Errorf("lock the storage folder: %w", err)
	}
	_ = file.Truncate(0)
	_, _ = fmt.Fprintf(file, "%d", os.Getpid())
	return func() { _ = file.Close() }, nil
}
