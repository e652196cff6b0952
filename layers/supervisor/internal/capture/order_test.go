package capture

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/open-telemetry/opamp-go/protobufs"
)

func TestACaptureWaitsUntilWhatIsAssignedRuns(t *testing.T) {
	b := newBench(t)
	answer := asking(askedFor)
	answer.RemoteConfig = offer("v2").RemoteConfig
	if got := b.says(&protobufs.AgentToServer{}, answer); string(got.ConfigHash) != "v2" {
		t.Errorf("%v", got)
	}
	if got := b.says(status([]byte("v2"), applying, ""), asking(askedFor)); got != nil {
		t.Errorf("it begins while a version is applied: %v", got)
	}
	b.host.Written()
	restart := asking(askedFor)
	restart.Command = &protobufs.ServerToAgentCommand{}
	if got := b.says(status([]byte("v2"), applied, ""), restart); got != nil {
		t.Errorf("it begins beside a command: %v", got)
	}
	if got := b.says(&protobufs.AgentToServer{}, asking(askedFor)); got == nil {
		t.Error("it does not begin")
	}
}

func TestACaptureThatCannotBeginIsToldOnceWithTheReasonAndChangesNothing(t *testing.T) {
	for name, row := range map[string]struct {
		change func(b *bench)
		order  string
		reason string
	}{
		"a pipeline that the text lacks": {
			func(*bench) {}, strings.Replace(askedFor, `"pipeline":"logs"`, `"pipeline":"logs/absent"`, 1), "logs/absent",
		},
		"a storage that takes no file": {
			func(b *bench) { _ = os.MkdirAll(filepath.Join(b.folder, knownFile, "held"), 0o700) }, askedFor, "file exists",
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			row.change(b)
			for range 2 {
				if config := b.says(&protobufs.AgentToServer{}, asking(row.order)); config != nil {
					t.Fatalf("the supervisor gets %v", config)
				}
			}
			said := b.last()
			if len(b.told) != 1 || said.ID != "cap_1" || said.Reason != byFailure || !strings.Contains(said.Error, row.reason) {
				t.Errorf("%d times told, the last is %+v", len(b.told), said)
			}
		})
	}
}

func TestACaptureThatIsStoppedOrForgottenBeforeItBeganNeverBegins(t *testing.T) {
	for name, stop := range map[string]*protobufs.ServerToAgent{
		"stopped": asking(`{"capture":{"id":"cap_1","stop":true}}`), "forgotten": {},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.says(&protobufs.AgentToServer{}, offer("v2"))
			b.says(status([]byte("v2"), applying, ""), asking(askedFor))
			b.says(&protobufs.AgentToServer{}, stop)
			b.host.Written()
			b.says(status([]byte("v2"), applied, ""), &protobufs.ServerToAgent{})
			if config := b.polls(); config != nil || b.captures.phase != none {
				t.Errorf("it begins: %v", config)
			}
			if len(b.told) > 0 != (name == "stopped") {
				t.Errorf("told %+v", b.told)
			}
		})
	}
}

func TestAnOrderThatIsNotOneIsLeftOut(t *testing.T) {
	for _, data := range []string{
		`{"capture":{"id":"../x"}}`, `{"capture":{"id":"cap_1"}}`, `{"capture":7}`, `{}`, `[`,
		strings.Replace(askedFor, `"records":2`, `"records":101`, 1), strings.Replace(askedFor, `"seconds":60`, `"seconds":601`, 1),
		strings.Replace(askedFor, `"log",`, `"span",`, 1), askedFor + strings.Repeat(" ", largestOrder),
	} {
		if order, _ := readOrder([]byte(data)); order != nil {
			t.Errorf("%.200s is taken", data)
		}
	}
}
