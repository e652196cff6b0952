package sandbox

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// This binary stands in for the collector: it is given a configuration that names what to try, tries it, and says on
// its standard error how that went. What confines it is the real thing.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "--config" {
		os.Exit(probe())
	}
	if len(os.Args) > 1 && os.Args[1] == tryCommand {
		os.Exit(tryForTest())
	}
	status := m.Run()
	removePublicBinary()
	os.Exit(status)
}

func probe() int {
	config, err := os.ReadFile(ConfigFile)
	if err != nil {
		fmt.Fprintln(os.Stderr, "no configuration:", err)
		return 1
	}
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, syscall.SIGINT)
	if string(config) == "blocked" {
		fmt.Fprintln(os.Stderr, errorLine)
	} else if string(config) != "never-ready" {
		fmt.Fprintln(os.Stderr, string(readyLine))
	}
	what, argument, _ := strings.Cut(string(config), " ")
	result, err := attempt(what, argument)
	fmt.Fprintf(os.Stderr, "result=%q error=%v\n", result, err)
	if what == "exit" {
		return 3
	}
	if what == "stopped-early" {
		fmt.Fprintln(os.Stderr, string(stoppedLine))
	}
	<-interrupted
	if what == "stay" {
		select {}
	}
	if strings.HasPrefix(what, "stopped") || what == "broken" {
		_ = os.WriteFile(OutputFile, []byte("flushed\n"), 0o600)
		if what == "stopped" {
			fmt.Fprintln(os.Stderr, string(stoppedLine))
		}
		panic("a late record")
	}
	_ = os.WriteFile(OutputFile, []byte("flushed\n"), 0o600)
	return 0
}

func testLimits() Limits {
	limits := DefaultLimits()
	limits.Ready, limits.Grace = 5*time.Second, time.Second
	return limits
}

func TestACollectorRunsForItsTimeAndStopsInOrder(t *testing.T) {
	inEveryTier(t, "nothing", testLimits(), func(t *testing.T, _ tier, outcome *Outcome) {
		if !outcome.Ran || outcome.Reason != "" || string(outcome.Output) != "flushed\n" {
			t.Errorf("ran %v, reason %q, output %q, stderr %s", outcome.Ran, outcome.Reason, outcome.Output, outcome.Stderr)
		}
	})
}

func TestWhatEndsACollectorAfterItsShutdownDoesNotCount(t *testing.T) {
	for config, reason := range map[string]string{
		"stopped": "", "stopped-early": "the collector exited with status 2", "broken": "the collector exited with status 2",
	} {
		t.Run(config, func(t *testing.T) {
			inEveryTier(t, config, testLimits(), func(t *testing.T, _ tier, outcome *Outcome) {
				if outcome.Ran != (reason == "") || !strings.HasPrefix(outcome.Reason, reason) || string(outcome.Output) != "flushed\n" {
					t.Errorf("ran %v, reason %q, output %q", outcome.Ran, outcome.Reason, outcome.Output)
				}
			})
		})
	}
}

func TestATraceIsReadFromItsFilesOnly(t *testing.T) {
	limits := testLimits()
	limits.Disk = 2 << 20
	run := Run{Config: []byte("trace 3"), Input: []byte("x"), Limits: limits, Trace: true}
	ofARunInEveryTier(t, run, func(t *testing.T, _ tier, outcome *Outcome, err error) {
		if err != nil {
			t.Fatal(err)
		}
		if string(outcome.Steps) != "a line\n" || !strings.Contains(string(outcome.Stderr), "--headgate-trace=.") {
			t.Errorf("the trace is %q, reason %q, stderr %s", outcome.Steps, outcome.Reason, outcome.Stderr)
		}
	})
}

func TestANamedSampleIsThereByItsNameAndCannotBeChanged(t *testing.T) {
	const name = "/var/log/pods/ns_pod_uid/app/0.log"
	run := Run{Input: []byte("the sample"), InputName: name}
	for config, expected := range map[string]string{
		"read " + name: `result="the sample" error=<nil>`, "write " + name: "denied", "write /var/log/other": "denied",
		"list /run": `result="[- collector.yaml]" error=<nil>`,
	} {
		t.Run(config, func(t *testing.T) {
			run.Config, run.Limits = []byte(config), testLimits()
			ofARunInEveryTier(t, run, func(t *testing.T, tier tier, outcome *Outcome, err error) {
				if !tier.chroot {
					var unable *unableError
					if err == nil || errors.As(err, &unable) == (os.Geteuid() == 0) || !strings.Contains(err.Error(), "root directory of its own") {
						t.Errorf("%v", err)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				stderr := string(outcome.Stderr)
				told := strings.Contains(stderr, expected)
				if expected == "denied" {
					told = !strings.Contains(stderr, "error=<nil>")
				}
				if !outcome.Ran || !told {
					t.Errorf("reason %q, stderr %s", outcome.Reason, stderr)
				}
			})
		})
	}
}

func TestASampleIsPlacedNowhereElse(t *testing.T) {
	outside := t.TempDir()
	inside := &root{path: t.TempDir()}
	if err := errors.Join(os.Symlink(outside, inside.path+"/link"), os.WriteFile(inside.path+"/there", []byte("kept"), 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"/link/x", "/there", "/there/x", "/../x", "/proc/self/exe", "/run/output", "x", "/a\x00b"} {
		if err := inside.place(name, []byte("x")); err == nil {
			t.Errorf("%q was written", name)
		}
	}
	kept, err := os.ReadFile(inside.path + "/there")
	left, _ := os.ReadDir(outside)
	if string(kept) != "kept" || err != nil || len(left) > 0 {
		t.Errorf("%q, %v, %v", kept, err, left)
	}
}

func TestFeatureGatesAreOneArgument(t *testing.T) {
	given := Run{FeatureGates: []string{"+a.b", "-c"}}.arguments()
	if !slices.Equal(given, []string{"otelcol-contrib", "--config", ConfigFile, "--feature-gates=+a.b,-c"}) {
		t.Error(given)
	}
	if none := (Run{}).arguments(); len(none) != 3 {
		t.Error(none)
	}
}

func TestNothingOutsideItsFolderCanBeReadOrWritten(t *testing.T) {
	for _, config := range []string{
		"read /etc/passwd", "read /proc/1/environ", "list /home", "list /root", "read ../../../../etc/hostname",
		"read /etc/hosts", "read /proc/self/environ", "list /proc/1", "list /proc/self/fd", "read /proc/self/net/tcp",
		"write /tmp/escaped", "write ../escaped", "write /outside", "write /proc/meminfo",
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

func isRefused(t *testing.T, config string) {
	t.Helper()
	t.Run(config, func(t *testing.T) {
		inEveryTier(t, config, testLimits(), func(t *testing.T, _ tier, outcome *Outcome) {
			if !outcome.Ran || strings.Contains(string(outcome.Stderr), "error=<nil>") {
				t.Errorf("reason %q, stderr %s", outcome.Reason, outcome.Stderr)
			}
		})
	})
}

func TestNoSecondProgramIsExecuted(t *testing.T) {
	for _, how := range []string{"execve", "execveat", "execveat by path", "spawn"} {
		isRefused(t, "execute "+how)
	}
	isRefused(t, "fork")
}

func TestThereIsNoSocketOfAnyKind(t *testing.T) {
	for _, family := range []int{unix.AF_UNIX, unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK, unix.AF_VSOCK, unix.AF_ALG} {
		isRefused(t, fmt.Sprint("socket ", family))
	}
	isRefused(t, "socketpair")
}

func TestNoOtherProcessIsSignalled(t *testing.T) {
	for _, process := range []int{os.Getpid(), os.Getppid(), 1 << 20} {
		isRefused(t, fmt.Sprint("signal ", process))
	}
}

func TestNothingIsHeldWhereItIsNotCounted(t *testing.T) {
	for _, how := range []string{
		"in a file without a name", "in a file whose name is gone", "in memory as a file", "in shared memory", "in /dev/shm",
		"beyond a file's end", "in an attribute",
	} {
		isRefused(t, "unseen "+how)
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
	limits := testLimits()
	limits.Grace = time.Minute
	inEveryTier(t, "memory", limits, func(t *testing.T, _ tier, outcome *Outcome) {
		if outcome.Ran || !strings.HasSuffix(outcome.Reason, ", because it used up its 1024 MB of memory") {
			t.Errorf("ran %v, reason %q, stderr %.300s", outcome.Ran, outcome.Reason, outcome.Stderr)
		}
	})
}

func TestWhatIsWrittenIsBounded(t *testing.T) {
	limits := testLimits()
	limits.Disk, limits.Output = 8<<20, 4<<20
	for config, reason := range map[string]string{
		"fill " + OutputFile: "the collector's output exceeded 4 MB", "fill other": "the collector wrote more than 8 MB",
		"spread six": "the collector wrote more than 8 MB", "names": "the collector created more than 1000 files",
	} {
		t.Run(config, func(t *testing.T) {
			inEveryTier(t, config, limits, func(t *testing.T, _ tier, outcome *Outcome) {
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

const errorLine = "2026-11-22T00:00:00.000Z\terror\tp@v1/x.go:75\tNo client\t" +
	`{"otelcol.component.id": "p/a", "error": "no\nhost"}`

func TestOneThatHasSaidWhyItCannotStartIsNotWaitedFor(t *testing.T) {
	limits := testLimits()
	limits.Ready, limits.Quiet = time.Hour, 300*time.Millisecond
	inEveryTier(t, "blocked", limits, func(t *testing.T, _ tier, outcome *Outcome) {
		if !strings.HasPrefix(outcome.Reason, "the collector did not become ready in") || outcome.Cause != "p/a: No client: no host" {
			t.Errorf("reason %q, cause %q", outcome.Reason, outcome.Cause)
		}
	})
}

func TestTheCauseIsWhatTheCollectorSaid(t *testing.T) {
	long := strings.Repeat("é", longestCause)
	for stderr, expected := range map[string]string{
		"":                                      "",
		"2026-11-22T00:00:00Z\tinfo\tx\tfine\n": "",
		errorLine + "\ngo.opentelemetry.io/x\n": "p/a: No client: no host",
		"2026-11-22T00:00:00Z\terror\tNo place\n": "No place",
		"Error: failed to get config: decoding failed due to the following error(s):\n\n'batch' has\n2026/11/22 00:49:13 collector server run\n": "failed to get config: 'batch' has",
		errorLine + "\nError: a\n":                            "a",
		"panic: runtime error: x\n\ngoroutine 1 [running]:\n": "panic: runtime error: x",
		"Error: " + long:                                      strings.Repeat("é", longestCause/2) + "…",
		"Error: a\xffb\n":                                     "ab",
	} {
		if got := cause([]byte(stderr)); got != expected {
			t.Errorf("%q: %q, not %q", stderr, got, expected)
		}
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
