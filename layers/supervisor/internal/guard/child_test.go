//go:build unix

package guard

import (
	"os"
	"path/filepath"
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
	code, err := child("/bin/sh", []string{"sh", "-c", script}, []string{"READY=" + ready, "PATH=" + os.Getenv("PATH")})
	if code != 9 || err != nil {
		t.Errorf("%d, %v", code, err)
	}
}

func TestACollectorThatCannotBeStartedIsSaid(t *testing.T) {
	if _, err := child("/nonexistent/otelcol", []string{"otelcol"}, nil); err == nil {
		t.Error("there was no error")
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
