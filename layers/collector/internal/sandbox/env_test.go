package sandbox

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/headgate/headgate/layers/collector/internal/hiding"
)

// hostile are variables that programs obey, and values that are hard to pass on.
var hostile = map[string]string{
	"LD_PRELOAD": "/run/sample", "LD_LIBRARY_PATH": "/run", "GLIBC_TUNABLES": "glibc.malloc.check=3", "PATH": "/run",
	"GODEBUG": "gctrace=1,execerrdot=0", "GOMEMLIMIT": "1", "GOGC": "1", "GOMAXPROCS": "64", "GOTRACEBACK": "crash",
	"GOCOVERDIR": "/run", "HTTP_PROXY": "http://127.0.0.1:1", "HOME": "/", "TMPDIR": "/nowhere", "AWS_CONFIG_FILE": "/run/sample",
	"HEADGATE_RUN_TASK_URL": "http://127.0.0.1:1", "HEADGATE_STOP_WITH_STDIN": "1", "MULTILINE": "one\ntwo\r\n${env:PATH}$$\t\x7fé",
	"LARGE": strings.Repeat("0123456789", 10_000), "EMPTY": "",
}

func TestTheCollectorHasTheRunsVariablesAndNoOthers(t *testing.T) {
	t.Setenv("SECRET", "value")
	var told []string
	for _, name := range slices.Sorted(maps.Keys(hostile)) {
		value := hostile[name]
		told = append(told, fmt.Sprintf("%s:%d:%x", name, len(value), sha256.Sum256([]byte(value)))[:len(name)+12])
	}
	run := Run{Config: []byte("variables"), Limits: testLimits(), Env: hostile, Input: []byte("\x7fELF")}
	ofARunInEveryTier(t, run, func(t *testing.T, _ tier, outcome *Outcome, err error) {
		if err != nil {
			t.Fatal(err)
		}
		if expected := fmt.Sprintf("result=%q", fmt.Sprint(told)); !outcome.Ran || !strings.Contains(string(outcome.Stderr), expected) {
			t.Errorf("%s\nstderr %s\nnot %s", outcome.Reason, outcome.Stderr, expected)
		}
	})
}

func TestAsManyVariablesAsARunMayHaveFit(t *testing.T) {
	env := map[string]string{"LARGEST": strings.Repeat("x", 128<<10-len("LARGEST=\x00"))}
	run := Run{Config: []byte("variables"), Limits: testLimits(), Env: env, FeatureGates: slices.Repeat([]string{strings.Repeat("g", 200)}, 20)}
	outcome, err := try(context.Background(), withThisBinary(t, run), tiers()[0])
	if err != nil || !outcome.Ran {
		t.Fatal(err, outcome)
	}
}

func TestNoValueIsInWhatTheCollectorWrote(t *testing.T) {
	for _, value := range []string{
		"a-secret", "long enough to be shortened by somebody", "two\nlines of a \"secret\"", strings.Repeat("long ", 20_000) + "end",
	} {
		run := Run{Config: []byte("tell VALUE"), Limits: testLimits(), Env: map[string]string{"VALUE": value}}
		outcome, err := try(context.Background(), withThisBinary(t, run), tiers()[0])
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range []string{value[:4], value[len(value)-4:], "secret", "somebody"} {
			if strings.Contains(string(outcome.Stderr), part) {
				t.Errorf("%q is in %.200s", part, outcome.Stderr)
			}
		}
		if len(value) < StderrTail && !strings.Contains(string(outcome.Stderr), "${env:VALUE}") {
			t.Errorf("%.200s", outcome.Stderr)
		}
	}
}

func TestNoPartOfAValueIsLeftWhereStderrIsCut(t *testing.T) {
	secret := "s3cret-" + strings.Repeat("0123456789", 3)
	hider := hiding.New(map[string]string{"SECRET": secret})
	for shift := range len(secret) + 2 {
		kept := newTail()
		fmt.Fprint(kept, strings.Repeat("x", StderrHead-shift)+secret+strings.Repeat("y", 50_000)+secret+strings.Repeat("z", StderrTail-shift))
		text := string(kept.hiding(hider))
		for part := range len(secret) - 4 {
			if strings.Contains(text, secret[part:part+4]) {
				t.Fatalf("%q is left at %d", secret[part:part+4], shift)
			}
		}
	}
}
