package rename

import (
	"bytes"
	"reflect"
	"unsafe"

	"go.opentelemetry.io/collector/component"
)

// comparison is how two decoded configurations differ.
type comparison struct {
	// pairs are the texts that may have become others.
	pairs map[string]string
	// ids counts the component ids that changed so; others is set if anything else changed.
	ids    int
	others bool
	// left bounds the values that are visited.
	left    int
	visited map[visit]bool
}

type visit struct {
	a, b unsafe.Pointer
	kind reflect.Type
}

var idType = reflect.TypeFor[component.ID]()

const (
	maxValues = 200_000
	maxDepth  = 100
)

// compare compares two decoded configurations, with what they do not export. Functions are the same if both are there.
func compare(a, b any, pairs map[string]string) comparison {
	c := comparison{pairs: pairs, left: maxValues, visited: map[visit]bool{}}
	c.others = !c.same(reflect.ValueOf(a), reflect.ValueOf(b), maxDepth)
	return c
}

func (c *comparison) same(a, b reflect.Value, depth int) bool {
	if c.left--; c.left < 0 || depth == 0 {
		return false
	}
	if !a.IsValid() || !b.IsValid() {
		return a.IsValid() == b.IsValid()
	}
	if a.Type() != b.Type() {
		return false
	}
	if a.Type() == idType {
		return c.sameID(a, b)
	}
	switch a.Kind() {
	case reflect.String:
		return a.String() == b.String() || c.pair(a.String(), b.String())
	case reflect.Bool:
		return a.Bool() == b.Bool()
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return a.Int() == b.Int()
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return a.Uint() == b.Uint()
	case reflect.Float32, reflect.Float64:
		return a.Float() == b.Float() || a.Float() != a.Float() && b.Float() != b.Float()
	case reflect.Complex64, reflect.Complex128:
		return a.Complex() == b.Complex()
	case reflect.Func, reflect.Chan, reflect.UnsafePointer:
		return a.IsNil() == b.IsNil()
	case reflect.Interface:
		return c.same(a.Elem(), b.Elem(), depth-1)
	case reflect.Pointer:
		return c.samePointer(a, b, depth)
	case reflect.Struct:
		for i := range a.NumField() {
			if !c.same(a.Field(i), b.Field(i), depth-1) {
				return false
			}
		}
		return true
	case reflect.Map:
		return c.sameMap(a, b, depth)
	case reflect.Slice:
		if a.IsNil() != b.IsNil() {
			return false
		}
		if a.Type().Elem().Kind() == reflect.Uint8 {
			return bytes.Equal(a.Bytes(), b.Bytes())
		}
		return c.sameList(a, b, depth)
	case reflect.Array:
		return c.sameList(a, b, depth)
	}
	return false
}

// hasID tells whether a decoded configuration has a component id, or may have it further inside than is looked.
func hasID(config any, text string) bool {
	count, complete := countIDs(config, func(id string) bool { return id == text })
	return count > 0 || !complete
}

// countIDs counts the component ids in a decoded configuration that match. It is complete unless they may stand further
// inside than is looked.
func countIDs(config any, match func(id string) bool) (count int, complete bool) {
	s := search{match: match, left: maxValues, visited: map[visit]bool{}}
	complete = s.in(reflect.ValueOf(config), maxDepth)
	return s.count, complete
}

type search struct {
	match   func(id string) bool
	count   int
	left    int
	visited map[visit]bool
}

// in searches a value. It returns false if that takes too long.
func (s *search) in(value reflect.Value, depth int) bool {
	if s.left--; s.left < 0 || depth == 0 {
		return false
	}
	if !value.IsValid() {
		return true
	}
	if value.Type() == idType {
		if s.match(textOf(value)) {
			s.count++
		}
		return true
	}
	complete := true
	switch value.Kind() {
	case reflect.Pointer:
		seen := visit{a: value.UnsafePointer(), kind: value.Type()}
		if value.IsNil() || s.visited[seen] {
			return true
		}
		s.visited[seen] = true
		return s.in(value.Elem(), depth-1)
	case reflect.Interface:
		return s.in(value.Elem(), depth-1)
	case reflect.Struct:
		for i := range value.NumField() {
			complete = s.in(value.Field(i), depth-1) && complete
		}
	case reflect.Map:
		for entries := value.MapRange(); entries.Next(); {
			complete = s.in(entries.Key(), depth-1) && complete
			complete = s.in(entries.Value(), depth-1) && complete
		}
	case reflect.Slice, reflect.Array:
		if value.Type().Elem().Kind() == reflect.Uint8 {
			return true
		}
		for i := range value.Len() {
			complete = s.in(value.Index(i), depth-1) && complete
		}
	}
	return complete
}

func (c *comparison) sameList(a, b reflect.Value, depth int) bool {
	if a.Len() != b.Len() {
		return false
	}
	for i := range a.Len() {
		if !c.same(a.Index(i), b.Index(i), depth-1) {
			return false
		}
	}
	return true
}

func (c *comparison) samePointer(a, b reflect.Value, depth int) bool {
	if a.IsNil() || b.IsNil() {
		return a.IsNil() == b.IsNil()
	}
	if a.UnsafePointer() == b.UnsafePointer() {
		return true
	}
	seen := visit{a.UnsafePointer(), b.UnsafePointer(), a.Type()}
	if c.visited[seen] {
		return true
	}
	c.visited[seen] = true
	return c.same(a.Elem(), b.Elem(), depth-1)
}

// sameMap compares two maps. Entries whose keys changed are compared with each other.
func (c *comparison) sameMap(a, b reflect.Value, depth int) bool {
	if a.IsNil() != b.IsNil() || a.Len() != b.Len() {
		return false
	}
	var moved []reflect.Value
	for _, key := range a.MapKeys() {
		if other := b.MapIndex(key); other.IsValid() {
			if !c.same(a.MapIndex(key), other, depth-1) {
				return false
			}
			continue
		}
		moved = append(moved, key)
	}
	for _, key := range moved {
		found := false
		for _, other := range b.MapKeys() {
			if a.MapIndex(other).IsValid() {
				continue
			}
			before := c.ids
			if c.same(key, other, depth-1) {
				found = c.same(a.MapIndex(key), b.MapIndex(other), depth-1)
				break
			}
			c.ids = before
		}
		if !found {
			return false
		}
	}
	return true
}

// sameID compares two component ids. An id has a type, which has a name, and a name.
func (c *comparison) sameID(a, b reflect.Value) bool {
	before, after := textOf(a), textOf(b)
	if before == after {
		return true
	}
	if c.pair(before, after) {
		c.ids++
		return true
	}
	return false
}

func textOf(id reflect.Value) string {
	kind, name := id.Field(0).Field(0).String(), id.Field(1).String()
	if name == "" {
		return kind
	}
	return kind + "/" + name
}

func (c *comparison) pair(before, after string) bool {
	to, may := c.pairs[before]
	return may && to == after
}
