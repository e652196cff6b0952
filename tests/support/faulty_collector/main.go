// Program faulty_collector speaks the check protocol and misbehaves on command: the fault injector of the supervisor's
// tests, and the intruder of the confinement's.
//
// It judges nothing. `check --fd N` answers each question as its `do` says; `validate --config F` does what F says.
// A text `crash/invalid` makes the first crash and the second call it invalid. `describe` is answered as the variant that
// it is built as.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

type question struct {
	ID       int64            `json:"id"`
	Op       string           `json:"op"`
	Do       string           `json:"do"`
	YAML     string           `json:"yaml"`
	Report   string           `json:"report"`
	Echo     any              `json:"echo"`
	RSSBytes int64            `json:"rss_bytes"`
	Seconds  float64          `json:"seconds"`
	Touch    []string         `json:"touch"`
	Try      map[string][]any `json:"try"`
}

func main() {
	switch os.Args[1] {
	case "check":
		descriptor, err := strconv.Atoi(os.Args[3])
		if err != nil {
			panic(err)
		}
		check(os.NewFile(uintptr(descriptor), "channel"))
	case "validate":
		validate(os.Args[3])
	}
}

const componentCrash = "panic: out of my depth\n\ngoroutine 7 [running]:\n" +
	"example.com/processor/exampleprocessor.begin(...)\n\t/x/processor/exampleprocessor/begin.go:7 +0x1"

func misbehave(what string) {
	switch what {
	case "crash":
		fmt.Fprintln(os.Stderr, "panic: on command\n\ngoroutine 1 [running]:")
		os.Exit(2)
	case "component_crash":
		fmt.Fprintln(os.Stderr, componentCrash)
		os.Exit(2)
	case "kill":
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		time.Sleep(time.Hour)
	case "stop":
		_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
		// Another thread may be the first to be stopped, and this one would answer.
		time.Sleep(time.Hour)
	case "hang":
		time.Sleep(time.Hour)
	case "grow":
		var held [][]byte
		for {
			held = append(held, make([]byte, 1<<24))
			for i := 0; i < 1<<24; i += 4096 {
				held[len(held)-1][i] = 1
			}
		}
	}
}

// variant is what a copy of this program is built as: one that crashes at its start, a release without `check`, a
// reduced build, one that describes itself wrongly, one that has a filter of system calls, which permits all, one that
// speaks another protocol (`protocol-2`), or one that was built before there was a number (`protocol-`).
var variant string

// lacking is the component that the reduced variant lacks.
var lacking = map[string]string{"kind": "receiver", "type": "hostmetrics", "module": "example.com/hostmetrics"}

func description() map[string]any {
	described := map[string]any{
		"version": "1.2.3", "distribution": "otelcol-contrib", "reduced": false, "lacks": []any{},
		"components": []any{}, "feature_gates": []any{},
	}
	switch variant {
	case "reduced":
		described["reduced"], described["lacks"] = true, []any{lacking}
	case "misdescribed":
		described["lacks"] = "nothing"
	}
	return described
}

func check(channel *os.File) {
	switch variant {
	case "crashes":
		misbehave("crash")
	case "sealed":
		seal()
	case "release":
		fail(`unknown command "check" for "otelcol-contrib"`)
	}
	send := func(bytes string) {
		if _, err := io.WriteString(channel, bytes); err != nil {
			os.Exit(0)
		}
	}
	protocol := `"protocol": 1, `
	if number, another := strings.CutPrefix(variant, "protocol-"); another {
		protocol = ""
		if number != "" {
			protocol = `"protocol": ` + number + `, `
		}
	}
	send(`{"ready": true, ` + protocol + `"version": "0.0.0", "ottl_version": "v0.0.0"}` + "\n")
	questions := bufio.NewReader(channel)
	for calls := 1; ; calls++ {
		line, err := questions.ReadBytes('\n')
		if err != nil {
			return
		}
		var asked question
		if err := json.Unmarshal(line, &asked); err != nil {
			panic(err)
		}
		what := asked.Do
		if what == "" {
			what, _, _ = strings.Cut(asked.YAML, "/")
		}
		before, priced, _ := strings.Cut(what, "-")
		if asked.Op == "price" && asked.Do == "" {
			// Asked before the plain command is: `crash-dear` is refused then, `crash-unpriced` crashes again.
			what = map[string]string{"dear": "too_costly", "unpriced": "crash"}[priced]
		} else if priced == "dear" || priced == "unpriced" {
			what = before
		}
		answer := map[string]any{"id": asked.ID, "rss_bytes": asked.RSSBytes, "calls": calls}
		if asked.Op == "crashed" {
			answer["result"] = map[string]any{"findings": crashes(asked.Report)}
			send(encoded(answer))
			continue
		}
		if what == "left_crash" && calls > 1 {
			what = "component_crash" // as if what an earlier question began were to crash now
		}
		misbehave(what)
		switch {
		case asked.Op == "describe":
			if variant == "undescribed" {
				answer["error"] = map[string]any{"code": "unknown_op", "message": "there is no operation"}
			} else {
				answer["result"] = description()
			}
			send(encoded(answer))
		case what == "component_not_in_build":
			answer["error"] = map[string]any{
				"code":    what,
				"message": "receivers::hostmetrics: this build of collector 0.158.0 lacks the receiver hostmetrics, which the official release has; the text was not checked",
			}
			send(encoded(answer))
		case what == "garbage":
			send("\x00 not json\n")
		case what == "list":
			send("[]\n")
		case what == "deep":
			send(`{"id": 1, "result": {"a": ` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + "}}\n")
		case what == "other_id":
			answer["id"], answer["result"] = -1, map[string]any{}
			send(encoded(answer))
		case what == "no_usage":
			send(encoded(map[string]any{"id": asked.ID, "result": map[string]any{}}))
		case what == "flood":
			for {
				send(strings.Repeat("x", 65536))
			}
		case what == "refused" || what == "panicked" || what == "too_costly":
			answer["error"] = map[string]any{"code": what, "message": "on command"}
			send(encoded(answer))
		case what == "exceeded":
			answer["error"] = map[string]any{"code": what, "message": "on command"}
			send(encoded(answer))
			os.Exit(3)
		case what == "not_utf8":
			send("{\"id\": 1, \"result\": {\"echo\": \"\xff\"}}\n")
		case strings.HasPrefix(what, "half"):
			send(`{"id": `)
			if what == "half" {
				os.Exit(0)
			}
			if what == "half_closed" {
				channel.Close()
			}
			time.Sleep(time.Hour)
		default:
			if what == "recovers" {
				fmt.Fprintln(os.Stderr, componentCrash)
			}
			if what == "chatter" {
				fmt.Fprint(os.Stderr, strings.Repeat("x", 1_000_000))
				fmt.Print(strings.Repeat(`{"id": 1, "result": {}}`+"\n", 1000))
			}
			time.Sleep(time.Duration(asked.Seconds * float64(time.Second)))
			answer["result"] = map[string]any{
				"touched": touched(asked.Touch), "tried": tried(asked.Try), "pid": os.Getpid(), "echo": asked.Echo,
				"environment": environment(),
			}
			send(encoded(answer))
		}
	}
}

// crashes has a finding for a report whose stack names a component.
func crashes(report string) []map[string]any {
	if !strings.Contains(report, "exampleprocessor") {
		return []map[string]any{}
	}
	return []map[string]any{{
		"message": report[:strings.IndexByte(report, '\n')], "component_path": "processors::example", "code": "crash",
		"line": 1, "column": 1,
	}}
}

func validate(path string) {
	content, err := os.ReadFile(path)
	if err != nil {
		panic(err)
	}
	text := string(content)
	if rest, isTry := strings.CutPrefix(text, "try "); isTry {
		var calls map[string][]any
		if err := json.Unmarshal([]byte(rest), &calls); err != nil {
			panic(err)
		}
		fail(encoded(tried(calls)))
	}
	what := text[strings.LastIndexByte(text, '/')+1:]
	misbehave(what)
	switch what {
	case "unknown":
		// In the collector's words.
		fail("failed to get config: cannot unmarshal the configuration: decoding failed due to the following error(s):\n\n" +
			`'receivers' unknown type: "hostmetrics" for id: "hostmetrics/a" (valid values: [otlp])` + "\n")
	case "invalid":
		fmt.Fprintln(os.Stderr, "Error: service: has no pipelines\nsecond line")
		fmt.Fprintln(os.Stderr, "2026/11/20 22:16:55 collector server run finished with error: service: has no")
		os.Exit(1)
	case "chatter":
		fmt.Fprintln(os.Stderr, strings.Repeat("x", 1_000_000))
	case "unreasoned":
		os.Exit(1)
	case "environment":
		fail(encoded(environment()))
	}
}

func fail(message string) {
	fmt.Fprint(os.Stderr, "Error: "+message)
	os.Exit(1)
}

func environment() map[string]string {
	variables := map[string]string{}
	for _, variable := range os.Environ() {
		name, value, _ := strings.Cut(variable, "=")
		variables[name] = value
	}
	return variables
}

func encoded(value any) string {
	line, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return string(line) + "\n"
}

// touched opens each file, to read what there is and to write what is not there, and says what came of it.
func touched(paths []string) []string {
	results := []string{}
	for _, path := range paths {
		flags := os.O_RDONLY
		if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
			flags = os.O_WRONLY | os.O_CREATE
		}
		file, err := os.OpenFile(path, flags, 0o600)
		if err == nil {
			file.Close()
			results = append(results, "opened")
			continue
		}
		results = append(results, outcome(errors.Unwrap(err)))
	}
	return results
}

func outcome(err error) string {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return errno.Error()
	}
	return fmt.Sprint(err)
}
