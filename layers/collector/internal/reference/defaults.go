package reference

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/headgate/headgate/layers/collector/internal/machine"
	"go.opentelemetry.io/collector/confmap"
)

// Limits on a default that is told.
const (
	maxDefaultEntries = 100
	maxDefaultText    = 1_000
)

// defaultOf returns what the collector writes for a value that stands there by default, nil if there is none worth
// telling: an empty text, nothing, a secret, or what is another on the next machine.
func defaultOf(v reflect.Value, at place) any {
	if !at.isDefault || !v.CanInterface() {
		return nil
	}
	if at.again.IsValid() && at.again.CanInterface() && !reflect.DeepEqual(v.Interface(), at.again.Interface()) {
		return nil
	}
	written, ok := writtenAs(v.Interface())
	if !ok {
		return nil
	}
	switch content := written.(type) {
	case string:
		if content == "" {
			return nil
		}
	case []any:
		if len(content) == 0 {
			return nil
		}
	case map[string]any:
		if len(content) == 0 {
			return nil
		}
	}
	return written
}

// writtenAs returns a value as the collector writes it, false if JSON has nothing like it.
func writtenAs(value any) (written any, ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	conf := confmap.New()
	if err := conf.Marshal(map[string]any{"value": value}); err != nil {
		return nil, false
	}
	return plain(conf.ToStringMap()["value"])
}

var thisMachine = sync.OnceValue(machine.Here)

// isOfMachine tells whether a default is a text that is another on the next machine.
func isOfMachine(text string) bool {
	facts := thisMachine()
	return facts.Host != "" && text == facts.Host || slices.Contains(facts.Environment, text)
}

func plain(value any) (any, bool) {
	switch known := value.(type) {
	case nil, bool:
		return known, true
	case time.Duration:
		return known.String(), true
	}
	of := reflect.ValueOf(value)
	switch of.Kind() {
	case reflect.String:
		text := of.String()
		if len(text) > maxDefaultText || !utf8.ValidString(text) || strings.Contains(text, "[REDACTED]") || isOfMachine(text) {
			return nil, false
		}
		return text, true
	case reflect.Bool:
		return of.Bool(), true
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return of.Int(), true
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return of.Uint(), true
	case reflect.Float32, reflect.Float64:
		number := of.Float()
		return number, !math.IsNaN(number) && !math.IsInf(number, 0)
	case reflect.Slice:
		return plainList(of)
	case reflect.Map:
		return plainMapping(of)
	}
	return nil, false
}

func plainList(of reflect.Value) (any, bool) {
	if of.Len() > maxDefaultEntries {
		return nil, false
	}
	list := make([]any, of.Len())
	for i := range list {
		entry, ok := plain(of.Index(i).Interface())
		if !ok {
			return nil, false
		}
		list[i] = entry
	}
	return list, true
}

func plainMapping(of reflect.Value) (any, bool) {
	if of.Type().Key().Kind() != reflect.String || of.Len() > maxDefaultEntries {
		return nil, false
	}
	mapping := make(map[string]any, of.Len())
	for entries := of.MapRange(); entries.Next(); {
		entry, ok := plain(entries.Value().Interface())
		if !ok {
			return nil, false
		}
		mapping[entries.Key().String()] = entry
	}
	return mapping, true
}
