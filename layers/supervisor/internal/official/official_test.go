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
	"testing"
	"time"

	"github.com/open-telemetry/opentelemetry-collector-contrib/cmd/opampsupervisor/supervisor/commander"
	"github.com/open-telemetry/opentelemetry-collector-contrib/cmd/opampsupervisor/supervisor/config"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"
)

const module = "github.com/open-telemetry/opentelemetry-collector-contrib/cmd/opampsupervisor/supervisor"

// heard counts the events.
type heard struct{ exited, initial, written, started int }

func (h *heard) logger() (*zap.Logger, *observer.ObservedLogs) {
	core, logs := observer.New(zapcore.InfoLevel)
	return zap.New(Listen(core, Events{
		Exited:  func() { h.exited++ },
		Initial: func() { h.initial++ },
		Written: func() { h.written++ },
		Started: func() { h.started++ },
	})), logs
}

// A line of another wording would be missed in silence.
func TestEachLineIsOneThatTheSupervisorLogs(t *testing.T) {
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
	for _, line := range []string{exited, initial, written, started, restarting, stopping, starting, restarted, connected} {
		if !strings.Contains(source.String(), "("+strconv.Quote(line)) {
			t.Errorf("the supervisor does not log %q", line)
		}
	}
}

func TestEventsAreCalledAlsoForLinesThatAreNotLogged(t *testing.T) {
	var events heard
	logger, logs := events.logger()
	for _, line := range []string{exited, initial, written, started} {
		logger.With(zap.Int("pid", 1)).Debug(line)
	}
	logger.Info(connected)
	logger.Info("another line")
	if (events != heard{1, 1, 1, 1}) {
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

// sleeping is the official supervisor's commander of a program that runs until it is stopped.
func sleeping(t *testing.T, logger *zap.Logger) *commander.Commander {
	t.Helper()
	made, err := commander.NewCommander(logger, t.TempDir(), config.Agent{Executable: "/bin/sleep", Arguments: []string{"60"}})
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
