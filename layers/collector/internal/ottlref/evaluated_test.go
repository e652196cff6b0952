package ottlref

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/headgate/headgate/layers/collector/generation"
	"github.com/headgate/headgate/layers/collector/internal/contexts"
	"github.com/headgate/headgate/layers/collector/internal/standard"
	"github.com/headgate/headgate/layers/collector/internal/vocabulary"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/ottl/contexts/ottldatapoint"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/ottl/contexts/ottllog"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/ottl/contexts/ottlmetric"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/ottl/contexts/ottlprofile"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/ottl/contexts/ottlprofilesample"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/ottl/contexts/ottlresource"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/ottl/contexts/ottlscope"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/ottl/contexts/ottlspan"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/ottl/contexts/ottlspanevent"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.uber.org/zap"
)

// evaluator evaluates OTTL on telemetry of one context.
type evaluator struct {
	value   func(expression string) (any, error)
	execute func(statement string) error
}

// withKey is a path with a key in the place of any.
func withKey(path string) string { return strings.Replace(path, `[""]`, `["key"]`, 1) }

func evaluating[K any](t *testing.T, parserOf standard.NewParser[K], thing K) evaluator {
	t.Helper()
	parser, err := parserOf(contexts.Functions[K](), component.TelemetrySettings{Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	return evaluator{
		value: func(expression string) (any, error) {
			parsed, err := parser.ParseValueExpression(expression)
			if err != nil {
				return nil, err
			}
			return parsed.Eval(context.Background(), thing)
		},
		execute: func(text string) error {
			parsed, err := parser.ParseStatement(text)
			if err == nil {
				_, _, err = parsed.Execute(context.Background(), thing)
			}
			return err
		},
	}
}

// samples are telemetry of each context; a path has a value in one of them.
func samples(t *testing.T) map[string][]evaluator {
	t.Helper()
	all := map[string][]evaluator{}
	logs := plog.NewResourceLogs()
	record := logs.ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
	record.Body().SetStr("text")
	structured := logs.ScopeLogs().At(0).LogRecords().AppendEmpty()
	structured.Body().SetEmptyMap()
	for _, one := range []plog.LogRecord{record, structured} {
		all["log"] = append(all["log"], evaluating(t, ottllog.NewParser, generation.NewLog(logs, logs.ScopeLogs().At(0), one)))
	}
	all["resource"] = []evaluator{evaluating(t, ottlresource.NewParser, generation.NewResource(logs.Resource(), logs))}
	all["scope"] = []evaluator{evaluating(t, ottlscope.NewParser,
		generation.NewScope(logs.ScopeLogs().At(0).Scope(), logs.Resource(), logs.ScopeLogs().At(0), logs))}

	traces := ptrace.NewResourceSpans()
	span := traces.ScopeSpans().AppendEmpty().Spans().AppendEmpty()
	span.TraceState().FromRaw("key=value")
	all["span"] = []evaluator{evaluating(t, ottlspan.NewParser, generation.NewSpan(traces, traces.ScopeSpans().At(0), span))}
	all["spanevent"] = []evaluator{evaluating(t, ottlspanevent.NewParser,
		generation.NewSpanEvent(traces, traces.ScopeSpans().At(0), span, span.Events().AppendEmpty()))}

	metrics := pmetric.NewResourceMetrics()
	scope := metrics.ScopeMetrics().AppendEmpty()
	for _, fill := range []func(pmetric.Metric) any{
		func(m pmetric.Metric) any { return m.SetEmptySum().DataPoints().AppendEmpty() },
		func(m pmetric.Metric) any { return m.SetEmptyGauge().DataPoints().AppendEmpty() },
		func(m pmetric.Metric) any { return m.SetEmptyHistogram().DataPoints().AppendEmpty() },
		func(m pmetric.Metric) any { return m.SetEmptyExponentialHistogram().DataPoints().AppendEmpty() },
		func(m pmetric.Metric) any { return m.SetEmptySummary().DataPoints().AppendEmpty() },
	} {
		metric := scope.Metrics().AppendEmpty()
		point := fill(metric)
		all["metric"] = append(all["metric"], evaluating(t, ottlmetric.NewParser, generation.NewMetric(metrics, scope, metric)))
		all["datapoint"] = append(all["datapoint"],
			evaluating(t, ottldatapoint.NewParser, generation.NewDataPoint(metrics, scope, metric, point)))
	}

	profiles := pprofile.NewProfiles()
	profiles.Dictionary().StringTable().Append("")
	resource := profiles.ResourceProfiles().AppendEmpty()
	profile := resource.ScopeProfiles().AppendEmpty().Profiles().AppendEmpty()
	all["profile"] = []evaluator{evaluating(t, ottlprofile.NewParser,
		generation.NewProfile(resource, resource.ScopeProfiles().At(0), profile, profiles.Dictionary()))}
	all["profilesample"] = []evaluator{evaluating(t, ottlprofilesample.NewParser, generation.NewProfileSample(
		resource, resource.ScopeProfiles().At(0), profile, pprofile.NewSample(), profiles.Dictionary()))}
	return all
}

// typeOf is the name of a value's type in the table.
func typeOf(value any) string {
	switch value.(type) {
	case string:
		return "string"
	case int64:
		return "int"
	case float64:
		return "float"
	case bool:
		return "bool"
	case pcommon.Map:
		return "map"
	case []byte, pcommon.ByteSlice:
		return "bytes"
	case time.Time:
		return "time"
	case []int64, []uint64, pcommon.UInt64Slice, pcommon.Int64Slice, []int32, pcommon.Int32Slice:
		return "list of int"
	case []float64, pcommon.Float64Slice:
		return "list of float"
	case []time.Time:
		return "list of time"
	case pcommon.TraceID:
		return "TraceID"
	case pcommon.SpanID:
		return "SpanID"
	case pprofile.ProfileID:
		return "ProfileID"
	case ptrace.SpanEventSlice:
		return "span events"
	case ptrace.SpanLinkSlice:
		return "span links"
	case ptrace.Status:
		return "status"
	case pmetric.ExemplarSlice:
		return "exemplars"
	case pmetric.NumberDataPointSlice, pmetric.HistogramDataPointSlice, pmetric.ExponentialHistogramDataPointSlice,
		pmetric.SummaryDataPointSlice:
		return "data points"
	case pmetric.ExponentialHistogramDataPointBuckets:
		return "buckets"
	case pmetric.SummaryDataPointValueAtQuantileSlice:
		return "quantiles"
	case pprofile.ValueType:
		return "value type"
	case pprofile.SampleSlice:
		return "samples"
	}
	return fmt.Sprintf("%T", value)
}

// others are values of each type that the samples do not have, as OTTL writes them.
var others = map[string]string{
	"string": `"other"`, "int": "3", "float": "2.5", "bool": "true", "map": `{"key": "other"}`, "any": `"other"`,
	"time": `Time("2020-01-02", "%Y-%m-%d")`, "TraceID": "TraceID(0x0102030405060708090a0b0c0d0e0f10)",
	"SpanID": "SpanID(0x0102030405060708)", "ProfileID": "ProfileID(0x0102030405060708090a0b0c0d0e0f10)", "bytes": "0x01",
}

// otherOf are those of paths that take only some values of their type.
var otherOf = map[string]string{
	"trace_id.string": `"0102030405060708090a0b0c0d0e0f10"`, "profile_id.string": `"0102030405060708090a0b0c0d0e0f10"`,
	"span_id.string": `"0102030405060708"`, "parent_span_id.string": `"0102030405060708"`, "trace_state": `"other=value"`,
	"kind.string": `"Client"`, "kind.deprecated_string": `"SPAN_KIND_CLIENT"`,
}

// asserted are paths whose value cannot be read from the samples, with the reason.
var asserted = map[string]string{
	"spanevent event_index": "only the transform processor gives the index, by an option of its own",
}

func TestAPathHasTheTypeOfItsValue(t *testing.T) {
	for context, evaluators := range samples(t) {
		for _, path := range vocabulary.Paths[context] {
			if !accepts(context, path.Path) || path.Type == "any" || asserted[context+" "+path.Path] != "" {
				continue
			}
			var found []string
			for _, one := range evaluators {
				if value, err := one.value(withKey(path.Path)); err == nil && value != nil {
					found = append(found, typeOf(value))
				}
			}
			slices.Sort(found)
			found = slices.Compact(found)
			if len(found) != 1 || !slices.Contains(types(path), found[0]) {
				t.Errorf("%s: %s is %v, not %s", context, path.Path, found, path.Type)
			}
		}
	}
}

func TestAPathIsWritableIfAStatementChangesIt(t *testing.T) {
	for context := range samples(t) {
		for _, path := range vocabulary.Paths[context] {
			if !accepts(context, path.Path) || asserted[context+" "+path.Path] != "" {
				continue
			}
			written := slices.ContainsFunc(samples(t)[context], func(one evaluator) bool { return writes(one, path) })
			if written == path.ReadOnly {
				t.Errorf("%s: writing to %s changes it: %t", context, path.Path, written)
			}
		}
	}
}

// types are those of the versions.
func types(path vocabulary.Path) []string { return strings.Split(path.Type, " or ") }

// writes reports whether a statement sets a path to another value, or to its own if no text makes another.
func writes(on evaluator, path vocabulary.Path) bool {
	name := withKey(path.Path)
	before, err := on.value(name)
	if err != nil {
		return false
	}
	was, texts := plain(before), []string{otherOf[path.Path]}
	if texts[0] == "" {
		texts = nil
		for _, kind := range types(path) {
			if other, is := others[kind]; is {
				texts = append(texts, other)
			}
		}
	}
	if len(texts) == 0 {
		return before != nil && on.execute(fmt.Sprintf("set(%s, %[1]s)", name)) == nil
	}
	return slices.ContainsFunc(texts, func(text string) bool {
		if on.execute(fmt.Sprintf("set(%s, %s)", name, text)) != nil {
			return false
		}
		after, err := on.value(name)
		return err == nil && plain(after) != was
	})
}

// plain is a value as text, which does not change with the value.
func plain(value any) string {
	if m, is := value.(pcommon.Map); is {
		return fmt.Sprint(m.AsRaw())
	}
	return fmt.Sprint(value)
}
