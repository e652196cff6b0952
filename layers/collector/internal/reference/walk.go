package reference

import (
	"encoding"
	"fmt"
	"path"
	"reflect"
	"strings"
	"time"

	"github.com/headgate/headgate/layers/collector/internal/comments"
	"go.opentelemetry.io/collector/config/configopaque"
	"go.opentelemetry.io/collector/confmap"
)

var (
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
	unmarshaler     = reflect.TypeFor[confmap.Unmarshaler]()
	duration        = reflect.TypeFor[time.Duration]()
	opaque          = reflect.TypeFor[configopaque.String]()
)

// mostLevels bounds how deep settings are followed. The deepest of the official build have some 20 levels.
const mostLevels = 60

// walker describes what the collector's decoder makes of a value's type.
type walker struct {
	texts *comments.Texts
	seen  seen
	// definitions are what components refer to by name.
	definitions map[string]*Schema
	within      []reflect.Type
}

// place is where a value stands.
type place struct {
	// closed is set if the decoder refuses a key that it does not know.
	closed bool
	// isDefault is set if the value is what the collector takes if nothing is written.
	isDefault bool
	// again is the same value, made once more: a default that differs is drawn, or tells the time.
	again reflect.Value
}

func (p place) below(again reflect.Value) place {
	p.again = again
	return p
}

// element is a place in a list or a mapping, where nothing stands by default.
func (p place) element() place { return place{closed: p.closed} }

// value describes what may be written where a value of that type is read.
func (w *walker) value(v reflect.Value, at place) *Schema {
	t := v.Type()
	if len(w.within) > mostLevels {
		return &Schema{Open: "it is nested too deep"}
	}
	if t.Kind() == reflect.Struct {
		for _, outer := range w.within {
			if outer == t {
				return &Schema{Open: "it holds itself: " + t.String()}
			}
		}
	}
	w.within = append(w.within, t)
	defer func() { w.within = w.within[:len(w.within)-1] }()
	if found := w.special(v, at); found != nil {
		return found
	}
	at = w.entered(v, at)
	switch t.Kind() {
	case reflect.Pointer:
		return w.pointer(v, at)
	case reflect.Interface:
		return w.dynamic(v, at)
	case reflect.Struct:
		return w.structure(v, at)
	case reflect.Map:
		return w.mapping(v, at)
	case reflect.Slice, reflect.Array:
		return w.list(v, at)
	}
	return w.scalar(v, at)
}

// pointer describes what it points to. Nothing is by default what a nil pointer leads to.
func (w *walker) pointer(v reflect.Value, at place) *Schema {
	if v.IsNil() {
		return w.value(reflect.New(v.Type().Elem()).Elem(), at.element())
	}
	again := at.again
	if again.IsValid() && !again.IsNil() {
		again = again.Elem()
	} else {
		again = reflect.Value{}
	}
	return w.value(v.Elem(), at.below(again))
}

// dynamic describes what an interface holds by default: the decoder writes into it.
func (w *walker) dynamic(v reflect.Value, at place) *Schema {
	if v.IsNil() {
		return &Schema{}
	}
	again := at.again
	if again.IsValid() && !again.IsNil() && again.Elem().Type() == v.Elem().Type() {
		again = again.Elem()
	} else {
		again = reflect.Value{}
	}
	return w.value(v.Elem(), at.below(again))
}

func (w *walker) mapping(v reflect.Value, at place) *Schema {
	found := object()
	found.AdditionalProperties = w.elements(v.Type(), at)
	found.Default = defaultOf(v, at)
	return found
}

func (w *walker) list(v reflect.Value, at place) *Schema {
	found := &Schema{Type: Types{"array", "null", "string"}, Pattern: placeholder, Default: defaultOf(v, at)}
	if v.Type() == reflect.TypeFor[[]string]() {
		found.Pattern = "" // the decoder splits a text at its commas
	}
	found.Items = w.elements(v.Type(), at)
	return found
}

// elements describes what a list or a mapping holds, nil if that is anything.
func (w *walker) elements(t reflect.Type, at place) *Schema {
	if found := w.value(reflect.New(t.Elem()).Elem(), at.element()); !found.isAnything() {
		return found
	}
	return nil
}

// object accepts a mapping, nothing, or a variable that stands for a mapping.
func object() *Schema {
	return &Schema{Type: Types{"object", "null", "string"}, Pattern: placeholder}
}

func (s *Schema) isAnything() bool { return reflect.DeepEqual(*s, Schema{}) }

// structure describes a struct by its fields and their tags.
func (w *walker) structure(v reflect.Value, at place) *Schema {
	found := object()
	found.Properties = map[string]*Schema{}
	if at.closed {
		found.AdditionalProperties = &Schema{nothing: true}
	}
	found.Description = w.texts.Type(v.Type().PkgPath(), typeName(v.Type()))
	if name := typeName(v.Type()); name != "" {
		found.origin = path.Base(v.Type().PkgPath()) + "." + name
	}
	w.fields(found, v, at, "")
	return found
}

// fields adds what a struct's fields accept. Owner is the named type around a struct without a name.
func (w *walker) fields(to *Schema, v reflect.Value, at place, owner string) {
	t := v.Type()
	if name := typeName(t); name != "" {
		owner = name
	}
	for i := range t.NumField() {
		field, inner := t.Field(i), v.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("mapstructure"), ",")
		again := reflect.Value{}
		if at.again.IsValid() && at.again.Type() == t {
			again = at.again.Field(i)
		}
		if has(options, "squash") {
			if squashed := structOf(inner); squashed.IsValid() {
				if again.IsValid() {
					again = structOf(again)
				}
				w.fields(to, squashed, at.below(again), owner)
			}
			continue
		}
		if !field.IsExported() || name == "-" {
			continue
		}
		if has(options, "remain") {
			to.AdditionalProperties = nil
			if inner.Kind() == reflect.Map {
				to.AdditionalProperties = w.elements(inner.Type(), at)
			}
			continue
		}
		if name == "" {
			name = field.Name
		}
		switch inner.Kind() {
		case reflect.Func, reflect.Chan, reflect.UnsafePointer, reflect.Uintptr:
			continue
		}
		described := w.value(inner, at.below(again))
		if text := w.texts.Field(t.PkgPath(), owner, field.Name); text != "" {
			described.note = text
			described.Deprecated = described.Deprecated || isDeprecated(text)
		}
		// A key may be that of two fields. Both are read from it, and the collector writes the last one.
		if first, is := to.Properties[name]; is && described.note == "" {
			described.note = first.note
		}
		to.Properties[name] = described
	}
}

func has(options, wanted string) bool {
	for _, option := range strings.Split(options, ",") {
		if option == wanted {
			return true
		}
	}
	return false
}

// structOf returns the struct whose fields stand beside those of the struct around it, invalid if there is none.
func structOf(v reflect.Value) reflect.Value {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		if v.IsNil() {
			return reflect.Value{}
		}
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct {
		return reflect.Value{}
	}
	return v
}

// isDeprecated follows Go's convention for comments.
func isDeprecated(text string) bool {
	return strings.HasPrefix(text, "Deprecated:") || strings.Contains(text, "\nDeprecated:") ||
		strings.Contains(text, "[DEPRECATED]") || strings.HasPrefix(text, "Deprecated ") || strings.HasPrefix(text, "DEPRECATED")
}

// typeName is the name of a type without its parameters.
func typeName(t reflect.Type) string {
	name, _, _ := strings.Cut(t.Name(), "[")
	return name
}

// fullName is the path of a type's package, and its name without parameters.
func fullName(t reflect.Type) string { return t.PkgPath() + "." + typeName(t) }

// noSuchKey is a key that no component knows.
const noSuchKey = "headgate_no_such_key"

// entered is the place inside a value: a type that decodes itself says anew whether unknown keys are refused.
func (w *walker) entered(v reflect.Value, at place) place {
	if reflect.PointerTo(v.Type()).Implements(unmarshaler) {
		at.closed = w.refusesUnknown(v)
	}
	return at
}

// refusesUnknown asks a type that decodes itself whether it refuses a key that it does not know.
func (w *walker) refusesUnknown(v reflect.Value) (refuses bool) {
	t := v.Type()
	if known, is := w.seen.closed[t]; is {
		return known
	}
	defer func() {
		if reason := recover(); reason != nil {
			w.seen.undecided[t] = fmt.Sprint(reason)
			refuses = false
		}
		w.seen.closed[t] = refuses
	}()
	copied := reflect.New(t)
	copied.Elem().Set(v)
	err := copied.Interface().(confmap.Unmarshaler).Unmarshal(confmap.NewFromStringMap(map[string]any{noSuchKey: true}))
	if err != nil && !strings.Contains(err.Error(), "invalid keys: "+noSuchKey) {
		w.seen.undecided[t] = err.Error()
	}
	return err != nil && strings.Contains(err.Error(), "invalid keys: "+noSuchKey)
}

// seen is what was found out about the types that decode themselves.
type seen struct {
	closed    map[reflect.Type]bool
	undecided map[reflect.Type]string
	// texts are those that read themselves from a text.
	texts map[reflect.Type]bool
}
