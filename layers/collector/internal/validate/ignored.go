package validate

import (
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/headgate/headgate/layers/collector/internal/nearest"
	"github.com/headgate/headgate/layers/collector/internal/operation"
	"github.com/headgate/headgate/layers/collector/internal/source"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/otelcol"
	"go.yaml.in/yaml/v3"
)

// maxIgnored bounds the keys that are tried: each takes another decoding of its component.
const maxIgnored = 50

// ignoredKeys warns of keys that a component accepts and does not read.
func (r *report) ignoredKeys(factories otelcol.Factories, top map[string]any) {
	for _, section := range source.Sections {
		content, _ := top[section].(map[string]any)
		for name, written := range content {
			factory := factoryOf(factories, section, name)
			settings, isMapping := written.(map[string]any)
			if factory == nil || !isMapping {
				continue
			}
			one := &inspected{report: r, path: []string{section, name}, config: configType(factory)}
			one.unknownKeys(settings, nil, one.config)
			one.unknownKeysOfOperators(factory, settings)
			for _, key := range one.unknown {
				one.tryWithout(factory, settings, key)
			}
		}
	}
}

// factoryOf returns the factory of a component, nil for none.
func factoryOf(factories otelcol.Factories, section, name string) component.Factory {
	var id component.ID
	if id.UnmarshalText([]byte(name)) != nil {
		return nil
	}
	return operation.FactoriesOf(section, factories)[id.Type()]
}

// inspected is a component whose keys are compared with its structures.
type inspected struct {
	report  *report
	path    []string
	config  reflect.Type
	unknown []unknownKey
	whole   component.Config
}

// unknownKey is a key that a structure does not have.
type unknownKey struct {
	path []string
	of   reflect.Type
}

// unknownKeysOfOperators collects those of the operators of a receiver of logs, whose structures depend on their types.
func (i *inspected) unknownKeysOfOperators(factory component.Factory, settings map[string]any) {
	operators, isList := settings["operators"].([]any)
	if !isList || !i.decode(factory, settings) {
		return
	}
	built := namedField(reflect.ValueOf(i.whole), "operators")
	for n, operator := range operators {
		mapping, isMapping := operator.(map[string]any)
		if !isMapping || built.Kind() != reflect.Slice || n >= built.Len() {
			continue
		}
		if one := built.Index(n); one.Kind() == reflect.Struct && one.NumField() == 1 && one.Field(0).Kind() == reflect.Interface {
			i.unknownKeys(mapping, []string{"operators", strconv.Itoa(n)}, one.Field(0).Elem().Type())
		}
	}
}

// namedField returns the field that a structure, or a part that is squashed into it, has under a name.
func namedField(structure reflect.Value, name string) reflect.Value {
	structure = reflect.Indirect(structure)
	if structure.Kind() != reflect.Struct {
		return reflect.Value{}
	}
	for n := range structure.NumField() {
		key, options, _ := strings.Cut(structure.Type().Field(n).Tag.Get("mapstructure"), ",")
		if key == name {
			return structure.Field(n)
		}
		if strings.Contains(options, "squash") {
			if found := namedField(structure.Field(n), name); found.IsValid() {
				return found
			}
		}
	}
	return reflect.Value{}
}

// unknownKeys collects the keys that the structure at a path does not have. It does not look into what a component
// decodes in its own way.
func (i *inspected) unknownKeys(settings map[string]any, path []string, config reflect.Type) {
	for config != nil && config.Kind() == reflect.Pointer {
		config = config.Elem()
	}
	if config == nil || config.Kind() != reflect.Struct {
		for key, value := range settings {
			if inner, isMapping := value.(map[string]any); isMapping {
				if of := fieldType(config, key); of != nil {
					i.unknownKeys(inner, append(slices.Clone(path), key), of)
				}
			}
		}
		return
	}
	known := map[string]bool{}
	for one := range fields(config) {
		known[one.name] = true
	}
	if len(known) == 0 || takesRemaining(config) {
		return
	}
	for key, value := range settings {
		here := append(slices.Clone(path), key)
		if !known[key] {
			if len(i.unknown) < maxIgnored {
				i.unknown = append(i.unknown, unknownKey{here, config})
			}
			continue
		}
		switch inner := value.(type) {
		case map[string]any:
			i.unknownKeys(inner, here, fieldType(config, key))
		case []any:
			of := fieldType(fieldType(config, key), "0")
			for n, entry := range inner {
				if mapping, isMapping := entry.(map[string]any); isMapping {
					i.unknownKeys(mapping, append(slices.Clone(here), strconv.Itoa(n)), of)
				}
			}
		}
	}
}

// takesRemaining tells whether a structure has a field for keys that it does not name.
func takesRemaining(structure reflect.Type) bool {
	for n := range structure.NumField() {
		_, options, _ := strings.Cut(structure.Field(n).Tag.Get("mapstructure"), ",")
		if strings.Contains(options, "remain") {
			return true
		}
	}
	return false
}

// tryWithout warns of a key if the component decodes to the same configuration without it.
func (i *inspected) tryWithout(factory component.Factory, settings map[string]any, key unknownKey) {
	if !i.decode(factory, settings) {
		return
	}
	without, err := decodeMap(without(settings, key.path), factory)
	if err != nil || !reflect.DeepEqual(i.whole, without) {
		return
	}
	path := append(slices.Clone(i.path), key.path...)
	holder, name := strings.Join(path[:len(path)-1], separator), path[len(path)-1]
	var names []string
	for one := range fields(key.of) {
		names = append(names, one.name)
	}
	i.report.warning(IgnoredKey, atKey, path, fmt.Sprintf("%s does not read the key %q: it has no effect%s",
		holder, name, nearest.DidYouMean(name, names)))
}

// decode decodes the component once. It reports whether the component accepts its settings.
func (i *inspected) decode(factory component.Factory, settings map[string]any) bool {
	if i.whole == nil {
		if whole, err := decodeMap(settings, factory); err == nil {
			i.whole = whole
		}
	}
	return i.whole != nil
}

func decodeMap(settings map[string]any, factory component.Factory) (config component.Config, err error) {
	defer recovered(&err)
	config = factory.CreateDefaultConfig()
	return config, confmap.NewFromStringMap(settings).Unmarshal(&config)
}

// without returns a copy of settings without what a path leads to.
func without(value any, path []string) map[string]any {
	copied, _ := withoutIn(value, path).(map[string]any)
	return copied
}

func withoutIn(value any, path []string) any {
	switch content := value.(type) {
	case map[string]any:
		copied := make(map[string]any, len(content))
		for key, inner := range content {
			switch {
			case key != path[0]:
				copied[key] = inner
			case len(path) > 1:
				copied[key] = withoutIn(inner, path[1:])
			}
		}
		return copied
	case []any:
		copied := slices.Clone(content)
		if n, err := strconv.Atoi(path[0]); err == nil && n < len(copied) && len(path) > 1 {
			copied[n] = withoutIn(copied[n], path[1:])
		}
		return copied
	}
	return value
}

// changedValues warns of values that YAML reads as another number, or as a date, where a component takes a value of any
// type: what a variable holds, and what is written without quotes.
func (r *report) changedValues(factories otelcol.Factories, request Request) {
	types := settingTypes{factories: factories, components: map[string]reflect.Type{}}
	for _, one := range r.references() {
		what, value := r.wholeVariable(one, request.Env)
		if value == "" {
			continue
		}
		read, changes := readAs(value)
		of := types.of(one.path)
		switch {
		case changes && takesAnything(of):
			r.addAt(&r.result.Warnings, one.position, ChangedValue, one.path, fmt.Sprintf(
				"%s is read as the %s, as in YAML; %s", what, read, one.asText()))
		case isNanoseconds(of, value):
			r.addAt(&r.result.Warnings, one.position, ChangedValue, one.path, fmt.Sprintf(
				"%s has no unit, so it counts nanoseconds: write one behind it, such as s or ms", what))
		case isQuoted(value) && of != nil && of.Kind() == reflect.String:
			r.addAt(&r.result.Warnings, one.position, ChangedValue, one.path, fmt.Sprintf(
				"the quotes around %s become a part of it: leave them out", what))
		}
	}
	r.document.Scalars(func(path []string, node *yaml.Node) bool {
		if node.Style&yaml.DoubleQuotedStyle != 0 && backslashes.MatchString(node.Value) {
			r.warning(ChangedValue, atValue, path,
				"in double quotes YAML makes control characters of a backslash and a letter: use single quotes")
		}
		// Numbers begin so; whatever else is not even parsed.
		if node.Style != 0 || node.Value == "" || !strings.ContainsRune("+-.0123456789", rune(node.Value[0])) ||
			strings.Contains(node.Value, "$") {
			return true
		}
		read, changes := readAs(node.Value)
		of := types.of(path)
		switch {
		case changes && takesAnything(of):
			if warning := r.warning(ChangedValue, atValue, path, fmt.Sprintf(
				"YAML reads %s as the %s: put quotes around it to keep the text", node.Value, read)); warning != nil {
				warning.Fix = r.document.Quoted(node)
			}
		case isNanoseconds(of, node.Value):
			r.warning(ChangedValue, atValue, path, fmt.Sprintf(
				"%s has no unit, so it counts nanoseconds: write %ss or %sms", node.Value, node.Value, node.Value))
		}
		return true
	})
}

// backslashes matches a value that has lost them: a path of Windows, or characters that nobody writes but by a mistake.
var backslashes = regexp.MustCompile("^[A-Za-z]:[^ \\\\/]*[\\x00-\\x1f\u0085\u00a0\u2028\u2029]|[\\x07\\x08\\x0b\u0085\u2028\u2029]")

// wholeVariable returns the value of a reference, or its default, and which of them it is. It returns no value if there is
// something beside the reference: then it is a text.
func (r *report) wholeVariable(one reference, env map[string]string) (what, value string) {
	name, byDefault, _ := strings.Cut(strings.TrimPrefix(one.uri, "env:"), ":-")
	node := r.document.Node(one.path...)
	if node == nil || strings.TrimSpace(node.Value) != "${"+one.uri+"}" && strings.TrimSpace(node.Value) != "${"+name+"}" {
		return "", ""
	}
	if value, isSet := env[name]; isSet {
		return fmt.Sprintf("the value of ${env:%s}", name), value
	}
	return fmt.Sprintf("the default of ${env:%s}", name), byDefault
}

// asText says how a reference stays a text. Quotes in the variable would become a part of it.
func (one reference) asText() string {
	return fmt.Sprintf(`to keep the text, write another reference behind it, which is empty: "${%s}${env:NONE:-}"`, one.uri)
}

// ChangedVariable is a variable whose value or default YAML reads as another number, in a setting that takes values of any
// type.
type ChangedVariable struct{ What, Path, WayOut string }

// ChangedVariables returns those of a text, each with its first place.
func ChangedVariables(factories otelcol.Factories, text string, env map[string]string) []ChangedVariable {
	document, err := source.Parse(text)
	if err != nil {
		return nil
	}
	r, types := &report{document: document}, settingTypes{factories: factories, components: map[string]reflect.Type{}}
	var all []ChangedVariable
	for _, one := range r.references() {
		what, value := r.wholeVariable(one, env)
		isKnown := slices.ContainsFunc(all, func(known ChangedVariable) bool { return known.What == what })
		if read, changes := readAs(value); !isKnown && changes && strings.HasPrefix(read, "number") && takesAnything(types.of(one.path)) {
			all = append(all, ChangedVariable{what, joined(one.path), one.asText()})
		}
	}
	return all
}

// isQuoted tells whether a text begins and ends with the same quote.
func isQuoted(text string) bool {
	return len(text) > 2 && (text[0] == '"' || text[0] == '\'') && text[len(text)-1] == text[0]
}

// isNanoseconds tells whether a duration is written as a number that is not 0.
func isNanoseconds(of reflect.Type, text string) bool {
	number, err := strconv.ParseFloat(text, 64)
	return of == reflect.TypeFor[time.Duration]() && err == nil && number != 0
}

// readAs returns what YAML makes of a text that is a number, has a comment or is a mapping, and whether that is another
// value than is written.
func readAs(text string) (read string, changes bool) {
	var value any
	if len(text) > 100 || yaml.Unmarshal([]byte(text), &value) != nil {
		return "", false
	}
	switch number := value.(type) {
	case int:
		read = strconv.Itoa(number)
	case uint64:
		read = strconv.FormatUint(number, 10)
	case float64:
		if math.IsInf(number, 0) || math.IsNaN(number) {
			return "", false
		}
		read = strconv.FormatFloat(number, 'f', -1, 64)
		if read+".0" == text {
			return "", false
		}
	case string:
		return "text before its #", strings.Contains(text, " #") && strings.HasPrefix(text, number)
	case map[string]any:
		return "mapping that its colon makes", !strings.HasPrefix(strings.TrimSpace(text), "{")
	default:
		return "", false
	}
	return "number " + read, read != text
}

// settingTypes finds the types of settings. Making a component's defaults takes long, so its type is remembered.
type settingTypes struct {
	factories  otelcol.Factories
	components map[string]reflect.Type
}

// of returns the type of a component's setting, nil where that cannot be told.
func (s settingTypes) of(path []string) reflect.Type {
	if len(path) < 3 {
		return nil
	}
	of, known := s.components[componentOf(path)]
	if !known {
		if factory := factoryOf(s.factories, path[0], path[1]); factory != nil {
			of = configType(factory)
		}
		s.components[componentOf(path)] = of
	}
	for _, name := range path[2:] {
		of = fieldType(of, name)
	}
	for of != nil && of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	return of
}

// takesAnything tells whether a setting takes values of any type.
func takesAnything(of reflect.Type) bool {
	return of != nil && of.Kind() == reflect.Interface && of.NumMethod() == 0
}
