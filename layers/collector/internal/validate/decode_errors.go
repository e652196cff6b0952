package validate

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/go-viper/mapstructure/v2"
	"github.com/headgate/headgate/layers/collector/internal/history"
	"github.com/headgate/headgate/layers/collector/internal/nearest"
	"github.com/headgate/headgate/layers/collector/internal/source"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/service"
	"go.opentelemetry.io/collector/service/telemetry/otelconftelemetry"
	"go.yaml.in/yaml/v3"
)

var (
	serviceType   = reflect.TypeFor[service.Config]()
	telemetryType = reflect.TypeFor[otelconftelemetry.Config]()
)

// configType is the type of the structure that a component's configuration is decoded into.
func configType(factory component.Factory) reflect.Type {
	return reflect.TypeOf(factory.CreateDefaultConfig())
}

// decodeErrors takes the decoder's error apart: one finding for each key that it did not know, and for each value.
func (d *diagnosis) decodeErrors(path []string, config reflect.Type, err error) {
	d.broken[componentOf(path)] = true
	leaves(err, path, func(path []string, err error, name string) {
		if keys, found := strings.CutPrefix(err.Error(), "has invalid keys: "); found {
			for _, key := range d.keysIn(keys, path) {
				here := append(slices.Clone(path), key)
				d.error(UnknownKey, atKey, here, fmt.Sprintf("'%s' has invalid keys: %s%s", name, key, d.meant(config, here)))
			}
			return
		}
		message := err.Error()
		if name != "" {
			message = fmt.Sprintf("'%s' %s", name, message)
		}
		code, where := kindOfDecodeError(err), atValue
		if named := signalInMessage.FindStringSubmatch(message); named != nil {
			path, where = below(path, named[1]), atKey
			if parts := namedSignal.FindStringSubmatch(named[2]); parts != nil {
				message += fmt.Sprintf("; the name of a pipeline follows a slash: %s/%s", parts[1], parts[2])
			} else {
				message += nearest.DidYouMean(named[2], []string{"traces", "metrics", "logs", "profiles"})
			}
		}
		if named := fieldOfPlainText.FindStringSubmatch(message); named != nil {
			path, code, where = d.keyWithin(path, "has invalid keys: "+named[1]), UnknownKey, atKey
		}
		if path[len(path)-1] == "<interface {} Value>" {
			if here := d.unnamed(config, path); here != nil {
				path, code, where = here, UnknownKey, atKey
				message += d.meant(config, here)
			}
		}
		if code == WrongType {
			if words := history.Setting(d.env.BuildInfo.Version, path); words != "" {
				message += "; " + words
			}
		}
		if code == UnknownKey && strings.Contains(message, "has invalid keys: ") {
			path, where = d.keyWithin(path, message), atKey
		}
		var fix []source.Fix
		if node := d.document.Node(path...); code == WrongType && node != nil && takesText(err) {
			if kind := kindOfText(node.Value); kind != "a text" {
				if fix = d.document.Quoted(node); fix != nil {
					message += fmt.Sprintf("; YAML reads %s as %s: quote it", node.Value, kind)
				}
			}
		} else if code == WrongType && node != nil && node.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 && takes(err, kindOfText(node.Value)) {
			message += fmt.Sprintf("; %s is expected here: write it without quotes", kindOfText(node.Value))
			fix = d.document.Replaced(node, node.Value)
		} else if meant := formerBooleans[strings.ToLower(nodeValue(node))]; code == WrongType && meant != "" && takes(err, "true or false") {
			message += fmt.Sprintf("; YAML reads %s as a text: write %s", node.Value, meant)
			fix = d.document.Replaced(node, meant)
		}
		if node := d.document.Node(path...); node != nil && node.Kind == yaml.ScalarNode && node.Style == 0 &&
			strings.HasSuffix(message, "must be an array or slice, got string") {
			message += fmt.Sprintf("; write [%s]", node.Value)
			fix = d.document.Replaced(node, "["+node.Value+"]")
		}
		if here, value := d.switchedOn(path, message); value != nil {
			path, where, fix = here, atValue, d.document.Replaced(value, "{enabled: "+value.Value+"}")
			message += "; write {enabled: " + value.Value + "}"
		}
		before := len(d.result.Errors)
		d.ofComponent(code, where, path, message, err, nil)
		if len(d.result.Errors) > before {
			d.result.Errors[before].Fix = fix
		}
	})
}

// formerBooleans are what YAML 1.1 read as true or false, and YAML 1.2 reads as a text.
var formerBooleans = map[string]string{"yes": "true", "on": "true", "y": "true", "no": "false", "off": "false", "n": "false"}

// nodeValue is the text of a scalar, "" for anything else.
func nodeValue(node *yaml.Node) string {
	if node == nil || node.Kind != yaml.ScalarNode {
		return ""
	}
	return node.Value
}

// takesText tells whether a value was refused because it is not a text.
func takesText(err error) bool {
	var unconvertible *mapstructure.UnconvertibleTypeError
	return errors.As(err, &unconvertible) && unconvertible.Expected.Kind() == reflect.String
}

// takes tells whether a text was refused where a value of its kind is expected.
func takes(err error, kind string) bool {
	var unconvertible *mapstructure.UnconvertibleTypeError
	if !errors.As(err, &unconvertible) {
		return false
	}
	expected := unconvertible.Expected.Kind()
	return kind == "true or false" && expected == reflect.Bool ||
		kind == "a number" && expected >= reflect.Int && expected <= reflect.Float64
}

// meant is the end of a message about a key that a structure does not have: what another release makes of it, or what is
// written in a similar way.
func (d *diagnosis) meant(config reflect.Type, path []string) string {
	if words := history.Setting(d.env.BuildInfo.Version, path); words != "" {
		return "; " + words
	}
	key, holder := path[len(path)-1], path[:len(path)-1]
	names := fieldNames(config, holder)
	if near := nearest.DidYouMean(key, names); near != "" {
		return near
	}
	under := slices.DeleteFunc(names, func(name string) bool {
		return !slices.Contains(fieldNames(config, append(slices.Clone(holder), name)), key)
	})
	if len(under) == 1 {
		return fmt.Sprintf("; %s is a setting of %s", key, under[0])
	}
	return ""
}

// unnamed finds the key whose value the decoder has refused without its name: the only one that a structure lacks.
func (d *diagnosis) unnamed(config reflect.Type, path []string) []string {
	holder := path[:len(path)-1]
	unknown := slices.DeleteFunc(d.document.Keys(holder...), func(key string) bool {
		return slices.Contains(fieldNames(config, holder), key)
	})
	if len(unknown) != 1 {
		return nil
	}
	return append(slices.Clone(holder), unknown[0])
}

// switchedOn finds the metric or attribute that a text switches with a mere true or false: the decoder's name for it is
// split at its dots, or that of a part.
func (d *diagnosis) switchedOn(path []string, message string) ([]string, *yaml.Node) {
	match := switchInMessage.FindStringSubmatch(message)
	if match == nil {
		return path, nil
	}
	var places [][]string
	for name, left := match[1], true; left && len(places) == 0; _, name, left = strings.Cut(name, ".") {
		seek(d.document.Node(path[:min(len(path), 2)]...), path[:min(len(path), 2)], name, &places, 0)
	}
	if len(places) != 1 || !slices.Contains([]string{"metrics", "resource_attributes", "events"}, places[0][len(places[0])-2]) {
		return path, nil
	}
	return places[0], d.document.Node(places[0]...)
}

var (
	switchInMessage  = regexp.MustCompile(`'([^']+)' expected a map or struct, got "bool"`)
	signalInMessage  = regexp.MustCompile(`in "([^"]+)" id: unknown pipeline signal: "([^"]+)"`)
	namedSignal      = regexp.MustCompile(`^(traces|metrics|logs|profiles)[-_.: ]([\w.-]+)$`)
	fieldOfPlainText = regexp.MustCompile(`line \d+: field (\S+) not found in type `)
)

// keysIn splits the decoder's list of keys, which are in order and joined by `, `, as they may contain that themselves.
func (d *diagnosis) keysIn(list string, path []string) []string {
	keys := slices.Sorted(slices.Values(d.document.Keys(path...)))
	var split []string
	rest := list
	for _, key := range keys {
		if after, first := strings.CutPrefix(rest, key); first && (after == "" || strings.HasPrefix(after, ", ")) {
			split, rest = append(split, key), strings.TrimPrefix(after, ", ")
		}
	}
	if rest != "" {
		return strings.Split(list, ", ") // the text has other keys: a variable holds the mapping
	}
	return split
}

// leaves calls found for every single error in what the decoder returned, with the path that it names.
func leaves(err error, path []string, found func(path []string, err error, name string)) {
	leavesOf(err, path, "", found)
}

func leavesOf(err error, path []string, name string, found func([]string, error, string)) {
	if many, isMany := err.(interface{ Unwrap() []error }); isMany {
		for _, one := range many.Unwrap() {
			leavesOf(one, path, name, found)
		}
		return
	}
	if decoding, isDecoding := err.(*mapstructure.DecodeError); isDecoding {
		inner := decoding.Unwrap()
		if !isRoot(decoding.Name(), inner) {
			path = append(slices.Clone(path), pathOfField(decoding.Name())...)
		}
		leavesOf(inner, path, decoding.Name(), found)
		return
	}
	if inner := errors.Unwrap(err); inner != nil && strings.HasPrefix(err.Error(), "decoding failed due to the following error(s):") {
		leavesOf(inner, path, name, found)
		return
	}
	found(path, err, name)
}

var goType = regexp.MustCompile(`^\*?\w+\.[A-Z]\w*(\[.*\])?$|^struct \{`)

// isRoot tells whether the decoder names a structure by its Go type (`otlpexporter.Config`): newer releases do, where
// older ones give the outermost structure no name.
func isRoot(name string, err error) bool {
	message := err.Error()
	return (strings.HasPrefix(message, "has invalid keys: ") || strings.HasPrefix(message, "has unset fields: ")) &&
		goType.MatchString(name)
}

// pathOfField splits the decoder's name of a field, `protocols.grpc` or `rules[0].keys[a.b]`.
func pathOfField(name string) []string {
	var path []string
	for name != "" {
		switch {
		case name[0] == '.':
			name = name[1:]
		case name[0] == '[' && strings.Contains(name, "]"):
			end := strings.Index(name, "]")
			path, name = append(path, name[1:end]), name[end+1:]
		default:
			end := strings.IndexAny(name[1:], ".[") + 1
			if end == 0 {
				end = len(name)
			}
			path, name = append(path, name[:end]), name[end:]
		}
	}
	return path
}

func kindOfDecodeError(err error) Code {
	var unconvertible *mapstructure.UnconvertibleTypeError
	var unparsable *mapstructure.ParseError
	if errors.As(err, new(panicked)) {
		return Other
	}
	message := err.Error()
	switch {
	case strings.Contains(message, "has invalid keys: "):
		return UnknownKey
	case errors.As(err, &unconvertible), errors.As(err, &unparsable),
		strings.Contains(message, "expected a map"), strings.Contains(message, "source data must be an array or slice"),
		strings.Contains(message, "unexpected sub-config value kind"), strings.Contains(message, "needs a map with string keys"):
		return WrongType
	default:
		return InvalidValue
	}
}

// keyWithin finds the key that a component's own decoding has refused. Its error names the key, not all of the path to
// it, so the path is completed when the key stands there only once.
func (d *diagnosis) keyWithin(path []string, message string) []string {
	_, keys, _ := strings.Cut(message, "has invalid keys: ")
	key, _, _ := strings.Cut(keys, ", ")
	key, _, _ = strings.Cut(key, "\n")
	var places [][]string
	seek(d.document.Node(path...), path, key, &places, 0)
	if len(places) == 1 {
		return places[0]
	}
	return path
}

func seek(node *yaml.Node, path []string, key string, places *[][]string, depth int) {
	const deepest = 50
	node = source.Resolve(node)
	if node == nil || depth > deepest || len(*places) > 1 {
		return
	}
	switch node.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			here := append(slices.Clone(path), node.Content[i].Value)
			if node.Content[i].Value == key {
				*places = append(*places, here)
			}
			seek(node.Content[i+1], here, key, places, depth+1)
		}
	case yaml.SequenceNode:
		for i, element := range node.Content {
			seek(element, append(slices.Clone(path), fmt.Sprint(i)), key, places, depth+1)
		}
	case yaml.DocumentNode, yaml.ScalarNode, yaml.AliasNode:
	}
}

func kindOf(value any) string { return reflect.ValueOf(value).Kind().String() }

// validateErrors takes what Validate returned apart: one finding for each structure that refused itself. `again` validates
// once more. A component that only the host decides about is built all the same, which may find another error.
func (d *diagnosis) validateErrors(path []string, err error, again func() error) {
	if err == nil {
		return
	}
	if many, isMany := err.(interface{ Unwrap() []error }); isMany && isPlainJoin(err, many.Unwrap()) {
		for _, one := range many.Unwrap() {
			d.validateErrors(path, one, again)
		}
		return
	}
	// The collector's error is `a::b: what is wrong`, and what is wrong is what it wraps.
	if inner := errors.Unwrap(err); inner != nil {
		if names, found := strings.CutSuffix(err.Error(), ": "+inner.Error()); found && isPath(names) {
			d.validateErrors(append(slices.Clone(path), strings.Split(names, separator)...), inner, again)
			return
		}
		if err.Error() == inner.Error() {
			d.validateErrors(path, inner, again)
			return
		}
	}
	code := InvalidValue
	if errors.As(err, new(panicked)) {
		code = Other
	}
	message := err.Error()
	if len(path) > 1 && path[0] == "service" && path[1] == "pipelines" {
		code = PipelineGraph
		if named := pipelineFirst.FindStringSubmatch(message); named != nil && len(path) == 2 {
			path = append(slices.Clone(path), named[1])
		}
		if strings.HasSuffix(message, " feature gate") {
			message += "; to check it as hosts that run with it, send it in feature_gates (--feature-gate)"
		}
	}
	if d.ofComponent(code, atValue, path, message, err, again) == "" {
		d.broken[componentOf(path)] = true
	}
}

// pipelineFirst matches an error about a pipeline that the collector reports of all of them.
var pipelineFirst = regexp.MustCompile(`^pipeline "([^"]+)": `)

// isPlainJoin tells a list of errors from one that adds words of its own.
func isPlainJoin(whole error, parts []error) bool {
	for _, by := range []string{"\n", "; "} {
		texts := make([]string, len(parts))
		for i, one := range parts {
			texts[i] = one.Error()
		}
		if strings.Join(texts, by) == whole.Error() {
			return true
		}
	}
	return false
}

func isPath(text string) bool { return text != "" && !strings.ContainsAny(text, " \t\n\"'") }
