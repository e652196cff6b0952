package capture

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/open-telemetry/opamp-go/protobufs"
)

func TestABranchThatTheCollectorRefusesIsAFailureOfTheCaptureAndNotOfTheVersion(t *testing.T) {
	b := newBench(t)
	config := b.says(&protobufs.AgentToServer{}, asking(askedFor))
	message := status(config.ConfigHash, failed, "bad condition, token=abcdefgh")
	message.Health = &protobufs.ComponentHealth{LastError: "exited unexpectedly"}
	restored := b.says(message, asking(askedFor))

	if message.RemoteConfigStatus.Status != applied || message.Health.LastError != "" {
		t.Errorf("the service is told %v", message)
	}
	if string(restored.GetConfigHash()) != "v1" {
		t.Errorf("%v", restored)
	}
	if said := b.last(); said.Reason != byFailure || said.Error != "bad condition, [REDACTED]" {
		t.Errorf("%v", said)
	}
}

// An upgrade of the collector adds a file of its own to what the service assigns.
func TestABranchLeavesTheOtherFilesOfTheAssignedConfiguration(t *testing.T) {
	b := newBench(t)
	upgraded := offer("v2")
	upgraded.RemoteConfig.Config.ConfigMap["headgate-collector"] = &protobufs.AgentConfigFile{Body: []byte("service: {telemetry: }")}
	b.says(&protobufs.AgentToServer{}, upgraded)
	b.host.Written()
	b.says(status([]byte("v2"), applied, ""), &protobufs.ServerToAgent{})

	files := b.begins().Config.ConfigMap

	names := slices.Sorted(maps.Keys(files))
	// The supervisor merges them in this order, with the one without a name last.
	if !slices.Equal(names, []string{"", "headgate-collector", "text"}) || string(files["headgate-collector"].Body) != "service: {telemetry: }" {
		t.Errorf("%v", files)
	}
	restored := b.says(&protobufs.AgentToServer{}, asking(`{"capture":{"id":"cap_1","stop":true}}`))
	if names := slices.Sorted(maps.Keys(restored.Config.ConfigMap)); !slices.Equal(names, []string{"", "headgate-collector"}) {
		t.Errorf("%v", names)
	}
}

func TestABranchThatIsNotTakenUpIsOfferedAgainAndThenRemoved(t *testing.T) {
	b := newBench(t)
	first := b.says(&protobufs.AgentToServer{}, asking(strings.Replace(askedFor, `"seconds":60`, `"seconds":600`, 1)))
	b.clock = b.clock.Add(repeatAfter + time.Second)
	if again := b.polls(); !bytes.Equal(again.GetConfigHash(), first.ConfigHash) {
		t.Errorf("%v", again)
	}
	b.clock = b.clock.Add(longestStart)
	if restored := b.polls(); string(restored.GetConfigHash()) != "v1" {
		t.Errorf("%v", restored)
	}
	if said := b.last(); said.Reason != byFailure {
		t.Errorf("%v", said)
	}
}
