package reference

import (
	"maps"
	"reflect"
	"slices"

	"go.opentelemetry.io/collector/confmap"
)

// decoded returns a copy of a configuration into which its own decoder has read these settings, false if it refuses
// them.
func decoded(v reflect.Value, settings map[string]any) (result reflect.Value, ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	copied := reflect.New(v.Type())
	copied.Elem().Set(v)
	if confmap.NewFromStringMap(settings).Unmarshal(copied.Interface()) != nil {
		return reflect.Value{}, false
	}
	return copied.Elem(), true
}

// byKey describes a section of which each key names a part with settings of its own. The parts are in a field of the
// configuration, a map from their names.
//
// Candidates are names that parts have had. The decoder tells which of them this release has, and refuses all others.
func byKey(section, field string, candidates []string) describer {
	return func(w *walker, v reflect.Value, at place) *Schema {
		at = w.entered(v, at)
		found := w.structure(v, at)
		parts := object()
		parts.Properties = map[string]*Schema{}
		parts.AdditionalProperties = &Schema{nothing: true}
		for _, name := range candidates {
			read, ok := decoded(v, map[string]any{section: map[string]any{name: nil}})
			if !ok {
				continue
			}
			of := read.FieldByName(field)
			for _, key := range of.MapKeys() {
				parts.Properties[name] = w.value(of.MapIndex(key), place{closed: true, isDefault: true})
			}
		}
		if len(parts.Properties) == 0 {
			parts = &Schema{Open: "none of the known names is one in this release: " + section}
		}
		found.Properties[section] = parts
		return found
	}
}

// Names that parts of these configurations have had.
var (
	hostScrapers = []string{
		"cpu", "disk", "filesystem", "load", "memory", "network", "nfs", "paging", "process", "processes", "system",
	}
	githubScrapers = []string{"scraper", "github"}
	geoProviders   = []string{"maxmind"}
)

// withKey describes a configuration in which a key sets another default for what stands in it.
func withKey(keys ...string) describer {
	return func(w *walker, v reflect.Value, at place) *Schema {
		at = w.entered(v, at)
		found := w.structure(v, at)
		for _, key := range keys {
			if read, ok := decoded(v, map[string]any{key: map[string]any{}}); ok {
				found.Properties[key] = w.structure(read, place{closed: at.closed, isDefault: true}).Properties[key]
			}
		}
		return found
	}
}

// byType describes a configuration whose `config` depends on its `type`.
func byType(candidates ...string) describer {
	return func(w *walker, v reflect.Value, at place) *Schema {
		found := &Schema{}
		for _, name := range candidates {
			read, ok := decoded(v, map[string]any{"type": name})
			if !ok {
				continue
			}
			described := w.structure(read, place{closed: true, isDefault: at.isDefault})
			described.Title = name
			if v.FieldByName("Type").String() == name {
				// This one is also what applies without a type.
				described.Properties["type"] = &Schema{Enum: []any{name, nil}, Default: name}
			} else {
				described.named("type", name)
			}
			found.AnyOf = append(found.AnyOf, described)
		}
		if len(found.AnyOf) == 0 {
			return &Schema{Open: "none of the known types is one in this release"}
		}
		// The type may be a variable.
		unknown := object()
		unknown.Properties = map[string]*Schema{"type": {Ref: reference(Variable)}}
		unknown.Required = []string{"type"}
		found.AnyOf = append(found.AnyOf, unknown)
		return found
	}
}

// sortedKeys are the keys of a map, in order.
func sortedKeys[V any](of map[string]V) []string { return slices.Sorted(maps.Keys(of)) }
