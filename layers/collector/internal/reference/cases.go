package reference

import (
	"reflect"
	"strings"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/confmap"
)

// describer describes a type whose decoder does something that its fields do not show.
type describer func(w *walker, v reflect.Value, at place) *Schema

const (
	contrib = "github.com/open-telemetry/opentelemetry-collector-contrib/"
	core    = "go.opentelemetry.io/collector/"
)

// cases are the types that are described by code of their own, by package and name.
var cases map[string]describer

// The cases refer to the walker, and it to them.
func init() {
	cases = map[string]describer{
		core + "config/configoptional.Optional": optional,
		core + "config/configopaque.MapList":    pairs,
		core + "component.ID":                   identifier,

		contrib + "pkg/kafka/configkafka.ProducerConfig": acknowledgements,
		contrib + "pkg/stanza/operator.Config":           operators,
		contrib + "processor/geoipprocessor.Config":      byKey("providers", "Providers", geoProviders),
		contrib + "processor/filterprocessor.Config": groups(
			"trace_conditions", "metric_conditions", "log_conditions", "profile_conditions"),
		contrib + "processor/transformprocessor.Config": groups(
			"trace_statements", "metric_statements", "log_statements", "profile_statements"),
		contrib + "receiver/carbonreceiver/protocol.Config": byType("plaintext", "regex"),
		contrib + "receiver/githubreceiver.Config":          byKey("scrapers", "Scrapers", githubScrapers),
		contrib + "receiver/hostmetricsreceiver.Config":     byKey("scrapers", "Scrapers", hostScrapers),
		contrib + "receiver/receivercreator.Config":         discovery,
		contrib + "receiver/syslogreceiver.SysLogConfig":    withKey("tcp", "udp"),

		contrib + "receiver/prometheusreceiver.PromConfig":                           prometheus,
		contrib + "receiver/prometheusreceiver/targetallocator.PromHTTPSDConfig":     prometheus,
		contrib + "receiver/prometheusreceiver/targetallocator.PromHTTPClientConfig": prometheus,

		contrib + "receiver/prometheusreceiver/internal/targetallocator.PromHTTPSDConfig":     prometheus,
		contrib + "receiver/prometheusreceiver/internal/targetallocator.PromHTTPClientConfig": prometheus,
	}
}

// special describes a type that is one of the cases, nil if it is not.
func (w *walker) special(v reflect.Value, at place) *Schema {
	if v.Type().Name() == "" {
		return nil
	}
	if describe, is := cases[fullName(v.Type())]; is {
		return describe(w, v, at)
	}
	if found := w.ownTelemetry(v, at); found != nil {
		return found
	}
	if v.Kind() == reflect.Struct && reflect.PointerTo(v.Type()).Implements(textUnmarshaler) {
		return w.scalar(v, at)
	}
	return nil
}

// optional describes a value that may be left out: what stands in it is the default once its key is written.
func optional(w *walker, v reflect.Value, at place) *Schema {
	content, isDefault := contentOf(v)
	inner := place{closed: true, isDefault: isDefault && at.isDefault}
	if at.again.IsValid() && at.again.Type() == v.Type() {
		inner.again, _ = contentOf(at.again)
	}
	found := w.value(content, inner)
	if found.Properties != nil && takesEnabled() {
		found.Properties["enabled"] = orVariable(&Schema{Type: Types{"boolean", "null"}})
	}
	return found
}

// contentOf returns the value in a configoptional.Optional, and whether it is one that the component chose.
func contentOf(v reflect.Value) (content reflect.Value, chosen bool) {
	copied := reflect.New(v.Type())
	copied.Elem().Set(v)
	get := copied.MethodByName("Get")
	kind := get.Type().Out(0).Elem()
	for kind.Kind() == reflect.Pointer {
		kind = kind.Elem()
	}
	if kind.Kind() != reflect.Struct {
		if has := get.Call(nil)[0]; !has.IsNil() {
			return has.Elem(), true
		}
		return reflect.New(get.Type().Out(0).Elem()).Elem(), false
	}
	chosen = !v.IsZero()
	return copied.MethodByName("GetOrInsertDefault").Call(nil)[0].Elem(), chosen
}

// takesEnabled tells whether an optional value can be switched off by a key `enabled`.
func takesEnabled() bool {
	none := configoptional.None[struct{}]()
	return confmap.NewFromStringMap(map[string]any{"enabled": true}).Unmarshal(&none) == nil
}

// pairs describes names with secret values: a mapping, or a list of pairs.
func pairs(_ *walker, _ reflect.Value, at place) *Schema {
	value := &Schema{Type: Types{"string", "null"}, Secret: true}
	pair := object()
	pair.Properties = map[string]*Schema{"name": {Type: Types{"string", "null"}}, "value": value}
	if at.closed {
		pair.AdditionalProperties = &Schema{nothing: true}
	}
	mapping := object()
	mapping.AdditionalProperties = value
	return &Schema{AnyOf: []*Schema{mapping, {Type: Types{"array"}, Items: pair}}}
}

// identifier describes the id of another component, `type` or `type/name`.
func identifier(_ *walker, v reflect.Value, at place) *Schema {
	found := &Schema{Type: Types{"string", "null"}, Format: "component-id"}
	if id, is := v.Interface().(component.ID); is && at.isDefault && id.Type().String() != "" {
		found.Default = strings.TrimSpace(id.String())
	}
	return found
}
