package official

import (
	"bytes"
	"context"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/open-telemetry/opentelemetry-collector-contrib/cmd/opampsupervisor/supervisor/commander"
	"github.com/open-telemetry/opentelemetry-collector-contrib/cmd/opampsupervisor/supervisor/config"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"
)

const module = "github.com/open-telemetry/opentelemetry-collector-contrib/cmd/opampsupervisor/supervisor"

// stopWithin is how long a collector of these tests may take to stop.
const stopWithin = 300 * time.Millisecond

// heard counts the events.
type heard struct{ exited, initial, written, notWritten, started int }

func (h *heard) logger() (*zap.Logger, *observer.ObservedLogs) {
	core, logs := observer.New(zapcore.InfoLevel)
	return zap.New(Listen(core, Events{
		Exited:  func() { h.exited++ },
		Initial: func() { h.initial++ },
		Written: func() { h.written++ },
		Started: func() { h.started++ },

		NotWritten: func() { h.notWritten++ },
	}, stopWithin)), logs
}

// The service knows by these words why a configuration failed (shared/headgate/opamp/reasons.py). Of other words it
// would say that the reason is not clear.
func TestTheServiceKnowsTheReasonsThatTheSupervisorGives(t *testing.T) {
	source := sources(t)
	for _, reason := range []string{
		"Agent exited unexpectedly with exit code %d while applying configuration",
		"Config apply timeout exceeded",
		"cannot start the agent: %w",
		"config validation failed: %w, output: %s",
		"failed to create temp config file for validation: %w",
		"failed to write temp config file for validation: %w",
		"failed to close temp config file: %w",
	} {
		if !strings.Contains(source, strconv.Quote(reason)) {
			t.Errorf("the supervisor does not say %q", reason)
		}
	}
	if given := strings.Count(source, "RemoteConfigStatuses_FAILED,"); given != 7 {
		t.Errorf("the supervisor says in %d places why a configuration failed: look whether the service knows all of them", given)
	}
}

func sources(t *testing.T) string {
	t.Helper()
	var source strings.Builder
	for _, name := range []string{module, module + "/commander"} {
		folder, err := exec.Command("go", "list", "-f", "{{.Dir}}", name).Output()
		if err != nil {
			t.Fatal(err)
		}
		files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(folder)), "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatal("no sources", err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			source.Write(text)
		}
	}
	return source.String()
}

// A line of another wording would be missed in silence.
func TestEachLineIsOneThatTheSupervisorLogs(t *testing.T) {
	source := sources(t)
	for _, line := range []string{
		exited, initial, written, notWritten, notWrittenLater, started, applying, restarting, stopping, starting, restarted, connected,
	} {
		if !strings.Contains(source, "("+strconv.Quote(line)) {
			t.Errorf("the supervisor does not log %q", line)
		}
	}
	// The collector is to end before the time to apply begins.
	_, after, _ := strings.Cut(source, "("+strconv.Quote(applying))
	counts, stops := strings.Index(after, "configApplyTimeoutTimer.Reset("), strings.Index(after, "s.stopAgentApplyConfig()")
	if counts < 0 || stops < 0 || counts > stops {
		t.Error("the supervisor no longer counts the time to stop as time to apply: drop `ending`")
	}
}

func TestEventsAreCalledAlsoForLinesThatAreNotLogged(t *testing.T) {
	var events heard
	logger, logs := events.logger()
	for _, line := range []string{exited, initial, written, notWritten, notWrittenLater, started} {
		logger.With(zap.Int("pid", 1)).Debug(line)
	}
	logger.Info(connected)
	logger.Info("another line")
	if (events != heard{1, 1, 1, 2, 1}) {
		t.Error(events)
	}
	if logs.Len() != 1 || logs.All()[0].Message != "another line" {
		t.Error(logs.All())
	}
}

func TestARestartWaitsUntilTheEndOfItsCollectorIsNoticed(t *testing.T) {
	var events heard
	logger, _ := events.logger()
	collector := sleeping(t, logger)
	if err := collector.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	// As the supervisor does, in one goroutine.
	done := make(chan error, 1)
	go func() {
		logger.Debug(restarting)
		done <- collector.Restart(t.Context())
	}()
	// As it does in another one, which comes to it late.
	select {
	case <-done:
		t.Fatal("the next collector was started before the end of the last one was noticed")
	case <-time.After(restartPatience / 4):
	}
	logger.Debug(restarted)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if events.started != 2 || events.exited != 0 {
		t.Error(events)
	}
}

func TestARestartGoesOnIfNoCollectorRan(t *testing.T) {
	logged := captureLog(t)
	logger, _ := (&heard{}).logger()
	logger.Debug(restarting)
	if err := sleeping(t, logger).Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if logged.Len() != 0 {
		t.Error(logged.String())
	}
}

func TestARestartGoesOnIfTheEndIsNeverNoticed(t *testing.T) {
	logged := captureLog(t)
	logger, _ := (&heard{}).logger()
	collector := sleeping(t, logger)
	if err := collector.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	logger.Debug(restarting)
	if err := collector.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(logged.String(), "did not notice within 1s") {
		t.Error(logged.String())
	}
	// The next start is not one of that restart.
	logged.Reset()
	if err := collector.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := collector.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if logged.Len() != 0 {
		t.Error(logged.String())
	}
}

func TestAnApplyDoesNotWaitForARestartThatFailedBeforeItsStart(t *testing.T) {
	logged := captureLog(t)
	var events heard
	logger, _ := events.logger()
	for _, line := range []string{restarting, stopping, written, starting, started} {
		logger.Debug(line)
	}
	if logged.Len() != 0 || events.started != 1 {
		t.Error(logged.String(), events)
	}
}

func TestTheCollectorHasEndedBeforeTheTimeToApplyBegins(t *testing.T) {
	for _, row := range []struct {
		name, script string
		killed       bool
	}{
		{"it stops", "exec sleep 60", false},
		{"it hangs", "trap '' INT; while :; do sleep 0.1; done", true},
	} {
		t.Run(row.name, func(t *testing.T) {
			logged := captureLog(t)
			var events heard
			logger, _ := events.logger()
			collector := program(t, logger, "/bin/sh", "-c", row.script)
			if err := collector.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			time.Sleep(100 * time.Millisecond)
			logger.With(zap.String("a", "field")).Debug(applying, zap.String("previous_health", ""))
			if collector.IsRunning() {
				t.Error("the collector runs while the time to apply is counted")
			}
			if got := strings.Contains(logged.String(), "is killed"); got != row.killed {
				t.Error(logged.String())
			}
			// As the supervisor goes on.
			began := time.Now()
			if err := collector.Stop(t.Context()); err != nil || time.Since(began) > stopWithin {
				t.Error(err, time.Since(began))
			}
			if err := collector.Start(t.Context()); err != nil || events.started != 2 {
				t.Fatal(err, events)
			}
			select {
			case <-collector.Exited():
				t.Error("the end of the old collector counts against the new one")
			case <-time.After(5 * applyPause):
			}
		})
	}
}

func TestAnApplyStopsNothingIfTheCollectorHasEndedByItself(t *testing.T) {
	logger, _ := (&heard{}).logger()
	stays := exec.Command("/bin/sleep", "60")
	if err := stays.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stays.Process.Kill(); _ = stays.Wait() }()
	logger.Debug(started, zap.Int("pid", stays.Process.Pid))
	logger.Debug(exited)
	logger.Debug(applying)
	if err := stays.Process.Signal(syscall.Signal(0)); err != nil {
		t.Error("a process that is not the collector any more was stopped")
	}
}

// sleeping is the official supervisor's commander of a program that runs until it is stopped.
func sleeping(t *testing.T, logger *zap.Logger) *commander.Commander {
	t.Helper()
	return program(t, logger, "/bin/sleep", "60")
}

func program(t *testing.T, logger *zap.Logger, name string, arguments ...string) *commander.Commander {
	t.Helper()
	made, err := commander.NewCommander(logger, t.TempDir(), config.Agent{Executable: name, Arguments: arguments})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = made.Stop(context.Background()) })
	return made
}

func captureLog(t *testing.T) *bytes.Buffer {
	t.Helper()
	var logged bytes.Buffer
	log.SetOutput(&logged)
	t.Cleanup(func() { log.SetOutput(os.Stderr) })
	return &logged
}
