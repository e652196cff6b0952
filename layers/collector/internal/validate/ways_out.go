package validate

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/headgate/headgate/layers/collector/internal/source"
	"go.yaml.in/yaml/v3"
)

// waysOut are words for messages whose cause is certain. They take the groups of the pattern.
var waysOut = []struct {
	message *regexp.Regexp
	words   string
}{
	{regexp.MustCompile(`^environment variable "(\d+)" has invalid name`), "to keep ${%s} as a text, write $${%[1]s}"},
	{regexp.MustCompile(`^environment variable "([A-Za-z_]\w*):([^-"][^"]*)" has invalid name`), "a default is written ${env:%s:-%s}"},
	{regexp.MustCompile(`^environment variable "([A-Z_][A-Z0-9_]*)-([^"]+)" has invalid name`), "a default is written ${env:%s:-%s}"},
	{regexp.MustCompile(`^environment variable "\{[^"]*" has invalid name`), "this is an expression of a template: render it, and check what comes out"},
	{regexp.MustCompile(`unrecognized prefix$`), "a field is written attributes.NAME, body.NAME or resource.NAME"},
	{regexp.MustCompile(`expected a map or struct, got "slice"`), "a mapping is expected here, not a list"},
	{regexp.MustCompile("\u00a0"), "this has a no-break space (U+00A0): write a blank"},
}

// withWayOut adds the way out to a message, if one is known.
func withWayOut(message string) string {
	for _, way := range waysOut {
		match := way.message.FindStringSubmatch(message)
		if match == nil {
			continue
		}
		groups := make([]any, 0, len(match))
		for _, group := range match[1:] {
			groups = append(groups, group)
		}
		return message + "; " + fmt.Sprintf(way.words, groups...)
	}
	return message
}

// contextsOf are the contexts of statements and conditions, by the signal that the key of their list begins with.
var contextsOf = map[string]string{
	"trace":   "span, spanevent, resource or scope",
	"metric":  "metric, datapoint, resource or scope",
	"log":     "log, resource or scope",
	"profile": "profile, resource or scope",
}

var (
	// quoted matches what a message quotes, and what components name without quotes.
	quoted = regexp.MustCompile("\"([^\"\\n]+)\"|'([^'\\s]+)'|`([^`\\n]+)`|(?:^|: )(\\S+) is not a valid choice|" +
		`operator ([\w/-]+) does not exist|^unknown context (\w+)|(?m:^ \| ([^.].*)$)`)
	// aroundCause matches the names of the component that come before the cause, and those of the choices behind it.
	aroundCause = regexp.MustCompile(`^failed to create "[^"]+" \w+[^:]*: |: \{"operator_id".*$|(?i:\b(?:must be|one of|either|expected)\b.*$)`)
	duplicate   = regexp.MustCompile(`\b(?:multiple|already exists|duplicate)\b`)
)

// quotedValues places errors about a whole component, or a part of it, at the value that their message quotes: the only one,
// or the second of two that must differ.
func (r *report) quotedValues() {
	var within map[string][]scalar
	for i := range r.result.Errors {
		finding := &r.result.Errors[i]
		path := finding.path
		isContext := strings.HasPrefix(finding.Message, "unknown context ")
		if isContext && len(path) > 2 {
			signal, _, _ := strings.Cut(path[2], "_")
			if contexts := contextsOf[signal]; contexts != "" {
				finding.Message += "; its name here is " + contexts
			}
			path = path[:2]
		}
		isTwice := duplicate.MatchString(finding.Message)
		ofService := len(path) > 0 && path[0] == "service" && !isTwice
		if node := r.document.Node(path...); len(path) < 2 || ofService || node == nil || source.Resolve(node).Kind == yaml.ScalarNode ||
			!isContext && !slices.Contains([]Code{InvalidValue, Other, PipelineGraph}, finding.Code) {
			continue
		}
		if within == nil {
			within = r.scalarsOfComponents()
		}
		var names []string
		for _, match := range quoted.FindAllStringSubmatch(aroundCause.ReplaceAllString(finding.Message, ""), maxCauses) {
			names = append(names, strings.Join(match[1:], ""))
		}
		matching := slices.DeleteFunc(slices.Clone(within[componentOf(path)]), func(one scalar) bool {
			isInPattern := strings.Contains(finding.Message, "error parsing regexp") && slices.ContainsFunc(names, func(name string) bool {
				return len(name) > 1 && strings.Contains(one.node.Value, name)
			})
			return !isWithin(one.path, path) || !isInPattern && !slices.Contains(names, one.node.Value)
		})
		switch {
		case len(matching) == 1 && !isTwice:
			finding.place(matching[0])
		case len(matching) == 2 && isTwice && lastName(matching[0].path) == lastName(matching[1].path):
			finding.place(matching[1])
		}
	}
}

func (r *report) scalarsOfComponents() map[string][]scalar {
	within := map[string][]scalar{}
	for _, one := range r.scalarsBelow(nil, "") {
		component := componentOf(one.path)
		within[component] = append(within[component], one)
	}
	return within
}

// colonWithoutBlank matches a key and its value that YAML reads as one text.
var colonWithoutBlank = regexp.MustCompile(`^\s*(?:- +)?[A-Za-z_][\w/]*:[^\s/:]`)

// colons says of errors about a text in place of a mapping that its colon lacks a blank.
func (r *report) colons() {
	for i := range r.result.Errors {
		finding := &r.result.Errors[i]
		node := r.document.Node(finding.path...)
		if finding.Code == WrongType && strings.Contains(finding.Message, "map") && node != nil && node.Kind == yaml.ScalarNode &&
			node.Style == 0 && colonWithoutBlank.MatchString(node.Value) {
			finding.Message += "; a blank must follow the colon"
		}
	}
}

// otherTexts are configurations of other programs, by keys that only they have together.
var otherTexts = []struct {
	keys []string
	what string
}{
	{[]string{"scrape_configs"}, "this text is a configuration of Prometheus: it belongs under receivers::prometheus::config"},
	{[]string{"server", "agent"}, "this text is a configuration of the OpAMP supervisor"},
	{[]string{"file_format", "tracer_provider"}, ofSDK},
	{[]string{"file_format", "meter_provider"}, ofSDK},
	{[]string{"file_format", "logger_provider"}, ofSDK},
	{[]string{"pipeline", "service"}, "this text is a configuration of Fluent Bit"},
	{[]string{"pipeline", "parsers"}, "this text is a configuration of Fluent Bit"},
	{[]string{"sources", "sinks"}, "this text is a configuration of Vector"},
	{[]string{"clients", "scrape_configs"}, "this text is a configuration of Promtail"},
}

const ofSDK = "this text is a configuration of an OpenTelemetry SDK"

// otherText says of which program a text is, "" if it may be the collector's.
func otherText(top map[string]any) string {
	what := ""
	for _, other := range otherTexts {
		if !slices.ContainsFunc(other.keys, func(key string) bool { return top[key] == nil }) {
			what = other.what
		}
	}
	if pipeline, _ := top["pipeline"].(map[string]any); strings.HasSuffix(what, "Fluent Bit") && pipeline["inputs"] == nil {
		return ""
	}
	return what
}

// ofAlloy matches the first block of a text in the language of Grafana Alloy.
var ofAlloy = regexp.MustCompile(`(?m)^(?:otelcol|prometheus|loki|discovery|pyroscope)\.[\w.]+ "[^"\n]*" \{`)

const alloy = "; this text is a configuration of Grafana Alloy, which has a language of its own"
