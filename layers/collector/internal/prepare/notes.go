package prepare

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/headgate/headgate/layers/collector/internal/validate"
)

// wait is a setting for how long a component holds what it has taken.
type wait struct {
	section, kind, key string
	// usual is the component's default, as in every version so far.
	usual time.Duration
	// flushes is set for components that put out what they hold when they stop.
	flushes bool
}

// knownWaits are the components that hold records for a time, by the name of their type without underscores: releases
// rename types (`groupbytrace`, `group_by_trace`).
var knownWaits = []wait{
	{"processors", "batch", "timeout", 200 * time.Millisecond, true},
	{"processors", "logdedup", "interval", 10 * time.Second, true},
	{"processors", "interval", "interval", time.Minute, false},
	{"processors", "tailsampling", "decision_wait", 30 * time.Second, false},
	{"processors", "groupbytrace", "wait_duration", time.Second, false},
	{"connectors", "spanmetrics", "metrics_flush_interval", time.Minute, false},
	{"connectors", "servicegraph", "metrics_flush_interval", time.Minute, false},
	{"connectors", "grafanacloud", "metrics_flush_interval", time.Minute, false},
}

// UsualWait returns how long a component of a section waits by default, and the setting that changes it. It is not
// known for components that hold nothing.
func UsualWait(section, kind string) (key string, usual time.Duration, known bool) {
	place := slices.IndexFunc(knownWaits, func(one wait) bool { return one.section == section && one.kind == plainType(kind) })
	if place < 0 {
		return "", 0, false
	}
	return knownWaits[place].key, knownWaits[place].usual, true
}

// longestRun is what duration_seconds may be at most.
const longestRun = time.Minute

// waits returns a note on each component of the run that holds records for as long as the run lasts, or longer.
func waits(resolved map[string]any, seconds int) []string {
	var notes []string
	duration := time.Duration(seconds) * time.Second
	for _, known := range knownWaits {
		for _, id := range names(section(resolved, known.section)) {
			if seconds == 0 || plainType(id) != known.kind {
				continue
			}
			held, ok := known.of(section(resolved, known.section)[id])
			if !ok || held < duration {
				continue
			}
			text := fmt.Sprintf("%s::%s waits %s (%s), and the run lasts %s: ", known.section, id, held, known.key, duration)
			switch {
			case known.flushes:
				text += "what it holds comes out when the run stops"
			case held < longestRun:
				text += "what it holds at the end may not come out; raise duration_seconds above the wait"
			default:
				text += "what it holds at the end may not come out; a run lasts 60 s at most, so lower the wait for the test"
			}
			notes = append(notes, text)
		}
	}
	return notes
}

// of returns how long a component with this configuration waits. It is not ok if the collector will not take the value.
func (w wait) of(configuration any) (held time.Duration, ok bool) {
	settings, isMapping := configuration.(map[string]any)
	if !isMapping || settings[w.key] == nil {
		return w.usual, true
	}
	switch value := settings[w.key].(type) {
	case string:
		held, err := time.ParseDuration(value)
		return held, err == nil
	case int:
		// The collector takes a number for nanoseconds.
		return time.Duration(value), true
	}
	return 0, false
}

// foundNothing returns a note on each resource detection, which has nothing to detect in a run but the variables given.
func foundNothing(resolved map[string]any, env map[string]string) []string {
	var notes []string
	for _, id := range names(section(resolved, "processors")) {
		if plainType(id) != "resourcedetection" {
			continue
		}
		detectors := []string{"env"}
		if settings, isMapping := section(resolved, "processors")[id].(map[string]any); isMapping {
			if given := ids(settings["detectors"]); len(given) > 0 {
				detectors = given
			}
		}
		nothing := slices.DeleteFunc(detectors, func(name string) bool {
			_, given := env["OTEL_RESOURCE_ATTRIBUTES"]
			// The sandbox has a system, if not that of a host.
			return name == "system" || name == "env" && given
		})
		if len(nothing) == 0 {
			continue
		}
		notes = append(notes, fmt.Sprintf(
			"processors::%s finds nothing in a run for %s: there is no network and no host; say what it would add, "+
				`"attributes": {%q: {"host.name": "..."}} (--attribute %s:host.name=...), or put it into the resource of the sample`,
			id, strings.Join(nothing, ", "), id, id))
	}
	return notes
}

// mostNumbers bounds the notes on variables.
const mostNumbers = 20

// numbers returns a note on each variable that becomes another number. The number is not told: the value may be a secret.
func numbers(changed []validate.ChangedVariable) []string {
	var notes []string
	for _, one := range changed[:min(mostNumbers, len(changed))] {
		notes = append(notes, fmt.Sprintf(
			"%s at %s is read as a number, as in YAML, where 010 is 8; %s", one.What, one.Path, one.WayOut))
	}
	return notes
}

// plainType returns the type of a component's id without underscores.
func plainType(id string) string { return strings.ReplaceAll(typeOf(id), "_", "") }
