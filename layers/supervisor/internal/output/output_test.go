package output

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestCause(t *testing.T) {
	for _, row := range []struct {
		name, said, cause string
	}{
		{
			"a start that failed",
			"Error: cannot start pipelines: port taken\n2026/11/21 01:00:00 collector server run finished with error: cannot start pipelines: port taken",
			"cannot start pipelines: port taken",
		},
		{
			"several errors in one",
			"x\ncollector server run finished with error: one; \ntwo",
			"one; \ntwo",
		},
		{
			"an address with a password",
			"x\ncollector server run finished with error: cannot reach \"https://ada:hunter2@db.example.com\": token: is required",
			"cannot reach \"https[REDACTED]db.example.com\": token: is required",
		},
		{"a crash", "2026\tinfo\tready\npanic: nil\n\ngoroutine 1", "panic: nil\n\ngoroutine 1"},
		{"errors of one that runs on", "2026\tinfo\ta\n2026\terror\tb\n2026\tinfo\tc", "2026\terror\tb"},
		{
			"a start after one that failed",
			"collector server run finished with error: port taken\n{\"msg\":\"Starting otelcol-contrib...\"}\n{\"msg\":\"ready\"}",
			"",
		},
		{
			"two starts that failed, the second before it started anything",
			"x Starting otelcol-contrib...\ncollector server run finished with error: one\ncollector server run finished with error: two",
			"two",
		},
		{
			"a start that has only begun to log",
			"collector server run finished with error: one; \ntwo\n{\"msg\":\"Internal metrics telemetry disabled\"}",
			"one; \ntwo",
		},
		{"nothing logged", "2026\tinfo\tready", ""},
		{"the last three of many errors", "\terror\ta\n\terror\tb\nx\n\terror\tc\n{\"level\":\"error\"}", "error\tb\n\terror\tc\n{\"level\":\"error\"}"},
		{"the beginning of a long crash", "fatal error: " + strings.Repeat("a\n", 20), "fatal error: " + strings.TrimSpace(strings.Repeat("a\n", 10))},
		{
			"an error in the first line after a start, the very first one",
			"x Starting otelcol-contrib...\ncollector server run finished with error: port taken", "port taken",
		},
		{
			"a start that follows a crash without a line between them",
			"panic: nil\nx Starting otelcol-contrib...\nSIGSEGV: in the new one", "SIGSEGV: in the new one",
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := cause(strings.Split(row.said, "\n")); got != row.cause {
				t.Errorf("got %q, want %q", got, row.cause)
			}
		})
	}
}

func TestACauseIsOfTheLastSecondsAndOfTheLastLines(t *testing.T) {
	o := &Output{to: &written{}}
	o.Line(finalError + "port taken")
	for range 2*maxLines - 1 {
		o.Line("")
	}
	if got := o.Cause(); got != "port taken" || len(o.lines) != 2*maxLines {
		t.Errorf("%q of %d lines", got, len(o.lines))
	}
	o.Line(strings.Repeat("x", maxLine))
	if got := o.Cause(); got != "" || len(o.lines) != maxLines || len(o.lines[maxLines-1].text) != 4*maxCause {
		t.Errorf("%q of %d lines, the last has %d bytes", got, len(o.lines), len(o.lines[maxLines-1].text))
	}
	for age, want := range map[time.Duration]string{recent - time.Second: "port taken", recent + time.Second: ""} {
		o.lines = []line{{time.Now().Add(-age), finalError + "port taken"}}
		if got := o.Cause(); got != want {
			t.Errorf("after %v: %q", age, got)
		}
	}
}

func TestALongCauseIsCut(t *testing.T) {
	if got := cause([]string{finalError + strings.Repeat("a", maxCause)}); got != strings.Repeat("a", maxCause) {
		t.Errorf("one that just fits has %d bytes", len(got))
	}
	if got := cause([]string{finalError + strings.Repeat("é", 5000)}); len(got) > maxCause+4 || !strings.HasSuffix(got, " ...") {
		t.Errorf("%d bytes, ending in %q", len(got), got[len(got)-8:])
	}
}

func TestOutputPassesOnWhatSeveralCollectorsWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agent.log")
	if err := os.WriteFile(path, []byte("an older file"), 0o600); err != nil {
		t.Fatal(err)
	}
	var passed written
	o, err := Open(path, &passed)
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	for _, said := range []string{"first\n", finalError + "port taken\n"} {
		// As the supervisor opens it for every start.
		file, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := file.WriteString(said); err != nil {
			t.Fatal(err)
		}
		_ = file.Close()
	}
	for end := time.Now().Add(10 * time.Second); o.Cause() == "" && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	if o.Cause() != "port taken" || passed.String() != "first\n"+finalError+"port taken\n" {
		t.Errorf("cause %q, passed %q", o.Cause(), passed.String())
	}
}

type written struct {
	mutex sync.Mutex
	text  strings.Builder
}

func (w *written) Write(p []byte) (int, error) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.text.Write(p)
}

func (w *written) String() string {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.text.String()
}
