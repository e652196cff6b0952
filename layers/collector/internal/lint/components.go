package lint

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.opentelemetry.io/collector/pipeline"
	"go.opentelemetry.io/collector/pipeline/xpipeline"
)

// ottlComponent is a component whose configuration may hold OTTL: the fields that hold it, and what the component needs
// before it has read them all. Tests compare the table with the linked code: it must list every component whose package
// depends on pkg/ottl, with every field that reaches the parser.
type ottlComponent struct {
	section string
	kind    string
	fields  []ottlField
	// noFieldsReason is why a component whose package depends on pkg/ottl has no field that holds OTTL.
	noFieldsReason string
	// together is set if the component reads the expressions of a list together: it infers one context from all of them.
	together bool
	// complete adds the settings that the component requires beside its expressions.
	complete func(config map[string]any)
	// parse checks an expression without a component. If it is set, there is no factory to ask.
	parse func(*expression) error
	// start is set if the component reads its expressions only when it starts.
	start bool
}

// ottlField is a field of a configuration that holds OTTL. Its pattern separates keys by `.`; `*` stands for any key of
// a mapping, `[]` for the entries of a list.
type ottlField struct {
	pattern []string
	kind    Kind
	// context is the OTTL context of the field. If it is empty, the setting contextKey next to the field gives it.
	context    string
	contextKey string
	// defaultContext applies without that setting. If it is empty as well, the component infers the context.
	defaultContext string
	// create is the signal for which the component must be created before it reads the field. Without one, the
	// component's Validate reads the field.
	create pipeline.Signal
	// prefix is what the component puts before the expression when it passes it to the parser.
	prefix string
}

func (c ottlComponent) id() string { return c.section + "::" + c.kind }

func at(pattern string, kind Kind, context string) ottlField {
	return ottlField{pattern: strings.Split(pattern, "."), kind: kind, context: context}
}

func (f ottlField) readBy(creation pipeline.Signal) ottlField {
	f.create = creation
	return f
}

// ottlComponents lists the components of all the versions that are built here, under the names that they had in 0.139.0.
// A version may lack a component, and a field that came later.
var ottlComponents = []ottlComponent{
	{
		section: "processors", kind: "attributes",
		noFieldsReason: "include and exclude match by properties; the component uses OTTL only to carry that out",
	},
	{
		section: "processors", kind: "span",
		noFieldsReason: "include and exclude match by properties; the component uses OTTL only to carry that out",
	},
	{
		section: "processors", kind: "filter",
		together: true,
		complete: completeFilter,
		fields: append(conditionLists(), []ottlField{
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
		}...),
	},
	{
		section: "processors", kind: "logdedup",
		fields: []ottlField{at("conditions.[]", Condition, "log").readBy(pipeline.SignalLogs)},
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
		fields: []ottlField{
			{
				pattern: []string{"table", "[]", "condition"}, kind: Condition,
				contextKey: "context", defaultContext: "resource", create: pipeline.SignalLogs, prefix: "route() where ",
			},
			{
				pattern: []string{"table", "[]", "statement"}, kind: Statement,
				contextKey: "context", defaultContext: "resource", create: pipeline.SignalLogs,
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
		fields:   []ottlField{at("markers.[].rules.log_conditions.[]", Condition, "log")},
		complete: completeHoneycombMarker,
	},
}

// conditionLists are the filter's lists of conditions since 0.145: of conditions, or of groups with a context.
func conditionLists() []ottlField {
	var fields []ottlField
	for _, signal := range []string{"trace", "metric", "log", "profile"} {
		list := signal + "_conditions"
		fields = append(fields,
			ottlField{pattern: []string{list, "[]", "conditions", "[]"}, kind: Condition, contextKey: "context"},
			ottlField{pattern: []string{list, "[]"}, kind: Condition},
		)
	}
	return fields
}

// apart separates the groups of a list from the expressions outside of groups.
func apart(entries []any) (groups, alone []any) {
	for _, entry := range entries {
		if _, isText := entry.(string); isText {
			alone = append(alone, entry)
		} else {
			groups = append(groups, entry)
		}
	}
	return groups, alone
}

// completeFilter makes a group of the conditions outside of groups. The component refuses both in one list, but that
// says nothing about a condition.
func completeFilter(config map[string]any) {
	for key, value := range config {
		entries, isList := value.([]any)
		if !isList || !strings.HasSuffix(key, "_conditions") {
			continue
		}
		groups, alone := apart(entries)
		if len(alone) > 0 {
			groups = append(groups, map[string]any{"conditions": alone})
		}
		config[key] = groups
	}
}

func transformFields() []ottlField {
	var fields []ottlField
	for _, signal := range []string{"trace", "metric", "log", "profile"} {
		list := signal + "_statements"
		fields = append(fields,
			ottlField{pattern: []string{list, "[]", "statements", "[]"}, kind: Statement, contextKey: "context"},
			ottlField{pattern: []string{list, "[]", "conditions", "[]"}, kind: Condition, contextKey: "context"},
			ottlField{pattern: []string{list, "[]"}, kind: Statement},
		)
	}
	return fields
}

// completeTransform moves statements outside of groups behind the groups. The component refuses the other order, but
// the order says nothing about an expression.
func completeTransform(config map[string]any) {
	for key, value := range config {
		entries, _ := value.([]any)
		groups, alone := apart(entries)
		config[key] = append(groups, alone...)
	}
}

func tailSamplingFields() []ottlField {
	var fields []ottlField
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
// several kinds of expressions becomes one policy of each kind.
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

func countFields(keys ...string) []ottlField {
	var fields []ottlField
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

// sink is the pipeline to which every route leads.
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

func signalToMetricsFields() []ottlField {
	var fields []ottlField
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

// completeSignalToMetrics makes one metric of each kind that is configured: the component requires exactly one kind in
// each metric.
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
