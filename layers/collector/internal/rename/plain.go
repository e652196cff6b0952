package rename

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"
)

// copied is a deep copy of a plain value: mappings, lists and scalars.
func copied(value any) any {
	switch content := value.(type) {
	case map[string]any:
		if content == nil {
			return content
		}
		copy := make(map[string]any, len(content))
		for key, inner := range content {
			copy[key] = copied(inner)
		}
		return copy
	case []any:
		if content == nil {
			return content
		}
		copy := make([]any, len(content))
		for i, inner := range content {
			copy[i] = copied(inner)
		}
		return copy
	}
	return value
}

// valuesIn counts the values of a plain value.
func valuesIn(value any) int {
	count := 1
	switch content := value.(type) {
	case map[string]any:
		for _, inner := range content {
			count += valuesIn(inner)
		}
	case []any:
		for _, inner := range content {
			count += valuesIn(inner)
		}
	}
	return count
}

// step is the value under a name, nil if there is none.
func step(tree any, name string) any {
	switch content := tree.(type) {
	case map[string]any:
		return content[name]
	case []any:
		if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(content) {
			return content[i]
		}
	}
	return nil
}

func valueAt(tree any, path []string) any {
	for _, name := range path {
		tree = step(tree, name)
	}
	return tree
}

// set replaces the value at a path. It returns false if there is none.
func set(tree any, path []string, value any) bool {
	if len(path) == 0 {
		return false
	}
	last := path[len(path)-1]
	switch content := valueAt(tree, path[:len(path)-1]).(type) {
	case map[string]any:
		if _, has := content[last]; has {
			content[last] = value
			return true
		}
	case []any:
		if i, err := strconv.Atoi(last); err == nil && i >= 0 && i < len(content) {
			content[i] = value
			return true
		}
	}
	return false
}

// setKey replaces the key at the end of a path. It returns false if there is none, or the new one is taken.
func setKey(tree any, path []string, key string) bool {
	last := path[len(path)-1]
	content, isMapping := valueAt(tree, path[:len(path)-1]).(map[string]any)
	if !isMapping {
		return false
	}
	value, has := content[last]
	if _, taken := content[key]; taken || !has {
		return false
	}
	delete(content, last)
	content[key] = value
	return true
}

// difference is the path of a place at which two plain values differ, empty if they are the same.
func difference(a, b any) string { return differenceAt(a, b, "") }

func differenceAt(a, b any, path string) string {
	switch one := a.(type) {
	case map[string]any:
		other, same := b.(map[string]any)
		if !same || len(one) != len(other) {
			return path + separator
		}
		for _, key := range slices.Sorted(maps.Keys(one)) {
			inner, has := other[key]
			if !has {
				return path + separator + key
			}
			if found := differenceAt(one[key], inner, path+separator+key); found != "" {
				return found
			}
		}
		return ""
	case []any:
		other, same := b.([]any)
		if !same || len(one) != len(other) {
			return path + separator
		}
		for i := range one {
			if found := differenceAt(one[i], other[i], path+separator+strconv.Itoa(i)); found != "" {
				return found
			}
		}
		return ""
	case float64:
		if other, same := b.(float64); same && math.IsNaN(one) && math.IsNaN(other) {
			return ""
		}
	}
	if reflect.DeepEqual(a, b) {
		return ""
	}
	return path + separator
}

// sameDocument returns an error unless two documents have the same nodes, but for the values of some.
func sameDocument(a, b *yaml.Node, values map[*yaml.Node]string) error {
	if a == nil || b == nil {
		if a != b {
			return errors.New("there would be another document")
		}
		return nil
	}
	value, renamed := values[a]
	if !renamed {
		value = a.Value
	}
	if a.Kind != b.Kind || a.Style != b.Style || a.Tag != b.Tag || a.Anchor != b.Anchor || b.Value != value ||
		a.HeadComment != b.HeadComment || a.LineComment != b.LineComment || a.FootComment != b.FootComment ||
		len(a.Content) != len(b.Content) {
		return fmt.Errorf("line %d would be read differently", a.Line)
	}
	for i := range a.Content {
		if err := sameDocument(a.Content[i], b.Content[i], values); err != nil {
			return err
		}
	}
	return nil
}
