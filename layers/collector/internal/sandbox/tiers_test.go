package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"
)

// tryCommand is this binary as somebody who is not root: it tries one tier and tells of it in JSON.
const tryCommand = "try"

type tryRequest struct {
	Tier   string
	Run    Run
	Failed string
	// Outcome and what its own JSON leaves out.
	Outcome               *Outcome
	Stderr, Output, Steps []byte
}

func tryForTest() int {
	var asked tryRequest
	if err := json.NewDecoder(os.Stdin).Decode(&asked); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	place := slices.IndexFunc(ofUsers, func(one tier) bool { return one.name == asked.Tier })
	outcome, err := try(context.Background(), asked.Run, ofUsers[place])
	if err != nil {
		asked.Failed = err.Error()
	} else {
		asked.Outcome, asked.Stderr, asked.Output, asked.Steps = outcome, outcome.Stderr, outcome.Output, outcome.Steps
	}
	_ = json.NewEncoder(os.Stdout).Encode(asked)
	return 0
}

const nobody = 65534

// asNobody tries a tier as a user that is not root.
func asNobody(run Run, tier tier) (*Outcome, error) {
	binary, err := publicBinary()
	if err != nil {
		return nil, err
	}
	run.Collector = binary
	encoded, err := json.Marshal(tryRequest{Tier: tier.name, Run: run})
	if err != nil {
		return nil, err
	}
	command := exec.Command(binary, tryCommand)
	command.Env = []string{"TMPDIR=" + filepath.Dir(binary), "SECRET=value"}
	command.Stdin, command.Stderr = bytes.NewReader(encoded), os.Stderr
	command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	told, err := command.Output()
	if err != nil {
		return nil, err
	}
	var answer tryRequest
	if err := json.Unmarshal(told, &answer); err != nil {
		return nil, err
	}
	if answer.Failed != "" {
		return nil, errors.New(answer.Failed)
	}
	answer.Outcome.Stderr, answer.Outcome.Output, answer.Outcome.Steps = answer.Stderr, answer.Output, answer.Steps
	return answer.Outcome, nil
}

// publicBinary is this binary where anybody may execute it.
var publicBinary = sync.OnceValues(func() (string, error) {
	folder, err := os.MkdirTemp("/tmp", "headgate-sandbox-test-")
	if err != nil {
		return "", err
	}
	path := filepath.Join(folder, "otelcol-contrib")
	err = errors.Join(os.Chmod(folder, 0o777), copyFile("/proc/self/exe", path))
	return path, err
})

func copyFile(from, to string) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	return errors.Join(err, target.Close())
}

func removePublicBinary() {
	if path, err := publicBinary(); err == nil {
		_ = os.RemoveAll(filepath.Dir(path))
	}
}

// inEveryTier runs the probe in every tier that this machine offers: as root, in those of other users as one of them.
func inEveryTier(t *testing.T, config string, limits Limits, check func(t *testing.T, tier tier, outcome *Outcome)) {
	t.Helper()
	ofARunInEveryTier(t, Run{Config: []byte(config), Limits: limits}, func(t *testing.T, tier tier, outcome *Outcome, err error) {
		if err != nil {
			t.Fatal(err)
		}
		check(t, tier, outcome)
	})
}

func withThisBinary(t *testing.T, run Run) Run {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	run.Collector, run.Duration = self, 100*time.Millisecond
	return run
}

// ofARunInEveryTier is inEveryTier for more than a configuration, and also tells of errors.
func ofARunInEveryTier(t *testing.T, run Run, check func(t *testing.T, tier tier, outcome *Outcome, err error)) {
	t.Helper()
	run = withThisBinary(t, run)
	for _, tier := range tiers() {
		t.Run(tier.name, func(t *testing.T) {
			outcome, err := try(context.Background(), run, tier)
			var unable *unableError
			if errors.As(err, &unable) && os.Geteuid() != 0 && run.InputName == "" {
				t.Skipf("this machine does not offer it: %v", err)
			}
			check(t, tier, outcome, err)
		})
	}
	if os.Geteuid() != 0 {
		return
	}
	for _, tier := range ofUsers {
		t.Run(tier.name, func(t *testing.T) {
			outcome, err := asNobody(run, tier)
			check(t, tier, outcome, err)
		})
	}
}
