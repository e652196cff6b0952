package reference_test

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
)

// What the collector's own decoder has to confirm of a schema.
const (
	claimValue   = "value"   // a right value of each setting is taken, and so is its default
	claimDefault = "default" // writing the default changes nothing
	claimKey     = "key"     // a misspelt key is refused if and only if the schema takes no other keys
	claimType    = "type"    // a value that the schema refuses is refused
)

// full is set in `make trust`. Without it, all but right values is tried in a part of the places, which is the same on
// every machine (tests/support/sizes.py).
var full = os.Getenv("HEADGATE_FULL") != ""

const partOfPlaces = 10

func (e *examination) isInPart(path string) bool {
	if full || e.isWhole {
		return true
	}
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(e.name + path))
	return hash.Sum32()%partOfPlaces == 0
}

// finding is where the schema of a component and the decoder differ.
type finding struct {
	claim, path, value, text string
}

func (f finding) String() string {
	return fmt.Sprintf("%s: %s: %s: %s", f.claim, f.path, f.value, f.text)
}

// examination holds the schema of one component against its decoder.
type examination struct {
	name    string
	factory component.Factory
	schema  map[string]any
	isWhole bool // every place is examined, also in a small test

	places    *places
	isSteady  bool // the default configuration is the same each time
	findings  []finding
	confirmed map[string]int
	examined  map[string][]string // the paths, by claim
	decoded   int
}

func (e *examination) run() {
	e.places, e.confirmed, e.examined = placesOf(e.schema), map[string]int{}, map[string][]string{}
	e.isSteady = reflect.DeepEqual(written(e.factory.CreateDefaultConfig()), written(e.factory.CreateDefaultConfig()))
	for _, at := range e.places.values {
		isTaken := e.examineValue(at)
		if !e.isInPart(at.path) {
			continue
		}
		e.examineDefault(at)
		if isTaken {
			e.examineTypes(at)
		}
	}
	for _, at := range e.places.sections {
		for _, key := range at.keys {
			if e.isInPart(at.path + "::" + key) {
				e.examineKey(at, key)
			}
		}
	}
}

func (e *examination) takes(configuration any) bool { return e.places.takes(e.schema, configuration) }

// decode reads a configuration as the collector does (otelcol/internal/configunmarshaler).
func (e *examination) decode(configuration any) (config component.Config, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("panic: %v", reason)
		}
	}()
	e.decoded++
	id := e.factory.Type().String()
	section, err := confmap.NewFromStringMap(map[string]any{id: configuration}).Sub(id)
	if err != nil {
		return nil, err
	}
	config = e.factory.CreateDefaultConfig()
	return config, section.Unmarshal(&config)
}

func (e *examination) note(claim, path string) {
	e.examined[claim] = append(e.examined[claim], e.name+path)
}

func (e *examination) differ(claim, path string, value any, format string, arguments ...any) {
	written, _ := json.Marshal(value)
	text := strings.ReplaceAll(fmt.Sprintf(format, arguments...), "\n", " ")
	e.findings = append(e.findings, finding{claim, e.name + path, string(written), text[:min(len(text), 300)]})
}

func (e *examination) examineDefault(at place) {
	of, _ := at.schema.(map[string]any)
	standard, has := of["default"]
	if !has || at.without == nil {
		return
	}
	e.note(claimDefault, at.path)
	config, err := e.decode(at.around(standard))
	untouched, failure := e.decode(at.without())
	switch {
	case err != nil:
		e.differ(claimDefault, at.path, standard, "the decoder refuses the default: %v", err)
	case failure != nil || !e.isSteady:
		e.confirmed[claimDefault]++
	case !reflect.DeepEqual(config, untouched) && !reflect.DeepEqual(written(config), written(untouched)):
		e.differ(claimDefault, at.path, standard, "writing the default changes%s", change(written(untouched), written(config)))
	default:
		e.confirmed[claimDefault]++
	}
}

// written is what the collector writes of a configuration: without what it notes in hidden fields.
func written(config component.Config) (settings map[string]any) {
	defer func() {
		if reason := recover(); reason != nil {
			settings = nil
		}
	}()
	conf := confmap.New()
	if conf.Marshal(config) != nil {
		return nil
	}
	settings, _ = withoutEmpty(conf.ToStringMap()).(map[string]any)
	return settings
}

// withoutEmpty leaves out what is empty: the collector writes nothing and an empty list in different ways.
func withoutEmpty(value any) any {
	switch of := value.(type) {
	case map[string]any:
		for key, inner := range of {
			if of[key] = withoutEmpty(inner); of[key] == nil {
				delete(of, key)
			}
		}
		if len(of) == 0 {
			return nil
		}
	case []any:
		for i, inner := range of {
			of[i] = withoutEmpty(inner)
		}
		if len(of) == 0 {
			return nil
		}
	}
	return value
}

// change is the first difference of two configurations.
func change(before, after any) string {
	one, is := before.(map[string]any)
	other, both := after.(map[string]any)
	if !is || !both {
		return fmt.Sprintf(": %v was %v", after, before)
	}
	for _, key := range slices.Sorted(maps.Keys(one)) {
		if !reflect.DeepEqual(one[key], other[key]) {
			return "::" + key + change(one[key], other[key])
		}
	}
	return fmt.Sprintf(": %v was %v", after, before)
}

// examineValue tells whether the decoder takes a right value.
func (e *examination) examineValue(at place) bool {
	e.note(claimValue, at.path)
	var last error
	for value := range e.places.samplesAt(at) {
		configuration := at.around(value)
		if !e.takes(configuration) {
			continue
		}
		if _, last = e.decode(configuration); last == nil {
			e.confirmed[claimValue]++
			return true
		}
	}
	e.differ(claimValue, at.path, nil, "the decoder takes none of the values: %v", last)
	return false
}

func (e *examination) examineTypes(at place) {
	e.note(claimType, at.path)
	for _, value := range wrongValues {
		if e.takes(at.around(value)) {
			continue
		}
		if _, err := e.decode(at.around(value)); err == nil {
			e.differ(claimType, at.path, value, "the decoder takes what the schema refuses")
			continue
		}
		e.confirmed[claimType]++
	}
}

func (e *examination) examineKey(at section, key string) {
	e.note(claimKey, at.path+"::"+key)
	wrong := misspelt(key)
	configuration := at.around(map[string]any{wrong: 7})
	isTaken := e.takes(configuration)
	_, err := e.decode(configuration)
	switch {
	case isTaken && err != nil && at.isOpen:
		// The schema says so.
	case isTaken && err != nil:
		e.differ(claimKey, at.path+"::"+key, wrong, "the decoder refuses what the schema takes: %v", err)
	case !isTaken && err == nil:
		e.differ(claimKey, at.path+"::"+key, wrong, "the decoder takes what the schema refuses")
	case at.closed && !isTaken && !strings.Contains(err.Error(), wrong):
		e.differ(claimKey, at.path+"::"+key, wrong, "the decoder refuses something else: %v", err)
	default:
		e.confirmed[claimKey]++
	}
}
