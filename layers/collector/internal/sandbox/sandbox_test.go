package sandbox

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// This binary stands in for the collector: it is given a configuration that names what to try, tries it, and says on its
// standard error how that went. What confines it is the real thing.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == InitCommand {
		os.Exit(Init())
	}
	if len(os.Args) > 1 && os.Args[1] == "--config" {
		os.Exit(probe())
	}
	os.Exit(m.Run())
}

func probe() int {
	config, err := os.ReadFile(ConfigFile)
	if err != nil {
		fmt.Fprintln(os.Stderr, "no configuration:", err)
		return 1
	}
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, syscall.SIGINT)
	if string(config) != "never-ready" {
		fmt.Fprintln(os.Stderr, string(readyLine))
	}
	what, argument, _ := strings.Cut(string(config), " ")
	result, err := attempt(what, argument)
	fmt.Fprintf(os.Stderr, "result=%q error=%v\n", result, err)
	if what == "exit" {
		return 3
	}
	<-interrupted
	if what == "stay" {
		select {}
	}
	_ = os.WriteFile(OutputFile, []byte("flushed\n"), 0o600)
	return 0
}

func attempt(what, argument string) (string, error) {
	switch what {
	case "read":
		content, err := os.ReadFile(argument)
		return string(content), err
	case "list":
		entries, err := os.ReadDir(argument)
		return fmt.Sprint(entries), err
	case "write":
		return "", os.WriteFile(argument, []byte("x"), 0o600)
	case "connect":
		connection, err := net.DialTimeout("tcp", argument, time.Second)
		if err == nil {
			connection.Close()
		}
		return "", err
	case "environment":
		return fmt.Sprint(os.Environ()), nil
	case "user":
		return strconv.Itoa(os.Geteuid()), syscall.Setuid(0)
	case "spawn":
		return "", exec.Command(argument).Run()
	case "memory":
		held := make([][]byte, 0, 64)
		for range 64 {
			block := make([]byte, 64<<20)
			for i := 0; i < len(block); i += 4096 {
				block[i] = 1
			}
			held = append(held, block)
		}
		return strconv.Itoa(len(held)), nil
	case "fill":
		file, err := os.Create(argument)
		if err != nil {
			return "", err
		}
		defer file.Close()
		block := make([]byte, 1<<20)
		for range 500 {
			if _, err := file.Write(block); err != nil {
				return "", err
			}
			time.Sleep(5 * time.Millisecond)
		}
		return "filled", nil
	}
	return "", nil
}

func testLimits() Limits {
	limits := DefaultLimits()
	limits.Ready, limits.Grace = 5*time.Second, time.Second
	return limits
}

// everyTier is what this machine offers: as root, what others would get as well.
func everyTier(t *testing.T) []tier {
	t.Helper()
	all := tiers()
	if os.Geteuid() == 0 {
		all = append(all, tier{name: "user: Landlock"})
	}
	return all
}

func inEveryTier(t *testing.T, config string, limits Limits, check func(t *testing.T, tier tier, outcome *Outcome)) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, tier := range everyTier(t) {
		t.Run(tier.name, func(t *testing.T) {
			run := Run{Collector: self, Config: []byte(config), Duration: 100 * time.Millisecond, Limits: limits}
			outcome, err := try(context.Background(), run, tier)
			var unable *unableError
			if errors.As(err, &unable) && os.Geteuid() != 0 {
				t.Skipf("this machine does not offer it: %v", err)
			}
			if err != nil {
				t.Fatal(err)
			}
			check(t, tier, outcome)
		})
	}
}

func TestACollectorRunsForItsTimeAndStopsInOrder(t *testing.T) {
	inEveryTier(t, "nothing", testLimits(), func(t *testing.T, _ tier, outcome *Outcome) {
		if !outcome.Ran || outcome.Reason != "" || string(outcome.Output) != "flushed\n" {
			t.Errorf("ran %v, reason %q, output %q, stderr %s", outcome.Ran, outcome.Reason, outcome.Output, outcome.Stderr)
		}
	})
}

func TestNothingOutsideItsFolderCanBeReadOrWritten(t *testing.T) {
	for _, config := range []string{
		"read /etc/passwd", "read /proc/1/environ", "list /home", "list /root", "read ../../../../etc/hostname",
		"write /tmp/escaped", "write ../escaped", "spawn /bin/sh", "spawn /usr/bin/id",
	} {
		t.Run(config, func(t *testing.T) {
			inEveryTier(t, config, testLimits(), func(t *testing.T, _ tier, outcome *Outcome) {
				if !outcome.Ran || strings.Contains(string(outcome.Stderr), "error=<nil>") {
					t.Errorf("reason %q, stderr %s", outcome.Reason, outcome.Stderr)
				}
			})
		})
	}
}

func TestThereIsNoNetwork(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	inEveryTier(t, "connect "+listener.Addr().String(), testLimits(), func(t *testing.T, _ tier, outcome *Outcome) {
		if !outcome.Ran || strings.Contains(string(outcome.Stderr), "error=<nil>") {
			t.Errorf("reason %q, stderr %s", outcome.Reason, outcome.Stderr)
		}
	})
}

func TestTheEnvironmentIsEmpty(t *testing.T) {
	t.Setenv("SECRET", "value")
	inEveryTier(t, "environment", testLimits(), func(t *testing.T, _ tier, outcome *Outcome) {
		if !strings.Contains(string(outcome.Stderr), `result="[]"`) {
			t.Errorf("stderr %s", outcome.Stderr)
		}
	})
}

func TestRootIsAnotherUserInside(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("this is about being started by root")
	}
	inEveryTier(t, "user", testLimits(), func(t *testing.T, tier tier, outcome *Outcome) {
		if tier.otherUser && strings.Contains(string(outcome.Stderr), `result="0"`) {
			t.Errorf("stderr %s", outcome.Stderr)
		}
		if tier.otherUser && strings.Contains(string(outcome.Stderr), "error=<nil>") {
			t.Errorf("it became root: %s", outcome.Stderr)
		}
	})
}

func TestMemoryIsBounded(t *testing.T) {
	inEveryTier(t, "memory", testLimits(), func(t *testing.T, _ tier, outcome *Outcome) {
		if outcome.Ran || !strings.HasSuffix(outcome.Reason, ", out of its 1024 MB of memory") {
			t.Errorf("ran %v, reason %q, stderr %.300s", outcome.Ran, outcome.Reason, outcome.Stderr)
		}
	})
}

func TestWhatIsWrittenIsBounded(t *testing.T) {
	limits := testLimits()
	limits.Disk, limits.Output = 8<<20, 4<<20
	for file, reason := range map[string]string{
		OutputFile: "the collector put out more than 4 MB", "other": "the collector wrote more than 8 MB",
	} {
		t.Run(file, func(t *testing.T) {
			inEveryTier(t, "fill "+file, limits, func(t *testing.T, _ tier, outcome *Outcome) {
				full := strings.Contains(string(outcome.Stderr), "file too large")
				if outcome.Reason != reason && !full {
					t.Errorf("reason %q, stderr %.300s", outcome.Reason, outcome.Stderr)
				}
				if int64(len(outcome.Output)) > limits.Output {
					t.Errorf("%d bytes of output", len(outcome.Output))
				}
			})
		})
	}
}

func TestOneThatIsNotReadyOrDoesNotStopIsKilled(t *testing.T) {
	limits := testLimits()
	limits.Ready, limits.Grace = 300*time.Millisecond, 300*time.Millisecond
	for config, reason := range map[string]string{
		"never-ready": "the collector was not ready within", "stay": "the collector did not stop within",
		"exit": "the collector exited with status 3",
	} {
		t.Run(config, func(t *testing.T) {
			inEveryTier(t, config, limits, func(t *testing.T, _ tier, outcome *Outcome) {
				if outcome.Ran || !strings.HasPrefix(outcome.Reason, reason) {
					t.Errorf("ran %v, reason %q", outcome.Ran, outcome.Reason)
				}
			})
		})
	}
}

func TestStderrKeepsItsStartAndItsEnd(t *testing.T) {
	kept := newTail()
	fmt.Fprint(kept, "the start\n")
	for range 10_000 {
		fmt.Fprint(kept, "something in between\n")
	}
	fmt.Fprint(kept, "the end\n")
	text := string(kept.bytes())
	if !strings.HasPrefix(text, "the start\n") || !strings.HasSuffix(text, "the end\n") ||
		!strings.Contains(text, "bytes left out") || len(text) > StderrHead+StderrTail+100 {
		t.Errorf("%d bytes: %.80s", len(text), text)
	}
}

func TestTheReadyLineIsFoundAcrossWrites(t *testing.T) {
	kept := newTail()
	for _, c := range append([]byte("info\t"), readyLine...) {
		_, _ = kept.Write([]byte{c})
	}
	select {
	case <-kept.ready:
	default:
		t.Error("it was not noticed")
	}
}
