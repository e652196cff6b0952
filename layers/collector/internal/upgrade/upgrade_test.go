package upgrade

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

const most = 6 << 20

// reported has count of each entry, up to 100 findings, and 12 gates with count components each.
func reported(count int, path, yaml string) *Report {
	at := 1
	findings := repeat(Finding{strings.Repeat("m", 100), path, "other", &at, &at}, min(count, maxFindings))
	renamed := Renamed{path, 1, 1, "a", "b"}
	verdict := Verdict{Errors: findings, Warnings: findings}
	stage := "Alpha"
	report := &Report{
		From: "1.0.0", To: "2.0.0", Verdict: Verdicts{verdict, verdict}, NewErrors: findings, NewWarnings: findings,
		Renames: repeat(renamed, count), NotRenamed: repeat(NotRenamed{renamed, "it is taken"}, count),
		Deprecations: repeat(Deprecation{path, 1, 1, "old", true}, count),
		Defaults:     repeat(ChangedDefault{path, 1, 1, "a", json.RawMessage("1"), json.RawMessage("2")}, count),
		NotChecked:   repeat(NotChecked{Lacking{path, 1, 1, "receiver", "a"}, "2.0.0"}, count),
		ProposedYAML: &yaml,
	}
	for n := range 12 {
		report.FeatureGates = append(report.FeatureGates, FeatureGate{fmt.Sprint("a.", n), &stage, nil, "What", repeat(path, count)})
	}
	return report
}

func repeat[E any](one E, count int) []E {
	list := make([]E, count)
	for i := range list {
		list[i] = one
	}
	return list
}

var name = "receivers::prometheus/" + strings.Repeat("k", 1000)

func TestAReportThatFitsStaysAsItIs(t *testing.T) {
	report := reported(1, name, "a: b")
	report.fit()
	if !reflect.DeepEqual(report, reported(1, name, "a: b")) {
		t.Errorf("it was changed: %v", report)
	}
}

func TestAReportThatDoesNotFitIsCutAndSaysSo(t *testing.T) {
	for _, path := range []string{name, strings.Repeat(`"\é`, 300), strings.Repeat("x", 500_000)} {
		report := reported(2000, path, "a: b")
		report.fit()
		written, err := json.Marshal(report)
		if err != nil {
			t.Fatal(err)
		}
		if size := escaped(written); size >= most || !report.Incomplete || len(report.NewErrors) == 0 {
			t.Errorf("%.20s: %d bytes, incomplete %v, %d new errors", path, size, report.Incomplete, len(report.NewErrors))
		}
	}
}

func TestTheDefaultsGoFirst(t *testing.T) {
	report, whole := reported(100, name, "a: b"), reported(100, name, "a: b")
	report.Defaults = repeat(report.Defaults[0], 6000)
	report.fit()
	if count := len(report.Defaults); count == 0 || count == 6000 {
		t.Errorf("%d defaults are left of 6000", count)
	}
	report.Defaults, report.Incomplete = whole.Defaults, false
	if !reflect.DeepEqual(report, whole) {
		t.Error("something else was cut")
	}
}

func TestThenTheComponentsOfGatesAndNoGate(t *testing.T) {
	report, whole := reported(100, name, "a: b"), reported(100, name, "a: b")
	report.Defaults, whole.Defaults = nil, nil
	for range 4 {
		report.FeatureGates = append(report.FeatureGates, reported(100, name, "").FeatureGates...)
	}
	report.fit()
	if len(report.FeatureGates) != 60 || !reflect.DeepEqual(report.FeatureGates[0], whole.FeatureGates[0]) || len(report.FeatureGates[59].Components) != 0 {
		t.Errorf("%d gates, the last with %d components", len(report.FeatureGates), len(report.FeatureGates[59].Components))
	}
	report.FeatureGates, report.Incomplete = whole.FeatureGates, false
	if !reflect.DeepEqual(report, whole) {
		t.Error("something else was cut")
	}
}

func TestTheProposedTextGoesWhole(t *testing.T) {
	report := reported(1, name, strings.Repeat(`"`, 3_000_000))
	report.fit()
	if report.ProposedYAML != nil || !report.Incomplete || len(report.Renames) != 1 {
		t.Error("a part of it is left, or more is gone")
	}
}

func TestAMessageIsReadInOldWords(t *testing.T) {
	words := renamed{"tail_file": "tail", "é_file": "é"}
	for told, want := range map[string]string{
		"tail_file": "tail", "tail_files tail_file.": "tail_files tail.", "é_file, 配tail_file": "é, 配tail_file", "": "",
	} {
		if read := words.in(told); read != want {
			t.Errorf("%q: %q instead of %q", told, read, want)
		}
	}
}

// What a hostile text of 1 MB makes the collectors say must be compared in time that grows with its size.
func TestTheLargestAnswersAreCompared(t *testing.T) {
	side := func(value int) string {
		var components, errors []string
		for n := range 30_000 {
			components = append(components, fmt.Sprintf(
				`{"component_path":"receivers::tail/%d","type":"tail","renamed_to":"tail_file","defaults":{"%s":%d},"logs":[{"level":"warn","message":"old %d"}]}`,
				n, strings.Repeat("k", 100), value, value))
			errors = append(errors, fmt.Sprintf(`{"message":"%d [\"a\" \"b\"] %d","component_path":"receivers::tail/%d","code":"other"}`, n, value, n/2))
		}
		var gates []string
		for n := range 500 {
			gates = append(gates, fmt.Sprintf(`{"id":"receiver.tail.x%d","stage":"%d"}`, n, value))
		}
		return fmt.Sprintf(`{"version":"%d.0.0","inspection":{"components":[%s],"errors":[%s]},"description":{"components":[{"kind":"receiver","type":"tail"}],"feature_gates":[%s]}}`,
			value, strings.Join(components, ","), strings.Join(errors, ","), strings.Join(gates, ","))
	}
	answer, err := Handle(context.Background(), json.RawMessage(fmt.Sprintf(`{"from":%s,"to":%s}`, side(1), side(2))))
	if err != nil {
		t.Fatal(err)
	}
	report := answer.(*Report)
	written, _ := json.Marshal(report)
	if escaped(written) >= most || !report.Incomplete || len(report.FeatureGates) != 500 {
		t.Errorf("%d bytes, incomplete %v, %d gates", escaped(written), report.Incomplete, len(report.FeatureGates))
	}
}

func TestARequestThatIsNotUnderstoodIsRefused(t *testing.T) {
	if _, err := Handle(context.Background(), json.RawMessage(`{"from":[]}`)); err == nil {
		t.Error("it was answered")
	}
}
