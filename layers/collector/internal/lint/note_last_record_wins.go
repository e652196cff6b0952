package lint

import (
	"fmt"
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
		{"trace_statements", []string{`set(resource.attributes["a"], "x") where span.attributes["b"] == "y"`}},
		{"metric_statements", []string{`set(resource.attributes["host.name"], datapoint.attributes["host"])`}},
		{"metric_statements", []string{`set(metric.name, datapoint.attributes["name"])`}},
		{"log_statements", []string{`set(scope.name, log.attributes["logger"])`}},
		{"log_statements", []string{`merge_maps(resource.attributes, log.attributes, "upsert")`}},
		{"log_statements", []string{inGroup("log", `attributes["a"] == "b"`, `set(resource.attributes["c"], "d")`)}},
	},
	silent: []noteExample{
		{"log_statements", []string{`set(log.attributes["service"], resource.attributes["service.name"])`}},
		{"log_statements", []string{`set(resource.attributes["a"], resource.attributes["b"])`}},
		{"log_statements", []string{`set(resource.attributes["a"], "b")`}},
		{"metric_statements", []string{`set(datapoint.attributes["name"], metric.name)`}},
		{"log_statements", []string{inGroup("log", `resource.attributes["a"] == "b"`, `set(resource.attributes["c"], "d")`)}},
	},
	check: func(e *parsedExpression) string {
		statement, condition := e.where()
		all := calls(statement)
		if e.kind != Statement || len(all) == 0 || len(all[0].arguments) == 0 {
			return ""
		}
		targets := paths(all[0].arguments[0])
		if len(targets) == 0 {
			return ""
		}
		written, known := e.level(targets[0])
		if !known {
			return ""
		}
		for _, argument := range append(all[0].arguments[1:], condition) {
			if message := e.differing(targets[0], written, argument); message != "" {
				return message
			}
		}
		for _, condition := range e.conditions {
			if message := condition.differing(targets[0], written, condition.tokens); message != "" {
				return message
			}
		}
		return ""
	},
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
