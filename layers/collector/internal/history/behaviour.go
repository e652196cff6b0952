package history

import (
	"regexp"
	"slices"
	"strings"
)

// Behaviour is a change of what a component does with the same settings, which neither collector tells by itself.
type Behaviour struct {
	section, kind string
	// since is the first release that does otherwise.
	since string
	// of is the word among its settings that the change is about, WithoutSettings for none, "" for all settings.
	of string
	// Message says what changes and what to do, Source where that is announced.
	Message, Source string
}

const contribIssues = "https://github.com/open-telemetry/opentelemetry-collector-contrib/issues/"

// WithoutSettings stands for a component without settings among the words of Words.
const WithoutSettings = "-"

// Words are the words among a component's settings that changes of behaviour are about, with what the settings match as JSON.
var Words = map[string]*regexp.Regexp{
	WithoutSettings: regexp.MustCompile(`^(?:null|\{\})$`),
	"invert_match":  regexp.MustCompile(`"invert_match"`),
	// With upper_threshold_ms, threshold_ms was exclusive before.
	"latency": regexp.MustCompile(`"latency":\{"threshold_ms":[^,}]*\}`),
	"combine": regexp.MustCompile(`"combine"`),
}

// behaviours are those of the common components. Source: the changelogs of the releases.
var behaviours = []Behaviour{
	{"connectors", "count", "0.143.0", WithoutSettings,
		"without settings it puts out its default metrics, where older versions put out none", contribIssues + "41769"},
	{"processors", "tail_sampling", "0.144.0", "invert_match",
		"a policy with invert_match no longer keeps out traces that another policy samples: use a policy of type drop", contribIssues + "44132"},
	{"processors", "tail_sampling", "0.157.0", "latency",
		"threshold_ms of a latency policy is exclusive: a trace that lasts exactly that long is not sampled any more", contribIssues + "49593"},
	{"processors", "metricstransform", "0.155.0", "combine",
		"combine is refused without new_name and aggregation_type", contribIssues + "48871"},
	{"processors", "memory_limiter", "0.155.0", "",
		"its own metrics are called otelcol_processor_memory_limiter_*", "https://github.com/open-telemetry/opentelemetry-collector/issues/11203"},
}

// Behaviours returns what a component does otherwise on a later version than before, in the order of the releases.
// `words` are those of Words among its settings. Underscores of a type do not count: releases rename types.
func Behaviours(section, kind string, words []string, from, to string) []Behaviour {
	var changed []Behaviour
	for _, one := range behaviours {
		if one.section == section && plain(one.kind) == plain(kind) && (one.of == "" || slices.Contains(words, one.of)) &&
			IsBefore(from, one.since) && !IsBefore(to, one.since) {
			changed = append(changed, one)
		}
	}
	return changed
}

// Since is the first release that does otherwise.
func (b Behaviour) Since() string { return b.since }

func plain(kind string) string { return strings.ReplaceAll(kind, "_", "") }
