package tell

import (
	"strings"
	"testing"
)

const (
	itsResource = `"resource": {"service.instance.id": "bdf9d748", "service.name": "otelcol-contrib"}`
	at          = "2026-11-22T11:19:15.801Z"
)

func TestALogIsForAReader(t *testing.T) {
	trace := "example.com/x.(*Y).run\n\texample.com/x@v0.139.0/y.go:75\nmain.main\n\t/x/main.go:1 +0x1f\n"
	failed := "\terror\ty.go:75\tfailed\t{" + itsResource + `, "error": "e"}` + "\n" + trace
	crashed := "panic: nil\n[signal SIGSEGV: code=0x1]\n\ngoroutine 75 [running]:\nx.export(...)\n\tx@v1/w.go:54\n\n"
	odd := `"a":"\ud800", "a": 1, "b": NaN}`
	for name, one := range map[string]struct{ written, told string }{
		"the resource is left out": {
			at + "\tinfo\tservice.go:222\tStarting\t{" + itsResource + "}\n", at + "\tinfo\tservice.go:222\tStarting\n",
		},
		"other fields stay": {
			at + "\tinfo\tm\tReady\t{" + itsResource + `, "NumCPU": 2, "path": "ä"}` + "\n",
			at + "\tinfo\tm\tReady\t" + `{"NumCPU": 2, "path": "ä"}` + "\n",
		},
		"fields stay as they were written": {
			at + "\tinfo\tm\t{" + itsResource + ", " + odd + "\n", at + "\tinfo\tm\t{" + odd + "\n",
		},
		"what matters comes first": {
			at + "\tinfo\ta\n" + at + "\twarn\tb\nError: c\n" + at + "\tdebug\td\n" + at + "\terror\te\n",
			at + "\twarn\tb\nError: c\n" + at + "\terror\te\n" + at + "\tinfo\ta\n" + at + "\tdebug\td\n",
		},
		"traces are left out and repetitions counted": {
			"2026-11-22T11:19:10Z" + failed + "2026-11-22T11:19:11Z" + failed + "2026-11-22T11:19:12Z" + failed,
			"2026-11-22T11:19:10Z\terror\ty.go:75\tfailed\t{\"error\": \"e\"} (3 times)\n",
		},
		"the goroutine that crashed stays": {
			crashed + "goroutine 1 gp=0x1 m=0 [select]:\nmain.run()\n\tm.go:1 +0x2\n\ngoroutine 2 [chan send]:\ny.y()\n\ty.go:3\n", crashed,
		},
		"nothing":                    {"", ""},
		"words":                      {"words\n", "words\n"},
		"words without an end":       {"words", "words\n"},
		"a line end that is none":    {"words\u2028in one line\n", "words\u2028in one line\n"},
		"fields that are not JSON":   {at + "\tinfo\tm\t{not JSON\n", at + "\tinfo\tm\t{not JSON\n"},
		"a resource without an end":  {at + "\tinfo\tm\t" + resource + "{\n", at + "\tinfo\tm\t" + resource + "{\n"},
		"a resource that nests deep": {at + "\tinfo\tm\t" + resource + strings.Repeat("[", 30_000) + "\n", at + "\tinfo\tm\t" + resource + strings.Repeat("[", 30_000) + "\n"},
		"a resource without text":    {at + "\tinfo\t{" + itsResource + "}\n", at + "\tinfo\t\n"},
	} {
		if told := Log(one.written); told != one.told {
			t.Errorf("%s:\n%q, expected\n%q", name, told, one.told)
		}
	}
	if !Crashed(crashed) || Crashed(at+"\tinfo\tx\tno panic: here\n") {
		t.Error("a crash was not told from other words")
	}
}

func TestWhatARunSays(t *testing.T) {
	for name, one := range map[string]struct {
		request     Request
		stderr, why string
	}{
		"never executed": {Request{Reason: "no room", Stderr: "x", Notes: []string{"n"}}, "The test was never executed: no room", "no room"},
		"in error": {
			Request{Executed: true, Reason: "it ended", Cause: "of\tit", Proposal: "leave\nit out", Notes: []string{"a  note"}, Stderr: "words\n"},
			"headgate: it ended: of\tit\nheadgate: note: leave it out\nheadgate: note: a note\nwords\n", "it ended: of\tit",
		},
		"ran": {
			Request{
				Executed: true, Ran: true, Stderr: "words", Noted: "headgate: note: kept\n", Records: map[string]int{"logs": 1, "metrics": 0},
				Rules: []Note{{"silent", ""}, {"loud", "an int"}}, NothingOut: "unheard",
			},
			"headgate: note: rule 'loud': an int\nheadgate: note: kept\nwords\n", "",
		},
		"nothing came out": {
			Request{Executed: true, Ran: true, Records: map[string]int{"logs": 0}, NothingOut: "why"},
			nothingCameOut + mostOften + "\nheadgate: note: why\n", "",
		},
		"nothing came out, and a note names what drops records": {
			Request{
				Executed: true, Ran: true, Records: map[string]int{"logs": 0},
				Noted: "headgate: note: processors::probabilistic_sampler drops log records without a trace ID\n",
			},
			nothingCameOut + "\nheadgate: note: processors::probabilistic_sampler drops log records without a trace ID\n", "",
		},
		"not counted": {Request{Executed: true, Ran: true}, "", ""},
		"crashed when it was over": {
			Request{Executed: true, Ran: true, Stderr: "panic: late\n"},
			"headgate: note: the collector crashed after its shutdown, when the output was complete: a component sent records to an exporter that was gone\npanic: late\n", "",
		},
	} {
		if answer := Run(one.request); answer.Stderr != one.stderr || answer.Why != one.why {
			t.Errorf("%s: %+v", name, answer)
		}
	}
}
