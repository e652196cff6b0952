package reference_test

import (
	"fmt"
	"math"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"
)

// judge says what a schema takes. It knows the keywords that are used here, and refuses to guess about others.
type judge struct {
	// definitions are what `$ref` refers to, by their place.
	definitions map[string]any
}

// Keywords that do not decide about a value.
var notes = map[string]bool{
	"$schema": true, "$id": true, "$defs": true, "$comment": true, "title": true, "description": true, "default": true,
	"deprecated": true, "examples": true, "format": true,
}

func (j judge) takes(schema, value any) bool {
	switch of := schema.(type) {
	case bool:
		return of
	case map[string]any:
		for keyword, operand := range of {
			if !notes[keyword] && !strings.HasPrefix(keyword, "x-") && !j.holds(of, keyword, operand, value) {
				return false
			}
		}
		return true
	}
	panic(fmt.Sprintf("not a schema: %v", schema))
}

func (j judge) holds(schema map[string]any, keyword string, operand, value any) bool {
	switch keyword {
	case "$ref":
		return j.takes(j.definition(operand.(string)), value)
	case "type":
		return isOneOf(operand, value)
	case "const":
		return same(operand, value)
	case "enum":
		return contains(operand.([]any), value)
	case "anyOf":
		return j.count(operand, value) > 0
	case "oneOf":
		return j.count(operand, value) == 1
	case "allOf":
		return j.count(operand, value) == len(operand.([]any))
	case "not":
		return !j.takes(operand, value)
	}
	switch of := value.(type) {
	case string:
		return textHolds(keyword, operand, of)
	case map[string]any:
		return j.mappingHolds(schema, keyword, operand, of)
	case []any:
		return j.listHolds(keyword, operand, of)
	case int, float64:
		return numberHolds(keyword, operand, number(of))
	}
	return known(keyword)
}

// known panics on a keyword that this judge does not know.
func known(keyword string) bool {
	switch keyword {
	case "pattern", "minLength", "maxLength", "properties", "patternProperties", "additionalProperties", "required",
		"propertyNames", "minProperties", "maxProperties", "items", "minItems", "maxItems", "minimum", "maximum":
		return true
	}
	panic("the oracle does not know the keyword " + keyword)
}

func (j judge) definition(place string) any {
	found, is := j.definitions[place]
	if !is {
		panic("there is no definition " + place)
	}
	return found
}

func (j judge) count(schemas, value any) int {
	taken := 0
	for _, one := range schemas.([]any) {
		if j.takes(one, value) {
			taken++
		}
	}
	return taken
}

func isOneOf(types, value any) bool {
	list, several := types.([]any)
	if !several {
		list = []any{types}
	}
	for _, one := range list {
		if is(one.(string), value) {
			return true
		}
	}
	return false
}

func is(kind string, value any) bool {
	switch of := value.(type) {
	case nil:
		return kind == "null"
	case bool:
		return kind == "boolean"
	case string:
		return kind == "string"
	case []any:
		return kind == "array"
	case map[string]any:
		return kind == "object"
	case int:
		return kind == "number" || kind == "integer"
	case float64:
		return kind == "number" || kind == "integer" && of == math.Trunc(of)
	}
	panic(fmt.Sprintf("not a JSON value: %T", value))
}

func number(value any) float64 {
	if whole, is := value.(int); is {
		return float64(whole)
	}
	return value.(float64)
}

func same(one, other any) bool {
	switch one.(type) {
	case int, float64:
		switch other.(type) {
		case int, float64:
			return number(one) == number(other)
		}
		return false
	}
	return reflect.DeepEqual(one, other)
}

func contains(values []any, value any) bool {
	for _, one := range values {
		if same(one, value) {
			return true
		}
	}
	return false
}

var compiled sync.Map

func matches(pattern, text string) bool {
	found, is := compiled.Load(pattern)
	if !is {
		found, _ = compiled.LoadOrStore(pattern, regexp.MustCompile(pattern))
	}
	return found.(*regexp.Regexp).MatchString(text)
}

func textHolds(keyword string, operand any, text string) bool {
	switch keyword {
	case "pattern":
		return matches(operand.(string), text)
	case "minLength":
		return float64(utf8.RuneCountInString(text)) >= number(operand)
	case "maxLength":
		return float64(utf8.RuneCountInString(text)) <= number(operand)
	}
	return known(keyword)
}

func numberHolds(keyword string, operand any, of float64) bool {
	switch keyword {
	case "minimum":
		return of >= number(operand)
	case "maximum":
		return of <= number(operand)
	}
	return known(keyword)
}

func (j judge) listHolds(keyword string, operand any, list []any) bool {
	switch keyword {
	case "items":
		for _, one := range list {
			if !j.takes(operand, one) {
				return false
			}
		}
		return true
	case "minItems":
		return float64(len(list)) >= number(operand)
	case "maxItems":
		return float64(len(list)) <= number(operand)
	}
	return known(keyword)
}

func (j judge) mappingHolds(schema map[string]any, keyword string, operand any, mapping map[string]any) bool {
	switch keyword {
	case "required":
		for _, name := range operand.([]any) {
			if _, has := mapping[name.(string)]; !has {
				return false
			}
		}
		return true
	case "properties":
		for name, one := range operand.(map[string]any) {
			if value, has := mapping[name]; has && !j.takes(one, value) {
				return false
			}
		}
		return true
	case "patternProperties":
		for name, value := range mapping {
			for pattern, one := range operand.(map[string]any) {
				if matches(pattern, name) && !j.takes(one, value) {
					return false
				}
			}
		}
		return true
	case "additionalProperties":
		for name, value := range mapping {
			if !isNamed(schema, name) && !j.takes(operand, value) {
				return false
			}
		}
		return true
	case "propertyNames":
		for name := range mapping {
			if !j.takes(operand, name) {
				return false
			}
		}
		return true
	case "minProperties":
		return float64(len(mapping)) >= number(operand)
	case "maxProperties":
		return float64(len(mapping)) <= number(operand)
	}
	return known(keyword)
}

// isNamed tells whether a schema's properties or patterns name a key.
func isNamed(schema map[string]any, key string) bool {
	if properties, is := schema["properties"].(map[string]any); is {
		if _, has := properties[key]; has {
			return true
		}
	}
	patterns, _ := schema["patternProperties"].(map[string]any)
	for pattern := range patterns {
		if matches(pattern, key) {
			return true
		}
	}
	return false
}
