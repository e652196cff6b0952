// Package generation holds what the API of the collector's modules has in another form from one release to another.
//
// This is the generation of 0.158.0: OTTL's contexts are pointers from pools, and confmap validates.
package generation

import (
	"fmt"
	"reflect"

	"github.com/headgate/headgate/layers/collector/internal/standard"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/ottl/contexts/ottldatapoint"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/ottl/contexts/ottlexemplar"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/ottl/contexts/ottllog"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/ottl/contexts/ottlmetric"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/ottl/contexts/ottlotelcol"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/ottl/contexts/ottlprofile"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/ottl/contexts/ottlprofilesample"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/ottl/contexts/ottlresource"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/ottl/contexts/ottlscope"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/ottl/contexts/ottlspan"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/ottl/contexts/ottlspanevent"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/service/telemetry"
	"go.uber.org/zap/zapcore"
)

// Lambdas tells whether OTTL's grammar has lambda expressions. With them came a token of their own for nil, and signs
// that are not part of numbers. This one has them.
const Lambdas = true

// What OTTL evaluates an expression on, by context.
type (
	Resource      = *ottlresource.TransformContext
	Scope         = *ottlscope.TransformContext
	Log           = *ottllog.TransformContext
	Span          = *ottlspan.TransformContext
	SpanEvent     = *ottlspanevent.TransformContext
	Metric        = *ottlmetric.TransformContext
	DataPoint     = *ottldatapoint.TransformContext
	Profile       = *ottlprofile.TransformContext
	ProfileSample = *ottlprofilesample.TransformContext
)

// Validate validates a decoded configuration and everything in it, as the collector does.
func Validate(config any) error { return confmap.Validate(config) }

// SchemaURL is what carries the schema URL of a resource or a scope.
type SchemaURL interface {
	SchemaUrl() string
	SetSchemaUrl(v string)
}

// NewResource is a resource and what holds it.
func NewResource(resource pcommon.Resource, holder SchemaURL) Resource {
	return ottlresource.NewTransformContextPtr(resource, holder)
}

// NewScope is a scope and what holds it.
func NewScope(scope pcommon.InstrumentationScope, resource pcommon.Resource, holder, resourceHolder SchemaURL) Scope {
	return ottlscope.NewTransformContextPtr(scope, resource, holder, resourceHolder)
}

// NewLog is a log record.
func NewLog(resource plog.ResourceLogs, scope plog.ScopeLogs, record plog.LogRecord) Log {
	return ottllog.NewTransformContextPtr(resource, scope, record)
}

// NewSpan is a span.
func NewSpan(resource ptrace.ResourceSpans, scope ptrace.ScopeSpans, span ptrace.Span) Span {
	return ottlspan.NewTransformContextPtr(resource, scope, span)
}

// NewSpanEvent is an event of a span.
func NewSpanEvent(
	resource ptrace.ResourceSpans, scope ptrace.ScopeSpans, span ptrace.Span, event ptrace.SpanEvent,
) SpanEvent {
	return ottlspanevent.NewTransformContextPtr(resource, scope, span, event)
}

// NewMetric is a metric.
func NewMetric(resource pmetric.ResourceMetrics, scope pmetric.ScopeMetrics, metric pmetric.Metric) Metric {
	return ottlmetric.NewTransformContextPtr(resource, scope, metric)
}

// NewDataPoint is a data point of a metric.
func NewDataPoint(
	resource pmetric.ResourceMetrics, scope pmetric.ScopeMetrics, metric pmetric.Metric, point any,
) DataPoint {
	return ottldatapoint.NewTransformContextPtr(resource, scope, metric, point)
}

// NewProfile is a profile, with the dictionary of all profiles.
func NewProfile(
	resource pprofile.ResourceProfiles, scope pprofile.ScopeProfiles, profile pprofile.Profile,
	dictionary pprofile.ProfilesDictionary,
) Profile {
	return ottlprofile.NewTransformContextPtr(resource, scope, profile, dictionary)
}

// NewProfileSample is a sample of a profile.
func NewProfileSample(
	resource pprofile.ResourceProfiles, scope pprofile.ScopeProfiles, profile pprofile.Profile, sample pprofile.Sample,
	dictionary pprofile.ProfilesDictionary,
) ProfileSample {
	return ottlprofilesample.NewTransformContextPtr(resource, scope, profile, sample, dictionary)
}

// Samples are the samples of a profile.
func Samples(profile pprofile.Profile) pprofile.SampleSlice { return profile.Samples() }

// MoreContexts are contexts of OTTL that came after 0.139.0.
var MoreContexts = []string{ottlexemplar.ContextName, ottlotelcol.ContextName}

// ParseMore parses an expression in one of MoreContexts.
func ParseMore(context, kind, text string) error {
	switch context {
	case ottlexemplar.ContextName:
		return standard.Parse(kind, text, ottlexemplar.NewParser)
	case ottlotelcol.ContextName:
		return standard.Parse(kind, text, ottlotelcol.NewParser)
	}
	return fmt.Errorf("no parser for the context %q", context)
}

// Release gives a context back to the pool that it came from, after its last use.
func Release(context any) {
	if pooled, is := context.(interface{ Close() }); is {
		pooled.Close()
	}
}

// Evaluated returns the context that OTTL names in a message of its debug log, nil if the field is another one. The log
// wraps it, and unwraps it for an encoder only: it is the wrapper's only field.
func Evaluated(field zapcore.Field) any {
	if field.Key == "TransformContext" {
		return field.Interface
	}
	wrapper := reflect.ValueOf(field.Interface)
	if field.Type != zapcore.InlineMarshalerType || wrapper.Kind() != reflect.Pointer || wrapper.IsNil() {
		return nil
	}
	inside := wrapper.Elem()
	if inside.Kind() != reflect.Struct || inside.NumField() != 1 || inside.Field(0).Kind() != reflect.Interface {
		return nil
	}
	return *(*any)(inside.Field(0).Addr().UnsafePointer())
}

// TelemetrySettings are those of all providers of a collector's own telemetry.
func TelemetrySettings(build component.BuildInfo, resource pcommon.Resource) telemetry.Settings {
	return telemetry.Settings{BuildInfo: build, Resource: &resource}
}
