// Package generation holds what the API of the collector's modules has in another form from one release to another.
//
// This is the generation of 0.139.0: OTTL's contexts are values, and confmap/xconfmap validates.
package generation

import (
	"fmt"

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
	"go.opentelemetry.io/collector/confmap/xconfmap"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/service/telemetry"
	"go.uber.org/zap/zapcore"
)

// Lambdas tells whether OTTL's grammar has lambda expressions. With them came a token of their own for nil, and signs
// that are not part of numbers. This one has none.
const Lambdas = false

// What OTTL evaluates an expression on, by context.
type (
	Resource      = ottlresource.TransformContext
	Scope         = ottlscope.TransformContext
	Log           = ottllog.TransformContext
	Span          = ottlspan.TransformContext
	SpanEvent     = ottlspanevent.TransformContext
	Metric        = ottlmetric.TransformContext
	DataPoint     = ottldatapoint.TransformContext
	Profile       = ottlprofile.TransformContext
	ProfileSample = ottlprofilesample.TransformContext
)

// Validate validates a decoded configuration and everything in it, as the collector does.
func Validate(config any) error { return xconfmap.Validate(config) }

// SchemaURL is what carries the schema URL of a resource or a scope.
type SchemaURL interface {
	SchemaUrl() string
	SetSchemaUrl(v string)
}

// NewResource is a resource and what holds it.
func NewResource(resource pcommon.Resource, holder SchemaURL) Resource {
	return ottlresource.NewTransformContext(resource, holder)
}

// NewScope is a scope and what holds it.
func NewScope(scope pcommon.InstrumentationScope, resource pcommon.Resource, holder, _ SchemaURL) Scope {
	return ottlscope.NewTransformContext(scope, resource, holder)
}

// NewLog is a log record.
func NewLog(resource plog.ResourceLogs, scope plog.ScopeLogs, record plog.LogRecord) Log {
	return ottllog.NewTransformContext(record, scope.Scope(), resource.Resource(), scope, resource)
}

// NewSpan is a span.
func NewSpan(resource ptrace.ResourceSpans, scope ptrace.ScopeSpans, span ptrace.Span) Span {
	return ottlspan.NewTransformContext(span, scope.Scope(), resource.Resource(), scope, resource)
}

// NewSpanEvent is an event of a span.
func NewSpanEvent(
	resource ptrace.ResourceSpans, scope ptrace.ScopeSpans, span ptrace.Span, event ptrace.SpanEvent,
) SpanEvent {
	return ottlspanevent.NewTransformContext(event, span, scope.Scope(), resource.Resource(), scope, resource)
}

// NewMetric is a metric.
func NewMetric(resource pmetric.ResourceMetrics, scope pmetric.ScopeMetrics, metric pmetric.Metric) Metric {
	return ottlmetric.NewTransformContext(metric, scope.Metrics(), scope.Scope(), resource.Resource(), scope, resource)
}

// NewDataPoint is a data point of a metric.
func NewDataPoint(
	resource pmetric.ResourceMetrics, scope pmetric.ScopeMetrics, metric pmetric.Metric, point any,
) DataPoint {
	return ottldatapoint.NewTransformContext(
		point, metric, scope.Metrics(), scope.Scope(), resource.Resource(), scope, resource)
}

// NewProfile is a profile, with the dictionary of all profiles.
func NewProfile(
	resource pprofile.ResourceProfiles, scope pprofile.ScopeProfiles, profile pprofile.Profile,
	dictionary pprofile.ProfilesDictionary,
) Profile {
	return ottlprofile.NewTransformContext(profile, dictionary, scope.Scope(), resource.Resource(), scope, resource)
}

// NewProfileSample is a sample of a profile.
func NewProfileSample(
	resource pprofile.ResourceProfiles, scope pprofile.ScopeProfiles, profile pprofile.Profile, sample pprofile.Sample,
	dictionary pprofile.ProfilesDictionary,
) ProfileSample {
	return ottlprofilesample.NewTransformContext(
		sample, profile, dictionary, scope.Scope(), resource.Resource(), scope, resource)
}

// Samples are the samples of a profile.
func Samples(profile pprofile.Profile) pprofile.SampleSlice { return profile.Sample() }

// MoreContexts are contexts of OTTL that came later: none here.
var MoreContexts []string

// ParseMore parses an expression in one of MoreContexts.
func ParseMore(context, _, _ string) error {
	return fmt.Errorf("no parser for the context %q", context)
}

// Release gives a context back after its last use. Here a context is a value, which nothing has to give back.
func Release(any) {}

// Evaluated returns the context that OTTL names in a message of its debug log, nil if the field is another one.
func Evaluated(field zapcore.Field) any {
	if field.Key != "TransformContext" {
		return nil
	}
	return field.Interface
}

// TelemetrySettings are those of all providers of a collector's own telemetry.
func TelemetrySettings(build component.BuildInfo, _ pcommon.Resource) telemetry.Settings {
	return telemetry.Settings{BuildInfo: build}
}
