package reference

import (
	"encoding"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// durationPattern is what time.ParseDuration takes.
const durationPattern = `^[+-]?(0|(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$`

func (w *walker) scalar(v reflect.Value, at place) *Schema {
	t := v.Type()
	standard := defaultOf(v, at)
	switch {
	case t == opaque:
		return &Schema{Type: Types{"string", "null"}, Secret: true}
	case t == duration:
		// A number is a count of nanoseconds.
		return &Schema{Default: standard, AnyOf: []*Schema{
			{Type: Types{"string"}, Pattern: durationPattern, Format: "go-duration"}, {Type: Types{"number", "null"}},
			{Ref: reference(Variable)},
		}}
	case reflect.PointerTo(t).Implements(textUnmarshaler):
		w.seen.texts[t] = true
		found := text(t)
		found.Default = standard
		return found
	}
	var found *Schema
	switch t.Kind() {
	case reflect.String:
		return &Schema{Type: Types{"string", "null"}, Default: standard}
	case reflect.Bool:
		found = orVariable(&Schema{Type: Types{"boolean", "null"}})
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		// The decoder cuts the fraction off a number, without a word.
		found = orVariable(&Schema{Type: Types{"number", "null"}, Format: "int64"})
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		found = orVariable(&Schema{Type: Types{"number", "null"}, Format: "uint64", Minimum: new(int)})
	case reflect.Float32, reflect.Float64:
		found = orVariable(&Schema{Type: Types{"number", "null"}})
	default:
		return &Schema{Open: "values of the kind " + t.Kind().String()}
	}
	found.Default = standard
	return found
}

// text describes a type that reads itself from a text: one of a few words, or any text.
func text(t reflect.Type) *Schema {
	found := &Schema{Type: Types{"string", "null"}}
	numbers := t.Kind() != reflect.String && t.Kind() != reflect.Struct
	if words := enumeration(t); len(words) > 0 {
		found = &Schema{AnyOf: []*Schema{{Enum: words}, {Ref: reference(Variable)}}}
		if pattern := anyCase(t, words); pattern != "" {
			found.AnyOf = append(found.AnyOf, &Schema{Type: Types{"string"}, Pattern: pattern})
		}
	}
	if numbers {
		// What is not a text is decoded as the type's kind.
		found.AnyOf = append(found.AnyOf, &Schema{Type: Types{"number"}})
		if found.Type != nil {
			found.AnyOf = append(found.AnyOf, &Schema{Type: found.Type})
			found.Type = nil
		}
	}
	return found
}

// enumeration returns the words that a type takes, and null.
func enumeration(t reflect.Type) []any {
	if takes(t, "headgate-no-such-word") {
		return nil
	}
	var found []any
	for _, word := range words[fullName(t)] {
		if takes(t, word) {
			found = append(found, word)
		}
	}
	if len(found) == 0 {
		return nil
	}
	return append(found, nil)
}

func takes(t reflect.Type, word string) (is bool) {
	defer func() {
		if recover() != nil {
			is = false
		}
	}()
	return reflect.New(t).Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(word)) == nil
}

// anyCase is a pattern of the words in any mixture of upper and lower case, empty if the type minds the case.
func anyCase(t reflect.Type, words []any) string {
	var all []string
	for _, word := range words {
		text, is := word.(string)
		if !is || text == "" {
			continue
		}
		if !takes(t, strings.ToUpper(text)) || !takes(t, strings.ToLower(text)) {
			return ""
		}
		var pattern strings.Builder
		for _, letter := range text {
			if upper, lower := unicode.ToUpper(letter), unicode.ToLower(letter); upper != lower {
				pattern.WriteString("[" + string(upper) + string(lower) + "]")
			} else {
				pattern.WriteString(regexp.QuoteMeta(string(letter)))
			}
		}
		all = append(all, pattern.String())
	}
	slices.Sort(all)
	if all = slices.Compact(all); len(all) == 0 {
		return ""
	}
	return "^(" + strings.Join(all, "|") + ")$"
}
