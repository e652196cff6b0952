package lint

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// lastRecordWins: https://github.com/open-telemetry/opentelemetry-collector-contrib/issues/39122, 36360, 32080
var lastRecordWins = &note{
	code: "last_record_wins",
	wayOut: "Give records with different values resources of their own first: the processor groupbyattrs, or " +
		"flatten_data of the transform processor for logs.",
	noted: []noteExample{
		{"log_statements", []string{`set(resource.attributes["service.name"], log.attributes["app"])`}},
		{"log_statements", []string{`set(resource.attributes["a"], Concat(["app", log.attributes["folder"]], "-"))`}},
		{"trace_statements", []string{
			`set(resource.attributes["a"], "x") where span.attributes["b"] == "y"`,
			`set(resource.attributes["a"], "z") where span.attributes["b"] != "y"`,
		}},
		{"metric_statements", []string{`set(resource.attributes["host.name"], datapoint.attributes["host"])`}},
		{"metric_statements", []string{`set(metric.name, datapoint.attributes["name"])`}},
		{"log_statements", []string{`set(scope.name, log.attributes["logger"])`}},
		{"log_statements", []string{`merge_maps(resource.attributes, log.attributes, "upsert")`}},
		{"log_statements", []string{inGroup("log", `attributes["a"] == "b"`, `set(resource.attributes["c"], attributes["d"])`)}},
	},
	silent: []noteExample{
		{"log_statements", []string{`set(log.attributes["service"], resource.attributes["service.name"])`}},
		{"log_statements", []string{`set(resource.attributes["a"], resource.attributes["b"])`}},
		{"log_statements", []string{`set(resource.attributes["a"], "b")`}},
		{"metric_statements", []string{`set(datapoint.attributes["name"], metric.name)`}},
		{"log_statements", []string{inGroup("log", `resource.attributes["a"] == "b"`, `set(resource.attributes["c"], "d")`)}},
		// One record that matches decides for all.
		{"trace_statements", []string{`set(resource.attributes["a"], "x") where span.attributes["b"] == "y"`}},
		{"log_statements", []string{inGroup("log", `attributes["a"] == "b"`, `set(resource.attributes["c"], "d")`)}},
		{"metric_statements", []string{`delete_key(resource.attributes, "process.pid") where IsMatch(metric.name, "^process")`}},
		{"log_statements", []string{`keep_keys(resource.attributes, ["a"]) where log.attributes["b"] == "c"`}},
		// The first one's note is for both.
		{"log_statements", []string{
			`set(resource.attributes["a"], log.attributes["b"])`, `set(resource.attributes["c"], log.attributes["d"])`,
		}},
	},
	once: true,
	check: func(e *parsedExpression) string {
		writing, target := e.written()
		level, known := e.level(target)
		if target == "" || !known || isDeletion.MatchString(writing.name) {
			return ""
		}
		for _, argument := range writing.arguments[1:] {
			if message := e.differing(target, level, argument); message != "" {
				return message
			}
		}
		if !e.competes(writing, target) {
			return ""
		}
		_, condition := e.where()
		differing := e.differing(target, level, condition)
		for _, condition := range e.conditions {
			differing = cmp.Or(differing, condition.differing(target, level, condition.tokens))
		}
		return differing
	},
}

// isDeletion matches the functions that take away: what one record takes away is gone, in whatever order they come.
var isDeletion = regexp.MustCompile(`^(?:delete|keep)_`)

// written returns the call that a statement is, and the path that it writes; "" for none.
func (e *parsedExpression) written() (call, string) {
	statement, _ := e.where()
	all := calls(statement)
	if e.kind != Statement || len(all) == 0 || len(all[0].arguments) == 0 {
		return call{}, ""
	}
	if targets := paths(all[0].arguments[0]); len(targets) > 0 {
		return all[0], targets[0]
	}
	return call{}, ""
}

// competes tells whether a statement before it in its group writes something else to the same target. Without one, a
// record that matches decides for all, whichever it is.
func (e *parsedExpression) competes(writing call, target string) bool {
	return slices.ContainsFunc(e.before, func(before *parsedExpression) bool {
		earlier, same := before.written()
		return before.group == e.group && same == target && before.wordsOf(earlier) != e.wordsOf(writing)
	})
}

// wordsOf returns what a call is written as.
func (e *parsedExpression) wordsOf(one call) string {
	words := one.name
	for _, argument := range one.arguments {
		words += "," + e.textOf(argument)
	}
	return words
}

// differing returns the message about a path among some tokens that differs between the things that share a target.
func (e *parsedExpression) differing(target string, written int, tokens []token) string {
	for _, path := range paths(tokens) {
		if level, known := e.level(path); known && level > written {
			return fmt.Sprintf("%s is shared by many %s, and %s differs between them: the last one wins",
				target, things[levelOf(path, e.context)], path)
		}
	}
	return ""
}

// levels orders the contexts: a resource has many scopes, a scope many records.
var levels = map[string]int{
	"resource": 1, "scope": 2, "instrumentation_scope": 2, "log": 3, "span": 3, "metric": 3, "profile": 3, "spanevent": 4,
	"datapoint": 4, "profilesample": 4,
}

var things = map[string]string{
	"scope": "scopes", "instrumentation_scope": "scopes", "log": "log records", "span": "spans", "metric": "metrics",
	"profile": "profiles", "spanevent": "span events", "datapoint": "data points", "profilesample": "samples",
}

// level returns how deep what a path belongs to is. A path without a context's name belongs to the expression's.
func (e *parsedExpression) level(path string) (int, bool) {
	level, known := levels[levelOf(path, e.context)]
	return level, known
}

func levelOf(path, context string) string {
	root := path
	if end := strings.IndexAny(path, ".["); end >= 0 {
		root = path[:end]
	}
	if _, known := levels[root]; known {
		return root
	}
	return context
}
