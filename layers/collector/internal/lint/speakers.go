package lint

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.opentelemetry.io/collector/pipeline"
	"go.opentelemetry.io/collector/pipeline/xpipeline"
)

// speaker is a component that speaks OTTL: where in its configuration, and how far it has to go before it has read all
// of it. Tests compare the table with the linked code: every component whose package depends on pkg/ottl has to stand
// here, and every one of its fields that reaches the parser.
type speaker struct {
	section string
	kind    string
	fields  []field
	// silence says why a component that is built with pkg/ottl has no field for it.
	silence string
	// together tells that the expressions of a list are read together: a context is inferred from all of them.
	together bool
	// complete adds what the component asks for beside its expressions.
	complete func(config map[string]any)
	// parse judges an expression itself; there is no component to ask then.
	parse func(*expression) error
	// start tells that it reads its expressions only when it starts.
	start bool
}

// field is a place of a configuration that holds OTTL. Its pattern separates keys by `.`; `*` stands for any key of a
// mapping, `[]` for the entries of a list.
type field struct {
	pattern []string
	kind    Kind
	// context is the context of the field. When it is empty, the key contextKey beside the field gives it.
	context    string
	contextKey string
	// otherwise is the context without that key; when it is empty as well, the component infers it.
	otherwise string
	// create is the signal for which the component has to be created before it reads the field. Without one its Validate
	// reads it.
	create pipeline.Signal
	// prefix is what the component puts before the expression when it gives it to the parser.
	prefix string
}

func (s speaker) id() string { return s.section + "::" + s.kind }

func at(pattern string, kind Kind, context string) field {
	return field{pattern: strings.Split(pattern, "."), kind: kind, context: context}
}

func (f field) readBy(creation pipeline.Signal) field {
	f.create = creation
	return f
}

// speakers are those of contrib v0.139.0.
var speakers = []speaker{
	{
		section: "processors", kind: "attributes",
		silence: "include and exclude match by properties; OTTL is only how the component carries that out",
	},
	{
		section: "processors", kind: "span",
		silence: "include and exclude match by properties; OTTL is only how the component carries that out",
	},
	{
		section: "processors", kind: "filter",
		fields: []field{
			at("traces.resource.[]", Condition, "resource").readBy(pipeline.SignalTraces),
			at("traces.span.[]", Condition, "span"),
			at("traces.spanevent.[]", Condition, "spanevent"),
			at("metrics.resource.[]", Condition, "resource"),
			at("metrics.metric.[]", Condition, "metric"),
			at("metrics.datapoint.[]", Condition, "datapoint"),
			at("logs.resource.[]", Condition, "resource").readBy(pipeline.SignalLogs),
			at("logs.log_record.[]", Condition, "log"),
			at("profiles.resource.[]", Condition, "resource").readBy(xpipeline.SignalProfiles),
			at("profiles.profile.[]", Condition, "profile"),
		},
	},
	{
		section: "processors", kind: "logdedup",
		fields: []field{at("conditions.[]", Condition, "log").readBy(pipeline.SignalLogs)},
	},
	{
		section: "processors", kind: "tail_sampling",
		fields:   tailSamplingFields(),
		complete: completeTailSampling,
		start:    true,
	},
	{
		section: "processors", kind: "transform",
		fields:   transformFields(),
		together: true,
		complete: completeTransform,
	},
	{
		section: "connectors", kind: "count",
		fields: countFields("spans", "spanevents", "metrics", "datapoints", "logs", "profiles"),
	},
	{
		section: "connectors", kind: "sum",
		fields:   countFields("spans", "spanevents", "metrics", "datapoints", "logs"),
		complete: completeSum,
	},
	{
		section: "connectors", kind: "routing",
		fields: []field{
			{
				pattern: []string{"table", "[]", "condition"}, kind: Condition,
				contextKey: "context", otherwise: "resource", create: pipeline.SignalLogs, prefix: "route() where ",
			},
			{
				pattern: []string{"table", "[]", "statement"}, kind: Statement,
				contextKey: "context", otherwise: "resource", create: pipeline.SignalLogs,
			},
		},
		complete: completeRouting,
	},
	{
		section: "connectors", kind: "signaltometrics",
		fields:   signalToMetricsFields(),
		complete: completeSignalToMetrics,
	},
	{
		section: "exporters", kind: "honeycombmarker",
		fields:   []field{at("markers.[].rules.log_conditions.[]", Condition, "log")},
		complete: completeHoneycombMarker,
	},
}

func transformFields() []field {
	var fields []field
	for _, signal := range []string{"trace", "metric", "log", "profile"} {
		list := signal + "_statements"
		fields = append(fields,
			field{pattern: []string{list, "[]", "statements", "[]"}, kind: Statement, contextKey: "context"},
			field{pattern: []string{list, "[]", "conditions", "[]"}, kind: Condition, contextKey: "context"},
			field{pattern: []string{list, "[]"}, kind: Statement},
		)
	}
	return fields
}

// completeTransform puts statements that stand in the list by themselves behind those in groups. The component refuses
// the other order, but that is no matter of the expressions.
func completeTransform(config map[string]any) {
	for key, value := range config {
		entries, _ := value.([]any)
		var groups, alone []any
		for _, entry := range entries {
			if _, isText := entry.(string); isText {
				alone = append(alone, entry)
			} else {
				groups = append(groups, entry)
			}
		}
		config[key] = append(groups, alone...)
	}
}

func tailSamplingFields() []field {
	var fields []field
	for _, policy := range []string{
		"policies.[]",
		"policies.[].and.and_sub_policy.[]",
		"policies.[].drop.drop_sub_policy.[]",
		"policies.[].composite.composite_sub_policy.[]",
		"policies.[].composite.composite_sub_policy.[].and.and_sub_policy.[]",
	} {
		fields = append(fields,
			at(policy+".ottl_condition.span.[]", Condition, "span").readBy(pipeline.SignalTraces),
			at(policy+".ottl_condition.spanevent.[]", Condition, "spanevent").readBy(pipeline.SignalTraces),
		)
	}
	return fields
}

// completeTailSampling names the policies and gives each the type that makes the component read it. A policy that holds
// several kinds of expressions is made one of each.
func completeTailSampling(config map[string]any) {
	config["num_traces"] = 1
	config["policies"] = typedPolicies(config["policies"])
}

var subPolicies = map[string]string{
	"and": "and_sub_policy", "drop": "drop_sub_policy", "composite": "composite_sub_policy",
}

func typedPolicies(list any) []any {
	var typed []any
	policies, _ := list.([]any)
	for _, entry := range policies {
		policy, _ := entry.(map[string]any)
		for _, kind := range slices.Sorted(maps.Keys(policy)) {
			content := policy[kind]
			if key, nests := subPolicies[kind]; nests {
				within, _ := content.(map[string]any)
				content = map[string]any{key: typedPolicies(within[key])}
			}
			typed = append(typed, map[string]any{"name": fmt.Sprint("policy ", len(typed)), "type": kind, kind: content})
		}
	}
	return typed
}

var countContexts = map[string]string{
	"spans": "span", "spanevents": "spanevent", "metrics": "metric", "datapoints": "datapoint", "logs": "log",
	"profiles": "profile",
}

func countFields(keys ...string) []field {
	var fields []field
	for _, key := range keys {
		fields = append(fields, at(key+".*.conditions.[]", Condition, countContexts[key]))
	}
	return fields
}

func completeSum(config map[string]any) {
	for _, metrics := range config {
		named, _ := metrics.(map[string]any)
		for _, metric := range named {
			if fields, isMapping := metric.(map[string]any); isMapping {
				fields["source_attribute"] = "attribute"
			}
		}
	}
}

// sink is the pipeline that routes lead to.
var sink = pipeline.NewIDWithName(pipeline.SignalLogs, "sink")

func completeRouting(config map[string]any) {
	table, _ := config["table"].([]any)
	for _, entry := range table {
		if route, isMapping := entry.(map[string]any); isMapping {
			route["pipelines"] = []any{sink.String()}
		}
	}
}

var signalToMetricsKinds = []string{"histogram", "exponential_histogram", "sum", "gauge"}

func signalToMetricsFields() []field {
	var fields []field
	for _, key := range []string{"spans", "datapoints", "logs", "profiles"} {
		context := countContexts[key]
		fields = append(fields, at(key+".[].conditions.[]", Condition, context))
		for _, kind := range signalToMetricsKinds {
			fields = append(fields, at(key+".[]."+kind+".value", ValueExpression, context))
		}
		for _, kind := range signalToMetricsKinds[:2] {
			fields = append(fields, at(key+".[]."+kind+".count", ValueExpression, context))
		}
	}
	return fields
}

// completeSignalToMetrics makes one metric of each kind that is there, for the component wants exactly one in each.
func completeSignalToMetrics(config map[string]any) {
	for key, list := range config {
		var whole []any
		entries, _ := list.([]any)
		for _, entry := range entries {
			metric, _ := entry.(map[string]any)
			conditions, conditional := metric["conditions"]
			for _, kind := range signalToMetricsKinds {
				value, present := metric[kind].(map[string]any)
				if !present {
					continue
				}
				if _, valued := value["value"]; !valued {
					value["value"] = "1"
				}
				whole = append(whole, map[string]any{"name": "metric", kind: value})
			}
			if conditional {
				whole = append(whole, map[string]any{
					"name": "metric", "conditions": conditions, "sum": map[string]any{"value": "1"},
				})
			}
		}
		config[key] = whole
	}
}

func completeHoneycombMarker(config map[string]any) {
	config["api_key"] = "key"
	markers, _ := config["markers"].([]any)
	for _, entry := range markers {
		if marker, isMapping := entry.(map[string]any); isMapping {
			marker["type"] = "marker"
		}
	}
}
