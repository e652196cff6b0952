package inspect

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/headgate/headgate/layers/collector/internal/decoded"
	"github.com/headgate/headgate/layers/collector/internal/machine"
	"go.opentelemetry.io/collector/component"
)

// Limits on the settings that are told: a text can have thousands of components, and each has up to a few hundred.
const (
	maxSettings = 30_000
	maxEntries  = 100
	maxLevels   = 50
)

// settings are flattened: each key is the path to its value, separated by dots. A value is null, a boolean, a number, a
// text, or a list of these; durations and ids are texts.
type settings map[string]any

// unwritten returns the settings of a marshalled configuration that the text does not write.
//
// A written mapping covers the keys that it writes, and a written list the entries that it has; below a written null
// everything is unwritten. Empty mappings and lists are null.
func unwritten(plain map[string]any, written any) settings {
	found := settings{}
	found.add("", plain, written, true, maxLevels)
	return found
}

func (s settings) add(path string, value, written any, isWritten bool, levels int) {
	if levels == 0 {
		return
	}
	value = decoded.Simple(value)
	switch content := value.(type) {
	case map[string]any:
		mapping, isMapping := written.(map[string]any)
		if isWritten && !isMapping && written != nil {
			return // the component reads a shorter form
		}
		if len(content) == 0 && path != "" && !isWritten {
			s[path] = nil
		}
		for key, inner := range content {
			below, has := mapping[key]
			s.add(joined(path, key), inner, below, has, levels-1)
		}
	case []any:
		entries, isList := written.([]any)
		if isWritten && !isList && written != nil {
			return
		}
		if plainList, simple := simpleList(content); simple {
			if !isWritten {
				s[path] = plainList
			}
			return
		}
		for i, inner := range content {
			var below any
			has := i < len(entries)
			if has {
				below = entries[i]
			}
			s.add(joined(path, strconv.Itoa(i)), inner, below, has, levels-1)
		}
	case decoded.Unprintable:
	default:
		if !isWritten {
			s[path] = content
		}
	}
}

func joined(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// simpleList returns a list without mappings and lists in it as it is told: null if it is empty, and shortened if it is
// long.
func simpleList(content []any) (any, bool) {
	if len(content) == 0 {
		return nil, true
	}
	var entries []any
	for i, entry := range content {
		entry = decoded.Simple(entry)
		switch entry.(type) {
		case map[string]any, []any, decoded.Unprintable:
			return nil, false
		}
		if i < maxEntries {
			entries = append(entries, entry)
		}
	}
	if more := len(content) - maxEntries; more > 0 {
		entries = append(entries, fmt.Sprintf("... and %d more", more))
	}
	return entries, true
}

// defaults are the settings of a component type of which nothing is written.
type defaults struct {
	settings settings
	// drawn are those that are others each time: drawn at random, or telling the time.
	drawn map[string]bool
}

// knownDefaults are the defaults of the types that were asked about, for they cost as much as reading a component.
type knownDefaults struct {
	mutex  sync.Mutex
	byType map[typeOfSection]defaults
}

type typeOfSection struct {
	section string
	kind    component.Type
}

func newKnownDefaults() *knownDefaults {
	return &knownDefaults{byType: map[typeOfSection]defaults{}}
}

func (k *knownDefaults) of(section string, factory component.Factory) defaults {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	key := typeOfSection{section, factory.Type()}
	if known, is := k.byType[key]; is {
		return known
	}
	known := defaults{settings: defaultSettings(factory), drawn: map[string]bool{}}
	again := defaultSettings(factory)
	for path, value := range known.settings {
		if other, same := again[path]; !same || !reflect.DeepEqual(value, other) {
			known.drawn[path] = true
		}
	}
	k.byType[key] = known
	return known
}

// defaultSettings returns the settings of a new configuration, none if it cannot be written.
func defaultSettings(factory component.Factory) (found settings) {
	defer func() {
		if recover() != nil {
			found = settings{}
		}
	}()
	plain, err := decoded.Settings(factory.CreateDefaultConfig())
	if err != nil {
		return settings{}
	}
	return unwritten(plain, nil)
}

// withoutDrawn drops the settings that are others each time.
func (s settings) withoutDrawn(own defaults) {
	for path := range own.drawn {
		delete(s, path)
	}
}

// withoutDerived drops the settings that are not the component's own defaults and that repeat a text from the
// configuration: what somebody wrote is not a default, and may be a secret.
func (s settings) withoutDerived(defaults settings, texts []string) {
	for path, value := range s {
		if own, has := defaults[path]; has && reflect.DeepEqual(own, value) {
			continue
		}
		if slices.ContainsFunc(texts, func(text string) bool { return repeats(value, text) }) {
			delete(s, path)
		}
	}
}

// withoutMachine drops the settings that tell about the machine that answers.
func (s settings) withoutMachine(facts machine.Facts) {
	for path, value := range s {
		if facts.Host != "" && repeats(value, facts.Host) {
			delete(s, path)
			continue
		}
		if text, isText := value.(string); isText && slices.Contains(facts.Environment, text) {
			delete(s, path)
		}
	}
}

func repeats(value any, text string) bool {
	switch content := value.(type) {
	case string:
		return strings.Contains(content, text)
	case []any:
		return slices.ContainsFunc(content, func(entry any) bool { return repeats(entry, text) })
	}
	return false
}
