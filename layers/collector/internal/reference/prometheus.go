package reference

import (
	"encoding"
	"reflect"
	"strings"
)

// prometheusReads is why what Prometheus reads is open.
const prometheusReads = "Prometheus's own YAML decoder reads it"

// levelsOfPrometheus bounds how deep its settings are named.
const levelsOfPrometheus = 5

// prometheus describes what Prometheus's own decoder reads: it names the settings, and accepts everything.
func prometheus(_ *walker, v reflect.Value, _ place) *Schema {
	found := object()
	found.Open = prometheusReads
	found.Properties = byYAMLTags(v.Type(), levelsOfPrometheus)
	if scrapes := found.Properties["scrape_configs"]; scrapes != nil && scrapes.Items != nil && scrapes.Items.Properties != nil {
		scrapes.Items.Properties["static_configs"] = &Schema{Items: &Schema{
			Properties: map[string]*Schema{"targets": {}, "labels": {}},
		}}
	}
	return found
}

// byYAMLTags names the settings of a struct, nil if it has none to name. They have no types: the decoder makes a text of
// a number, and many types read themselves.
func byYAMLTags(t reflect.Type, levels int) map[string]*Schema {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || levels == 0 || reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
		return nil
	}
	found := map[string]*Schema{}
	for i := range t.NumField() {
		field := t.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("yaml"), ",")
		inner := field.Type
		switch {
		case !field.IsExported() || name == "-":
		case name == "" && has(options, "inline"):
			for key, one := range byYAMLTags(inner, levels) {
				found[key] = one
			}
		case name == "":
		case inner.Kind() == reflect.Slice:
			found[name] = &Schema{}
			if entries := byYAMLTags(inner.Elem(), levels-1); entries != nil {
				found[name].Items = &Schema{Properties: entries}
			}
		default:
			found[name] = &Schema{Properties: byYAMLTags(inner, levels-1)}
		}
	}
	return found
}
