package compare

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
)

func TestOnlyWhatOneCollectorLogsWhileItStartsIsTold(t *testing.T) {
	line := func(level, message, fields string) string {
		return "2026-11-22T12:00:00.123Z\t" + level + "\tservice@v0.1/service.go:12\t" + message + "\t" +
			`{"resource": {"service.instance.id": "random"}` + fields + "}\n"
	}
	of := func(kind, id string) string {
		return `, "otelcol.component.id": "` + id + `", "otelcol.component.kind": "` + kind + `"`
	}
	ready := line("info", readyLine, "")
	left := line("info", "Starting", "") + line("warn", "same for both", "") + line("warn", "the old way", of("Processor", "batch")) + ready
	right := line("warn", "same for both", "") +
		line("warn", "x is deprecated", of("processor", "transform/a")) + line("warn", "x is deprecated", of("processor", "transform/a")) +
		line("warn", "our file", of("receiver", "file_log/sample")) + line("warn", "our recorder", of("exporter", "file/headgate_logs")) +
		line("error", "failed", `, "error": "no such thing"`+of("extension", "x")) + "2026-11-22T12:00:00Z\twarn\tplain\nnot a log line\n" +
		ready + line("warn", "while it runs", "")
	request, _ := json.Marshal(map[string]Start{
		"left": {Logs: []string{left, left}, Built: []Message{{"warn", "exporters::old", "renamed"}, {"info", "exporters::old", "hello"}}},
		"right": {
			Logs: []string{right + line("warn", `"tail" alias is deprecated; use "tail_file" instead`, "")}, Built: []Message{{"warn", "exporters::old", "renamed"}},
			Renamed: []Renamed{{"exporters::tail", "tail", "tail_file"}},
		},
	})
	answer, err := HandleStarts(context.Background(), request)
	if err != nil {
		t.Fatal(err)
	}
	told, _ := json.Marshal(answer)
	expected := `{"left":[{"level":"warn","component":"processors::batch","message":"the old way"}],` +
		`"right":[{"level":"error","component":"extensions::x","message":"failed: no such thing"},{"level":"warn","component":"","message":"plain"},` +
		`{"level":"warn","component":"exporters::tail","message":"\"tail\" alias is deprecated; use \"tail_file\" instead"},` +
		`{"level":"warn","component":"processors::transform/a","message":"x is deprecated"}],"same":2,"left_out":0}`
	if string(told) != expected {
		t.Errorf("\n%s\nexpected\n%s", told, expected)
	}
}

func TestManyMessagesAreCounted(t *testing.T) {
	var log strings.Builder
	for i := range 300 {
		log.WriteString("2026-11-22T12:00:00Z\twarn\t" + strings.Repeat("x", i*10) + "\t{\n")
		log.WriteString("2026-11-22T12:00:00Z\twarn\t" + strings.Repeat("x", i) + "\n")
	}
	request, _ := json.Marshal(map[string]Start{"right": {Logs: []string{log.String()}}})
	answer, err := HandleStarts(context.Background(), request)
	if err != nil {
		t.Fatal(err)
	}
	if told := answer.(*Starts); len(told.Right) != maxMessages || told.LeftOut != 250 {
		t.Errorf("%d told, %d left out", len(told.Right), told.LeftOut)
	}
}
