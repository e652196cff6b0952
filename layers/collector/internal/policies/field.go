package policies

import (
	"encoding"
	"reflect"
	"strings"
	"sync"

	"go.opentelemetry.io/collector/confmap"
)

// lacks tells whether the component is known to have no such setting, without writing down the others.
func (e *entry) lacks(key string) bool {
	value := reflect.Indirect(reflect.ValueOf(e.read()))
	if value.Kind() != reflect.Struct || isMarshaler(value) {
		return false
	}
	fields, known := fieldsOf(value, key)
	return known && len(fields) == 0
}

// field returns the plain value at a path of a decoded configuration, nil for none. It is not known where the collector
// writes the configuration down in a way of its own; whoever asks then writes all of it down, which takes as long as to
// read it.
func field(value reflect.Value, path []string) (plain any, known bool) {
	for value.Kind() == reflect.Pointer || value.Kind() == reflect.Interface {
		if value.IsNil() {
			return nil, true
		}
		if isMarshaler(value) {
			return nil, false
		}
		value = value.Elem()
	}
	if !value.IsValid() || isMarshaler(value) && !isOptional(value) {
		return nil, false
	}
	if isOptional(value) {
		inner, _ := optional(value)
		if !value.CanAddr() || !inner.IsValid() {
			return nil, false
		}
		return field(inner, path)
	}
	if len(path) == 0 {
		switch value.Kind() {
		case reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8,
			reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Float32, reflect.Float64, reflect.String:
			return value.Interface(), true
		}
		return nil, false
	}
	if value.Kind() != reflect.Struct {
		return nil, false
	}
	found, known := fieldsOf(value, path[0])
	switch {
	case !known || len(found) > 1:
		return nil, false // of two parts that are written at the same level, one wins
	case len(found) == 0:
		return nil, true
	}
	return field(found[0], path[1:])
}

// fieldsOf returns the fields that a structure writes under a key, those of its squashed parts as well. A structure with
// keys of another kind is not known.
func fieldsOf(structure reflect.Value, key string) (found []reflect.Value, known bool) {
	for _, field := range fieldsIn(structure.Type()) {
		value := structure.Field(field.at)
		switch {
		case !field.isTagged || field.remains:
			return nil, false
		case field.squashes:
			if value.Kind() != reflect.Struct || isMarshaler(value) {
				return nil, false
			}
			inner, known := fieldsOf(value, key)
			if !known {
				return nil, false
			}
			found = append(found, inner...)
		case field.name == key && !(field.omitsEmpty && value.IsZero()):
			found = append(found, value)
		}
	}
	return found, true
}

// tagged is an exported field of a structure: its place, and what its tag says.
type tagged struct {
	at   int
	name string
	// plainName is the field's own name, in lower case.
	plainName                               string
	isTagged, squashes, remains, omitsEmpty bool
}

// structures are the fields of types that were asked for, which are as many as the program has.
var structures sync.Map

func fieldsIn(structure reflect.Type) []tagged {
	if known, is := structures.Load(structure); is {
		return known.([]tagged)
	}
	var fields []tagged
	for at := range structure.NumField() {
		field := structure.Field(at)
		if !field.IsExported() {
			continue
		}
		tag, isTagged := field.Tag.Lookup("mapstructure")
		name, options, _ := strings.Cut(tag, ",")
		fields = append(fields, tagged{
			at: at, name: name, plainName: strings.ToLower(field.Name), isTagged: isTagged,
			squashes: strings.Contains(options, "squash"), remains: strings.Contains(options, "remain"),
			omitsEmpty: strings.Contains(options, "omitempty"),
		})
	}
	structures.Store(structure, fields)
	return fields
}

func isOptional(value reflect.Value) bool {
	return strings.HasSuffix(value.Type().PkgPath(), "/config/configoptional")
}

// isMarshaler tells whether a value is written down in a way of its own.
func isMarshaler(value reflect.Value) bool {
	if value.CanAddr() {
		value = value.Addr()
	}
	if !value.CanInterface() {
		return true
	}
	switch value.Interface().(type) {
	case confmap.Marshaler, encoding.TextMarshaler:
		return true
	}
	return false
}
