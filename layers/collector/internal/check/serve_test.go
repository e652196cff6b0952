package check

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/headgate/headgate/layers/collector/internal/operation"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/otelcol"
)

type channel struct {
	io.Reader
	io.Writer
}

// answers serves the requests with a few handlers and returns the lines that came back.
func answers(t *testing.T, requests io.Reader) []map[string]any {
	t.Helper()
	handlers := map[string]operation.Handler{
		"echo": func(_ context.Context, _ *operation.Environment, request json.RawMessage) (any, error) {
			return request, nil
		},
		"refuse": func(context.Context, *operation.Environment, json.RawMessage) (any, error) {
			return nil, operation.BadRequest("no")
		},
		"fail": func(context.Context, *operation.Environment, json.RawMessage) (any, error) {
			return nil, errors.New("broken")
		},
		"panic": func(context.Context, *operation.Environment, json.RawMessage) (any, error) { panic("oh") },
	}
	env := &operation.Environment{BuildInfo: component.BuildInfo{Version: "1.2.3"}}
	reader, writer := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- Serve(context.Background(), channel{requests, writer}, env, handlers, func() int64 { return 1 })
		writer.Close()
	}()
	var lines []map[string]any
	scanner := bufio.NewScanner(reader)
	for scanner.Scan() {
		var line map[string]any
		if err := json.Unmarshal(scanner.Bytes(), &line); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, line)
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	return lines
}

func TestItSaysThatItIsReadyAndEndsWithTheChannel(t *testing.T) {
	lines := answers(t, strings.NewReader(""))

	if len(lines) != 1 || lines[0]["ready"] != true || lines[0]["version"] != "1.2.3" || lines[0]["protocol"] != 1.0 {
		t.Error(lines)
	}
}

func TestAnswersAndErrors(t *testing.T) {
	for name, row := range map[string]struct{ request, code string }{
		"an answer":            {`{"id": 7, "op": "echo"}`, ""},
		"an error with a code": {`{"id": 7, "op": "refuse"}`, "bad_request"},
		"another error":        {`{"id": 7, "op": "fail"}`, "failed"},
		"a panic":              {`{"id": 7, "op": "panic"}`, "panicked"},
		"an unknown operation": {`{"id": 7, "op": "nothing"}`, "unknown_op"},
		"no JSON":              {`hello`, "bad_request"},
		"an empty line":        {``, "bad_request"},
	} {
		t.Run(name, func(t *testing.T) {
			lines := answers(t, strings.NewReader(row.request+"\n"+`{"id": 8, "op": "echo"}`+"\n"))
			if len(lines) != 3 {
				t.Fatal(lines)
			}
			failure, _ := lines[1]["error"].(map[string]any)
			if code, _ := failure["code"].(string); code != row.code {
				t.Errorf("code %q, not %q", code, row.code)
			}
			if lines[2]["id"] != 8.0 || lines[2]["result"] == nil || lines[2]["calls"] != 2.0 || lines[2]["rss_bytes"] == 0.0 {
				t.Errorf("then %v", lines[2])
			}
		})
	}
}

func TestALineThatIsTooLongIsReadAway(t *testing.T) {
	long := io.LimitReader(endless{}, maxRequest+1)

	lines := answers(t, io.MultiReader(long, strings.NewReader("\n"+`{"id": 8, "op": "echo"}`+"\n")))

	failure, _ := lines[1]["error"].(map[string]any)
	if failure["code"] != "too_large" || lines[2]["id"] != 8.0 {
		t.Error(lines)
	}
}

type endless struct{}

func (endless) Read(into []byte) (int, error) {
	for i := range into {
		into[i] = 'x'
	}
	return len(into), nil
}

func TestGarbageOfAQuestionIsCollectedAfterItsAnswer(t *testing.T) {
	var left []byte
	litter := func(context.Context, *operation.Environment, json.RawMessage) (any, error) {
		for range 16 {
			left = make([]byte, 4<<20)
		}
		return len(left), nil
	}
	// The runtime itself collects nothing.
	debug.SetGCPercent(-1)
	t.Cleanup(func() { debug.SetGCPercent(100) })
	requests, asks := io.Pipe()
	reader, writer := io.Pipe()
	env := &operation.Environment{BuildInfo: component.BuildInfo{Version: "1.2.3"}}
	go func() {
		handlers := map[string]operation.Handler{"litter": litter}
		_ = Serve(context.Background(), channel{requests, writer}, env, handlers, func() int64 { return 1 })
	}()
	lines := bufio.NewScanner(reader)
	lines.Scan()
	runtime.GC()
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	after := before

	_, _ = io.WriteString(asks, `{"id": 1, "op": "litter"}`+"\n")
	lines.Scan()

	for tries := 0; after.NumGC == before.NumGC; tries++ {
		if tries == 600 {
			t.Fatal("nothing was collected")
		}
		time.Sleep(rest)
		runtime.ReadMemStats(&after)
	}
	_ = asks.Close()
}

func TestFactoriesOfTheNextQuestionAreMadeAhead(t *testing.T) {
	var made atomic.Int64
	factories := func() (otelcol.Factories, error) {
		made.Add(1)
		return otelcol.Factories{}, nil
	}
	idle, env := newIdle(&operation.Environment{Factories: factories})
	for tries := 0; len(idle.factories) == 0; tries++ {
		if tries == 600 {
			t.Fatal("nothing was made")
		}
		time.Sleep(rest)
	}
	idle.work() // nothing to make

	// Each question has factories of its own, and those of the first are ready.
	for range 2 {
		if _, err := env.Factories(); err != nil {
			t.Fatal(err)
		}
	}
	if count := made.Load(); count != 2 {
		t.Errorf("factories were made %d times for two questions", count)
	}
}
