package reference

import (
	"reflect"
	"slices"

	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/stanza/operator"
)

// operators describes an operator of the receivers that read logs: what it takes depends on its `type`.
//
// An operator ignores the keys that it does not know. Some have operators of their own, so it is a definition.
func operators(w *walker, _ reflect.Value, _ place) *Schema {
	return w.define("operator", func() *Schema {
		found := &Schema{}
		for _, name := range operatorTypes() {
			build, is := operator.Lookup(name)
			if !is {
				continue
			}
			described := w.value(reflect.ValueOf(build()), place{isDefault: true, again: reflect.ValueOf(build())})
			described.Title = name
			described.named("type", name)
			found.AnyOf = append(found.AnyOf, described)
		}
		found.AnyOf = append(found.AnyOf, &Schema{Ref: reference(Variable)})
		return found
	})
}

// operatorTypes are those that are registered. The registry has no way to list them.
func operatorTypes() []string {
	var found []string
	registered := reflect.ValueOf(operator.DefaultRegistry).Elem().FieldByName("operators")
	if registered.Kind() != reflect.Map {
		return nil
	}
	for _, name := range registered.MapKeys() {
		found = append(found, name.String())
	}
	slices.Sort(found)
	return found
}

// named makes this what applies if a key has that value.
func (s *Schema) named(key, value string) {
	s.Type, s.Pattern = Types{"object"}, ""
	if s.Properties == nil {
		s.Properties = map[string]*Schema{}
	}
	s.Properties[key] = &Schema{Const: value}
	s.Required = append(s.Required, key)
}
