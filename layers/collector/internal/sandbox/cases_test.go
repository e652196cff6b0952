package sandbox

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestACollectorThatHasReadItsSampleAndIsIdleIsStoppedEarly(t *testing.T) {
	for config, idle := range map[string]bool{"poll sample": true, "read sample": false, "nothing": false, "poll-and-spin sample": false} {
		t.Run(config, func(t *testing.T) {
			t.Parallel()
			self, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			duration := 2 * time.Second
			if idle {
				// On a busy machine it is not idle at once.
				duration = time.Minute
			}
			outcome, err := Do(context.Background(), Run{
				Collector: self, Config: []byte(config), Input: []byte("x"), Limits: testLimits(),
				Duration: duration, Idle: 100 * time.Millisecond,
			})
			if err != nil {
				t.Fatal(err)
			}
			lasted := outcome.FinishedAt.Sub(outcome.StartedAt)
			if !outcome.Ran || outcome.Idle != idle || (lasted < duration) != idle || string(outcome.Output) != "flushed\n" {
				t.Errorf("ran %v, idle %v, after %s, reason %q, output %q", outcome.Ran, outcome.Idle, lasted, outcome.Reason, outcome.Output)
			}
		})
	}
}

// testCases are cases of the stand-in for the collector, by their configuration.
func testCases(configs ...string) *Cases {
	cases := &Cases{Inputs: map[string]string{"one": "x"}}
	for place, config := range configs {
		cases.Cases = append(cases.Cases, Case{
			ID: fmt.Sprintf("%d %s", place, config), CollectorVersion: "1.2.3", CollectorYAML: config, Input: "one", DurationSeconds: 1,
		})
	}
	return cases
}

func findSelf(t *testing.T) Finder {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return func(version string) (string, string) {
		if version == "9.9.9" {
			return "", "collector 9.9.9 is not installed on the test runner"
		}
		return self, ""
	}
}

func TestACaseThatFailsEndsOnlyItself(t *testing.T) {
	cases := testCases("nothing", "exit", "broken", "never-ready", "nothing", "memory 4000", "nothing")
	cases.Cases[4].CollectorVersion = "9.9.9"
	limits := testLimits()
	// On a busy machine the case that uses up its memory does not do so within the duration.
	limits.Ready, limits.Grace = 4*time.Second, time.Minute
	results, err := DoCases(context.Background(), cases, findSelf(t), limits, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	for place, expected := range []string{
		"", "the collector exited with status 3", "the collector exited with status 2", "the collector was not ready within 4 s",
		"collector 9.9.9 is not installed", "the collector exited with status 2", "",
	} {
		result := results[place]
		if result.ID != cases.Cases[place].ID || !strings.HasPrefix(result.Outcome.Reason, expected) || result.Outcome.Ran != (expected == "") {
			t.Errorf("%s: ran %v, reason %q, expected %q", result.ID, result.Outcome.Ran, result.Outcome.Reason, expected)
		}
	}
}

func TestNoCaseMeetsWhatAnotherLeft(t *testing.T) {
	var configs []string
	for range 8 {
		configs = append(configs, "user", "list /run", "list /tmp")
	}
	results, err := DoCases(context.Background(), testCases(configs...), findSelf(t), testLimits(), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	users := map[string]bool{}
	for place, result := range results {
		if configs[place] == "user" {
			users[result.Stderr] = true
		} else if first := results[place%3]; result.Stderr != first.Stderr {
			t.Errorf("%s: %s, and another one: %s", result.ID, result.Stderr, first.Stderr)
		}
	}
	if os.Geteuid() == 0 && len(users) != 8 {
		t.Errorf("8 cases were %d users: %v", len(users), users)
	}
}

func TestCasesWithoutTimeSaySo(t *testing.T) {
	var configs []string
	for range 12 {
		configs = append(configs, "nothing")
	}
	begun := time.Now()
	results, err := DoCases(context.Background(), testCases(configs...), findSelf(t), testLimits(), 1500*time.Millisecond)
	if err != nil || time.Since(begun) > 10*time.Second {
		t.Fatal(err, time.Since(begun))
	}
	var ran, late int
	for _, result := range results {
		if result.Outcome.Ran {
			ran++
		} else if result.Outcome.Reason == noTime {
			late++
		}
	}
	if late == 0 || ran+late != len(results) {
		t.Errorf("%d ran, %d had no time, of %d", ran, late, len(results))
	}
}

func TestResultsAreBoundedTogether(t *testing.T) {
	results := make([]CaseResult, 5)
	for place := range results {
		results[place] = CaseResult{ID: fmt.Sprint(place), Outcome: &Outcome{Ran: true, Executed: true}, Output: strings.Repeat(`"`, 20_000)}
	}
	encoded, err := encode(results, 100_000)
	if err != nil || len(encoded) > 100_000 {
		t.Fatal(len(encoded), err)
	}
	lines := strings.Split(strings.TrimSuffix(string(encoded), "\n"), "\n")
	for place, line := range lines {
		var result CaseResult
		if err := json.Unmarshal([]byte(line), &result); err != nil {
			t.Fatal(err)
		}
		if fits := place < 2; result.Outcome.Ran != fits || (result.Output != "") != fits || (result.Outcome.Reason == "") != fits {
			t.Errorf("%d: ran %v, %d bytes, reason %q", place, result.Outcome.Ran, len(result.Output), result.Outcome.Reason)
		}
	}
	if len(lines) != len(results) {
		t.Errorf("%d results of %d cases", len(lines), len(results))
	}
}

func TestCasesThatCannotBeAreRefused(t *testing.T) {
	for expected, change := range map[string]func(*Cases){
		"used twice":        func(c *Cases) { c.Cases = append(c.Cases, c.Cases[0]) },
		"is empty":          func(c *Cases) { c.Cases[0].ID = "" },
		"duration_seconds":  func(c *Cases) { c.Cases[0].DurationSeconds = 0 },
		"idle_milliseconds": func(c *Cases) { c.Cases[0].IdleMilliseconds = -1 },
		"not a version":     func(c *Cases) { c.Cases[0].CollectorVersion = "../x" },
		"is not given":      func(c *Cases) { c.Cases[0].Input = "other" },
		"at most 200":       func(c *Cases) { c.Cases = make([]Case, 201) },
	} {
		cases := testCases("nothing")
		change(cases)
		if err := cases.validate(); err == nil || !strings.Contains(err.Error(), expected) {
			t.Errorf("expected %q: %v", expected, err)
		}
	}
}

func TestAJobsTaskFetchesItsCasesAndStoresOneFile(t *testing.T) {
	cases, err := json.Marshal(testCases("nothing"))
	if err != nil {
		t.Fatal(err)
	}
	var mutex sync.Mutex
	stored := map[string]string{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mutex.Lock()
		defer mutex.Unlock()
		if r.Method == http.MethodGet {
			_, _ = w.Write(cases)
			return
		}
		file, _, err := r.FormFile("file")
		if err != nil {
			t.Error(err)
			return
		}
		text, err := io.ReadAll(file)
		if err != nil {
			t.Error(err)
		}
		stored[r.URL.Path] = string(text)
		w.WriteHeader(http.StatusNoContent)
	}))
	defer server.Close()
	task := &task{BudgetSeconds: 30, Get: map[string]string{casesFile: server.URL}, Post: map[string]form{resultsFile: {URL: server.URL + "/results"}}}
	if err := task.do(context.Background(), testFiles(), t.TempDir()); err != nil {
		t.Fatal(err)
	}
	if len(stored) != 1 || !strings.Contains(stored["/results"], `"reason":"collector 1.2.3 is not installed on the test runner"`) {
		t.Errorf("stored %q", stored)
	}
}
