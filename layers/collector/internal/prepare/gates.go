package prepare

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/headgate/headgate/layers/collector/internal/nearest"
	"github.com/headgate/headgate/layers/collector/internal/operation"
	"go.opentelemetry.io/collector/featuregate"
)

const (
	mostGates   = 20
	longestGate = 200
)

var gateID = regexp.MustCompile(`^[0-9A-Za-z.]+$`)

// Gate is a feature gate of a collector. Fixed is why it cannot be changed any more, or empty; Enabled then says to which
// value it is fixed.
type Gate struct {
	ID      string
	Fixed   string
	Enabled bool
}

// registeredGates are the feature gates of the collector in this program.
func registeredGates() []Gate {
	var gates []Gate
	featuregate.GlobalRegistry().VisitAll(func(gate *featuregate.Gate) {
		found := Gate{ID: gate.ID()}
		switch gate.Stage() {
		case featuregate.StageStable:
			found.Fixed, found.Enabled = "it is stable", true
		case featuregate.StageDeprecated:
			found.Fixed = "it is deprecated"
		}
		gates = append(gates, found)
	})
	return gates
}

// checkGates returns what the collector would say against the gates of a request. The collector itself ends at the first
// such gate.
func checkGates(given []string, collector Collector) *Problem {
	problem := func(format string, arguments ...any) *Problem {
		return &Problem{Field: "feature_gates", Message: fmt.Sprintf(format, arguments...)}
	}
	if len(given) > mostGates {
		return problem("there are %d feature gates: a run takes at most %d", len(given), mostGates)
	}
	seen := map[string]bool{}
	for _, one := range given {
		id := strings.TrimLeft(one, "+-")
		enabled := !strings.HasPrefix(one, "-")
		if len(one)-len(id) > 1 || len(one) > longestGate || !gateID.MatchString(id) {
			return problem("%s is not a feature gate: write its name, with + to enable or - to disable it, for example "+
				"+filelog.allowFileDeletion", shown(one))
		}
		if seen[id] {
			return problem("the feature gate %q is named twice", id)
		}
		seen[id] = true
		place := slices.IndexFunc(collector.Gates, func(gate Gate) bool { return gate.ID == id })
		if place < 0 {
			return problem("collector %s has no feature gate %q%s; `otelcol-contrib featuregate` lists its gates",
				collector.Version, id, nearest.DidYouMean(id, gateIDs(collector.Gates)))
		}
		if gate := collector.Gates[place]; gate.Fixed != "" && gate.Enabled != enabled {
			change := map[bool]string{true: "enabled", false: "disabled"}[enabled]
			return problem("the feature gate %q of collector %s cannot be %s, because %s: leave it out",
				id, collector.Version, change, gate.Fixed)
		}
	}
	return nil
}

const (
	profilesSignal = "profiles"
	profilesGate   = "service.profilesSupport"
)

// gates returns the feature gates that a run needs beside those of its request.
func (l *lifted) gates(asked []string, collector Collector) ([]string, *Problem) {
	needed := []string{}
	if !slices.ContainsFunc(l.pipelines, func(kept keptPipeline) bool { return signalOf(kept.id) == profilesSignal }) {
		return needed, nil
	}
	if !collector.TakesProfiles {
		return nil, &Problem{Field: "signal_type", Message: fmt.Sprintf(
			"collector %s has no receiver or no exporter of profiles with which a test could run them", collector.Version)}
	}
	if slices.Contains(asked, "-"+profilesGate) {
		return nil, &Problem{Field: "feature_gates", Message: fmt.Sprintf(
			"pipelines of profiles need the feature gate %s: leave out -%s", profilesGate, profilesGate)}
	}
	isAsked := slices.ContainsFunc(asked, func(gate string) bool { return strings.TrimPrefix(gate, "+") == profilesGate })
	isOpen := slices.ContainsFunc(collector.Gates, func(gate Gate) bool { return gate.ID == profilesGate && gate.Fixed == "" })
	if isOpen && !isAsked {
		needed = append(needed, "+"+profilesGate)
	}
	return needed, nil
}

// HandleGates answers `feature_gates {feature_gates}` with an empty result, after it has set the gates of this process. Its
// error is unknown_gate. They stay set, so such a process answers no other question.
func HandleGates(_ context.Context, env *operation.Environment, raw json.RawMessage) (any, error) {
	var request struct {
		Gates []string `json:"feature_gates"`
	}
	if err := json.Unmarshal(raw, &request); err != nil {
		return nil, operation.BadRequest("feature_gates takes feature_gates: %v", err)
	}
	collector := Collector{Gates: registeredGates(), Version: env.BuildInfo.Version}
	if problem := checkGates(request.Gates, collector); problem != nil {
		return nil, &operation.Error{Code: "unknown_gate", Message: problem.Message}
	}
	for _, one := range request.Gates {
		if err := featuregate.GlobalRegistry().Set(strings.TrimLeft(one, "+-"), !strings.HasPrefix(one, "-")); err != nil {
			return nil, &operation.Error{Code: "unknown_gate", Message: err.Error()}
		}
	}
	return struct{}{}, nil
}

func gateIDs(gates []Gate) []string {
	ids := make([]string, len(gates))
	for i, gate := range gates {
		ids[i] = gate.ID
	}
	return ids
}

// shown quotes a text, shortened.
func shown(text string) string {
	const longest = 60
	if runes := []rune(text); len(runes) > longest {
		text = string(runes[:longest]) + "…"
	}
	return fmt.Sprintf("%q", text)
}
