// Package decoded reads a component's configuration as the component does, with its defaults, and writes it down in plain
// values.
package decoded

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
)

// MaxText is the length of a text that Simple returns, in bytes.
const MaxText = 1_000

// Config returns the configuration of the component of that name in a section, with the defaults of its factory.
func Config(section *confmap.Conf, name string, factory component.Factory) (config component.Config, err error) {
	defer Recovered(&err)
	sub, err := section.Sub(name)
	if err != nil {
		return nil, err
	}
	config = factory.CreateDefaultConfig()
	return config, sub.Unmarshal(&config)
}

// Settings returns a configuration as confmap writes it, with opaque values redacted.
func Settings(config component.Config) (plain map[string]any, err error) {
	defer Recovered(&err)
	conf := confmap.New()
	if err := conf.Marshal(config); err != nil {
		return nil, err
	}
	return conf.ToStringMap(), nil
}

// Unprintable stands for a value that says nothing to a reader: a function, a channel, an address.
type Unprintable struct{}

// Simple returns a marshalled value as null, a boolean, a number, a text, a list, a mapping, or Unprintable.
func Simple(value any) any {
	switch known := value.(type) {
	case nil, bool, map[string]any, []any:
		return known
	case string:
		return Shortened(known, MaxText)
	case time.Duration:
		return known.String()
	}
	of := reflect.ValueOf(value)
	switch of.Kind() {
	case reflect.String:
		return Shortened(of.String(), MaxText)
	case reflect.Bool:
		return of.Bool()
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return of.Int()
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return of.Uint()
	case reflect.Float32, reflect.Float64:
		if number := of.Float(); !math.IsNaN(number) && !math.IsInf(number, 0) {
			return number
		}
		return fmt.Sprint(of.Float())
	case reflect.Pointer, reflect.Interface:
		if of.IsNil() {
			return nil
		}
		return Simple(of.Elem().Interface())
	case reflect.Map:
		if of.Type().Key().Kind() != reflect.String {
			return Unprintable{}
		}
		mapping := make(map[string]any, of.Len())
		for entries := of.MapRange(); entries.Next(); {
			mapping[entries.Key().String()] = entries.Value().Interface()
		}
		return mapping
	case reflect.Slice, reflect.Array:
		list := make([]any, of.Len())
		for i := range list {
			list[i] = of.Index(i).Interface()
		}
		return list
	default:
		return Unprintable{}
	}
}

// Shortened returns a text of at most that many bytes, with dots in the place of the rest.
func Shortened(text string, longest int) string {
	if len(text) <= longest && utf8.ValidString(text) {
		return text
	}
	return strings.ToValidUTF8(text[:min(longest, len(text))], "") + "..."
}

// Texts are the texts of at least that length among the values of a configuration.
func Texts(value any, shortest int) []string {
	var texts []string
	switch content := value.(type) {
	case string:
		if len(content) >= shortest {
			texts = append(texts, content)
		}
	case map[string]any:
		for _, inner := range content {
			texts = append(texts, Texts(inner, shortest)...)
		}
	case []any:
		for _, inner := range content {
			texts = append(texts, Texts(inner, shortest)...)
		}
	}
	return texts
}

// Hiding replaces the texts that a component's configuration writes. A message may repeat one, and it may be a secret
// that stands nowhere else in the answer, the value of a variable for example. Short texts stay, for they are words.
func Hiding(written any) *strings.Replacer {
	const shortest = 8
	texts := Texts(written, shortest)
	slices.SortFunc(texts, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	// With one pair, NewReplacer prepares a search whose cost grows with the square of a text that repeats itself.
	pairs := []string{"[...]", "[...]"}
	for _, text := range texts {
		pairs = append(pairs, text, "[...]")
	}
	return strings.NewReplacer(pairs...)
}

// Recovered turns a panic of a component into an error.
func Recovered(err *error) {
	if reason := recover(); reason != nil {
		fmt.Fprintf(os.Stderr, "panic: %v\n%s", reason, debug.Stack())
		*err = fmt.Errorf("the collector panicked: %v", reason)
	}
}
