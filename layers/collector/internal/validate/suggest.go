package validate

import (
	"reflect"
	"slices"
	"strings"
)

// fieldNames are the keys that a structure takes at a path that begins with a component's section and name. It is
// empty where the components decode their configuration in their own way.
func fieldNames(config reflect.Type, path []string) []string {
	skipped := 2
	if config == serviceType {
		skipped = 1
	}
	for _, name := range path[min(skipped, len(path)):] {
		config = fieldType(config, name)
	}
	var names []string
	for field := range fields(config) {
		names = append(names, field.name)
	}
	slices.Sort(names)
	return names
}

type field struct {
	name string
	kind reflect.Type
}

// fields yields the keys of a structure, those of embedded ones as well.
func fields(structure reflect.Type) func(yield func(field) bool) {
	return func(yield func(field) bool) { yieldFields(structure, yield) }
}

func yieldFields(structure reflect.Type, yield func(field) bool) bool {
	for structure != nil && structure.Kind() == reflect.Pointer {
		structure = structure.Elem()
	}
	if structure == nil || structure.Kind() != reflect.Struct {
		return true
	}
	for i := range structure.NumField() {
		one := structure.Field(i)
		if !one.IsExported() && !one.Anonymous {
			continue
		}
		name, options, _ := strings.Cut(one.Tag.Get("mapstructure"), ",")
		switch {
		case strings.Contains(options, "squash"):
			if !yieldFields(one.Type, yield) {
				return false
			}
		case name != "" && name != "-":
			if !yield(field{name, one.Type}) {
				return false
			}
		}
	}
	return true
}

// fieldType is the type of what a name means in a type, nil where that cannot be told.
func fieldType(of reflect.Type, name string) reflect.Type {
	for of != nil && of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	if of == nil {
		return nil
	}
	switch of.Kind() {
	case reflect.Struct:
		for one := range fields(of) {
			if one.name == name && of == serviceType && name == "telemetry" {
				return telemetryType // the service has an interface there
			}
			if one.name == name {
				return optional(one.kind)
			}
		}
	case reflect.Map, reflect.Slice, reflect.Array:
		return of.Elem()
	default:
	}
	return nil
}

// optional is the type inside of the collector's Optional[T], or the type itself.
func optional(of reflect.Type) reflect.Type {
	if of.Kind() == reflect.Struct && strings.HasPrefix(of.String(), "configoptional.Optional[") {
		for i := range of.NumField() {
			if of.Field(i).Name == "value" {
				return of.Field(i).Type
			}
		}
	}
	return of
}
