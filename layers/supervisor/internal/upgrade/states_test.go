package upgrade

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/headgate/headgate/layers/supervisor/internal/programs"
	"google.golang.org/protobuf/proto"
)

func TestAHostThatKeepsNoProgramsPassesEverythingOn(t *testing.T) {
	u, offered, status := &Upgrades{settings: Settings{Able: true, Installed: "/installed"}}, config("a", "a: 1\n"), statusOf([]byte("a"), failed, "x")
	u.Refuse([]byte("a"), "reason")
	u.Answered(status)
	if u.Able() || u.UnderWay() || u.Failed([]byte("a")) || u.Running() != "" || u.Current() != "" || u.Program() != "/installed" {
		t.Errorf("%v %v %q %q %q", u.Able(), u.UnderWay(), u.Running(), u.Current(), u.Program())
	}
	if u.Offered(offered, &programs.Target{Version: "2.0.0"}) != offered || u.Back(offered, "id") != offered || u.Waiting() != nil {
		t.Error("an offer is changed")
	}
	if u.Outgoing(status) != status {
		t.Error("a status is changed")
	}
	if _, runs := u.Environment("MARK"); runs {
		t.Error("a process is known")
	}
}

func TestAChangeIsUnderWayUntilTheSupervisorCallsItApplied(t *testing.T) {
	b := newBench(t)
	if b.upgrades.UnderWay() || b.upgrades.Able() != true {
		t.Error("under way before it begins")
	}
	b.upgrades.Offered(config("new", "a: 1\n"), b.target("2.0.0"))
	if !b.upgrades.UnderWay() {
		t.Error("not under way while the program is fetched")
	}
	b.waits()
	b.upgrades.Waiting()
	if !b.upgrades.UnderWay() {
		t.Error("not under way while the supervisor tries it")
	}
	b.upgrades.Outgoing(statusOf([]byte("other"), applied, ""))
	if !b.upgrades.UnderWay() {
		t.Error("what is said of another configuration ends it")
	}
	b.upgrades.Outgoing(statusOf([]byte("new"), applied, ""))
	if b.upgrades.UnderWay() {
		t.Error("under way after it was applied")
	}
}

func TestThatAnOfferIsPreparedIsSaidUntilItWasAnswered(t *testing.T) {
	b := newBench(t)
	b.upgrades.Offered(config("new", "a: 1\n"), b.target("2.0.0"))
	for range 2 {
		b.says(b.upgrades.Outgoing(nil), "new", applying, "")
		b.upgrades.Answered(nil)
		b.upgrades.Answered(statusOf([]byte("other"), applied, ""))
	}
	said := b.upgrades.Outgoing(nil)
	b.upgrades.Answered(said)
	if again := b.upgrades.Outgoing(nil); again != nil {
		t.Errorf("it is said again: %v", again)
	}
	// What the supervisor says meanwhile is of the configuration before.
	b.says(b.upgrades.Outgoing(statusOf([]byte("old"), applied, "")), "new", applying, "")
}

func TestTheConfigurationBeforeRunsWithTheCollectorThatItRanWith(t *testing.T) {
	b := newBench(t)
	target := b.target("2.0.0")
	b.swapped("new", "2.0.0")
	b.upgrades.Outgoing(statusOf([]byte("new"), applied, ""))
	b.upgrades.Offered(config("old", "a: 1\n"), &programs.Target{Installed: true})
	if back := b.upgrades.Back(config("new", "a: 1\n"), target.ID()); !strings.Contains(string(back.Config.ConfigMap[entry].Body), "2.0.0") {
		t.Errorf("%v", back)
	}
	b.runs(target.ID())
	unknown := config("older", "a: 1\n")
	if back := b.upgrades.Back(unknown, strings.Repeat("a", 64)); !proto.Equal(back, unknown) {
		t.Errorf("a program that is gone: %v", back)
	}
	b.runs(target.ID())
	b.upgrades.Back(config("old", "a: 1\n"), "")
	b.runs("")
	// The one that ran before is still here, as is the one that runs.
	if offered := b.upgrades.Offered(config("new", "a: 1\n"), target); offered == nil {
		t.Error("the program that ran before was removed")
	}
}

func TestTheVersionIsThatOfTheProcessAndNotOfWhatIsToBeStarted(t *testing.T) {
	const collector = "/bin/sleep"
	upgrades, _, err := Open(Settings{Able: true, Storage: t.TempDir(), Installed: collector, InstalledVersion: "1.0.0"})
	if err != nil {
		t.Fatal(err)
	}
	upgrades.store.State.Current, upgrades.store.State.Known["next"] = "next", programs.Known{Version: "2.0.0"}
	for want, arguments := range map[string][]string{
		"1.0.0": {"--", "60"},
		// It validates, or lists something.
		"2.0.0": {"60"},
	} {
		command := exec.Command(collector, arguments...)
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		if version := upgrades.Running(); version != want {
			t.Errorf("%q: %s, not %s", arguments, version, want)
		}
		_ = command.Process.Kill()
		_ = command.Wait()
	}
	if version := upgrades.Running(); version != "2.0.0" {
		t.Errorf("without a process: %s", version)
	}
}

func TestOfWhatACollectorPrintsTheEndIsKept(t *testing.T) {
	for _, row := range []struct{ before, more, want int }{{0, 0, 0}, {0, mostSaid, mostSaid}, {1, mostSaid, mostSaid}, {mostSaid, 1, mostSaid}} {
		said := &last{}
		_, _ = said.Write([]byte(strings.Repeat("a", row.before)))
		n, err := said.Write([]byte(strings.Repeat("b", row.more)))
		if err != nil || n != row.more || len(said.text) != row.want || strings.Count(string(said.text), "b") != row.more {
			t.Errorf("%+v: %d written, %d kept, %v", row, n, len(said.text), err)
		}
	}
}
