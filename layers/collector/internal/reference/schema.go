package reference

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// Schema is a JSON Schema (2020-12), with the keywords that this package uses. The zero value accepts everything.
type Schema struct {
	Dialect string `json:"$schema,omitempty"`
	Ref     string `json:"$ref,omitempty"`

	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	Deprecated  bool   `json:"deprecated,omitempty"`
	// Kind, Aliases and Stability are set on the schema of a component.
	Kind      string            `json:"x-kind,omitempty"`
	Aliases   []string          `json:"x-aliases,omitempty"`
	Stability map[string]string `json:"x-stability,omitempty"`
	Reduced   bool              `json:"x-reduced,omitempty"`
	// Secret marks a value that the collector redacts wherever it prints its configuration.
	Secret bool `json:"x-secret,omitempty"`
	// Open says why this place accepts more than the collector does.
	Open string `json:"x-open,omitempty"`

	Type    Types  `json:"type,omitempty"`
	Const   string `json:"const,omitempty"`
	Enum    []any  `json:"enum,omitempty"`
	Pattern string `json:"pattern,omitempty"`
	Format  string `json:"format,omitempty"`
	Minimum *int   `json:"minimum,omitempty"`
	Default any    `json:"default,omitempty"`

	Items       *Schema `json:"items,omitempty"`
	MinItems    int     `json:"minItems,omitempty"`
	UniqueItems bool    `json:"uniqueItems,omitempty"`

	Properties           map[string]*Schema `json:"properties,omitempty"`
	PatternProperties    map[string]*Schema `json:"patternProperties,omitempty"`
	AdditionalProperties *Schema            `json:"additionalProperties,omitempty"`
	Required             []string           `json:"required,omitempty"`
	MinProperties        int                `json:"minProperties,omitempty"`

	AnyOf []*Schema          `json:"anyOf,omitempty"`
	Defs  map[string]*Schema `json:"$defs,omitempty"`

	// nothing makes this the schema `false`, which accepts nothing.
	nothing bool
	// note is the description by the place where the schema stands, which goes before that of the type.
	note string
	// origin is the type of a struct, empty for everything else.
	origin string
}

// Types is a type or a list of types.
type Types []string

// MarshalJSON writes a single type without a list.
func (t Types) MarshalJSON() ([]byte, error) {
	if len(t) == 1 {
		return json.Marshal(t[0])
	}
	return json.Marshal([]string(t))
}

// MarshalJSON writes the schemas that accept everything or nothing as true and false.
func (s *Schema) MarshalJSON() ([]byte, error) {
	type plain Schema
	if s.nothing {
		return []byte("false"), nil
	}
	written := *s
	if s.note != "" {
		written.Description = s.note
	}
	return json.Marshal((*plain)(&written))
}

// Variable is the definition that stands for a text with `${…}`: the collector replaces it before it reads the value.
const Variable = "variable"

// placeholder is what a text with a `${…}` matches.
const placeholder = `\$\{`

func variable() *Schema {
	return &Schema{
		Title: "Variable", Type: Types{"string"}, Pattern: placeholder,
		Description: "A text with `${env:NAME}`, `${env:NAME:-default}` or another `${scheme:…}` in it, " +
			"which the collector replaces before it reads the value.",
	}
}

func orVariable(s *Schema) *Schema {
	return &Schema{AnyOf: []*Schema{s, {Ref: reference(Variable)}}}
}

// children calls visit with every schema directly below.
func (s *Schema) children(visit func(*Schema)) {
	for _, inner := range []*Schema{s.Items, s.AdditionalProperties} {
		if inner != nil {
			visit(inner)
		}
	}
	for _, several := range []map[string]*Schema{s.Properties, s.PatternProperties, s.Defs} {
		for _, name := range slices.Sorted(maps.Keys(several)) {
			visit(several[name])
		}
	}
	for _, inner := range s.AnyOf {
		visit(inner)
	}
}

// reference is the reference to a definition of the same document.
func reference(definition string) string {
	return "#/$defs/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(definition)
}
