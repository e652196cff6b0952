package reference

import "strings"

// define returns a reference to what is described once for all components.
func (w *walker) define(name string, describe func() *Schema) *Schema {
	if _, is := w.definitions[name]; !is {
		w.definitions[name] = nil // it may refer to itself
		outer := w.within
		w.within = nil
		w.definitions[name] = describe()
		w.within = outer
	}
	return &Schema{Ref: reference(name)}
}

// referredTo adds the definitions to which a schema refers, and those to which they refer.
func (w *walker) referredTo(schema *Schema, to map[string]*Schema) map[string]*Schema {
	name := strings.TrimPrefix(schema.Ref, reference(""))
	if definition := w.definitions[name]; definition != nil && to[name] == nil {
		to[name] = definition
		w.referredTo(definition, to)
	}
	schema.children(func(inner *Schema) { w.referredTo(inner, to) })
	return to
}

// separator is what confmap takes for the border between two keys: `protocols::grpc` is `grpc` in `protocols`.
const separator = "::"

// withPaths lets the mappings below take keys that are paths, which the collector splits before it reads them.
func (s *Schema) withPaths() {
	if s.AdditionalProperties != nil && s.AdditionalProperties.nothing {
		if s.PatternProperties == nil {
			s.PatternProperties = map[string]*Schema{}
		}
		s.PatternProperties[separator] = &Schema{}
	}
	s.children((*Schema).withPaths)
}
