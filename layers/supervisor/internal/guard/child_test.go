//go:build unix

package guard

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestACollectorThatIsAChildIsToldToEndAndItsExitCodeIsPassedOn(t *testing.T) {
	ready := filepath.Join(t.TempDir(), "ready")
	go func() {
		for {
			if _, err := os.Stat(ready); err == nil {
				_ = syscall.Kill(os.Getpid(), syscall.SIGTERM)
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	script := `trap "exit 9" TERM; : >"$READY"; while :; do sleep 0.01; done`
	code, err := child(t.TempDir(), "/bin/sh", []string{"sh", "-c", script}, []string{"READY=" + ready, "PATH=" + os.Getenv("PATH")})
	if code != 9 || err != nil {
		t.Errorf("%d, %v", code, err)
	}
}

func TestACollectorThatCannotBeStartedIsSaid(t *testing.T) {
	if _, err := child(t.TempDir(), "/nonexistent/otelcol", []string{"otelcol"}, nil); err == nil {
		t.Error("there was no error")
	}
}

// TestGuardProcess is the guard of TestACollectorWhoseGuardWasKilled…, in a process of its own.
func TestGuardProcess(t *testing.T) {
	if storage := os.Getenv("STORAGE_OF_GUARD"); storage != "" {
		_, err := child(storage, "/bin/sh", []string{"sh", "-c", os.Getenv("SCRIPT_OF_GUARD")}, []string{"READY=" + storage + "/ready"})
		t.Fatal(err)
	}
}

func TestACollectorWhoseGuardWasKilledEndsBeforeTheNextOneStarts(t *testing.T) {
	defer func(before time.Duration) { stopsWithin = before }(stopsWithin)
	stopsWithin = 100 * time.Millisecond
	for name, script := range map[string]string{
		"in order": `echo $$ >"$READY"; while :; do sleep 0.01; done`,
		"by force": `trap "" TERM; echo $$ >"$READY"; while :; do sleep 0.01; done`,
	} {
		t.Run(name, func(t *testing.T) {
			storage := t.TempDir()
			guard := exec.Command(os.Args[0], "-test.run=^TestGuardProcess$")
			guard.Env = append(os.Environ(), "STORAGE_OF_GUARD="+storage, "SCRIPT_OF_GUARD="+script)
			if err := guard.Start(); err != nil {
				t.Fatal(err)
			}
			ready, note := filepath.Join(storage, "ready"), filepath.Join(storage, runningName)
			for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
				said, _ := os.ReadFile(ready)
				if _, err := os.Stat(note); err == nil && len(said) > 0 {
					break
				}
			}
			_ = guard.Process.Kill()
			_ = guard.Wait()
			said, err := os.ReadFile(ready)
			if err != nil {
				t.Fatal(err)
			}
			pid, err := strconv.Atoi(strings.TrimSpace(string(said)))
			if err != nil {
				t.Fatal(err)
			}
			if _, runs := startOf(pid); !runs {
				t.Fatal("the collector ended with its guard")
			}
			// A run that only validates leaves it alone.
			if code, err := child(storage, "/bin/sh", []string{"sh", "validate"}, nil); code == 0 || err != nil {
				t.Fatal(code, err)
			}
			if _, runs := startOf(pid); !runs {
				t.Fatal("a validation ended the collector")
			}
			if code, err := child(storage, "/bin/sh", []string{"sh", "-c", "exit 3"}, nil); code != 3 || err != nil {
				t.Fatal(code, err)
			}
			if _, runs := startOf(pid); runs {
				t.Error("two collectors ran at once")
			}
			if _, err := os.Stat(note); err == nil {
				t.Error("the note of a collector that has ended stays")
			}
		})
	}
}

func TestAnotherProcessOfTheSameNumberIsNotEnded(t *testing.T) {
	storage := t.TempDir()
	started, _ := startOf(os.Getpid())
	for _, content := range []string{
		fmt.Sprintf(`{"pid":%d,"started":%d}`, os.Getpid(), started-1), `{"pid":1,"started":0}`, `{"pid":-1}`, `no JSON`,
	} {
		if err := os.WriteFile(filepath.Join(storage, runningName), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		endOrphan(storage)
	}
}

func TestTheEndOfTheSupervisorIsNoticed(t *testing.T) {
	parent, err := parentOf()
	if err != nil || parent.ended() {
		t.Errorf("%v, %v", parent, err)
	}
	if !supervisor(int(parent) + 1).ended() {
		t.Error("another parent is taken for the supervisor")
	}
}
