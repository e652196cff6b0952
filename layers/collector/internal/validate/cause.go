package validate

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxCauses is how many variables a finding names.
const maxCauses = 3

// withoutValue are the errors that no value of a setting causes.
var withoutValue = []Code{
	ProviderNotAllowed, UnknownSection, UnknownComponent, UnknownKey, UndefinedReference, PipelineGraph, Crash,
}

// variableCauses adds to each error the variables that it may come from: those in its value, and those without a value in
// what it is about.
func (r *report) variableCauses(request Request) {
	references := r.variableReferences()
	for i := range r.result.Errors {
		finding := &r.result.Errors[i]
		if len(finding.path) > 0 && !slices.Contains(withoutValue, finding.Code) {
			finding.addCauses(references, request)
		}
	}
}

// variableReferences returns the places of `${env:NAME}`.
func (r *report) variableReferences() []reference {
	return slices.DeleteFunc(r.references(), func(one reference) bool { return !strings.HasPrefix(one.uri, "env:") })
}

// addCauses adds the variables that a finding may come from to its message, and to its cause those that have no value here.
func (f *Finding) addCauses(references []reference, request Request) {
	var inValue, named, empty []variableCause
	for _, one := range references {
		what := one.value(request)
		name, _, _ := strings.Cut(strings.TrimPrefix(one.uri, "env:"), ":-")
		cause := variableCause{name: name, isUnset: what.isUnset}
		switch {
		case isWithin(f.path, one.path):
			cause.words = "the value is from " + what.words
			inValue = append(inValue, cause)
		case isWithin(one.path, f.path) && what.isEmpty:
			cause.words = fmt.Sprintf("its %s is from %s", lastName(one.path), what.words)
			if mentions(f.Message, one.path) {
				named = append(named, cause)
			}
			empty = append(empty, cause)
		}
	}
	if f.needs != "" || f.Code == StartFailed || f.path[0] == "service" {
		empty = nil // no setting that the message does not name makes this
	}
	var unset, words []string
	for _, cause := range firstOf(inValue, named, empty) {
		if !slices.Contains(words, cause.words) && len(words) < maxCauses {
			words = append(words, cause.words)
			if cause.isUnset && !slices.Contains(unset, cause.name) {
				unset = append(unset, cause.name)
			}
		}
	}
	if len(words) > 0 {
		f.Message += "; " + strings.Join(words, "; ")
	}
	if len(unset) > 0 {
		f.Cause = &Cause{Kind: VariableUnset, Names: unset}
	}
}

// variableCause is a variable that a finding may come from, in words.
type variableCause struct {
	name, words string
	isUnset     bool
}

// firstOf returns the first of these lists that has entries.
func firstOf(lists ...[]variableCause) []variableCause {
	for _, list := range lists {
		if len(list) > 0 {
			return list
		}
	}
	return nil
}

// isWithin tells whether a path leads to what another one leads to, or below it.
func isWithin(path, of []string) bool {
	return len(path) >= len(of) && slices.Equal(path[:len(of)], of)
}

func lastName(path []string) string {
	for _, name := range slices.Backward(path) {
		if _, err := strconv.Atoi(name); err != nil {
			return name
		}
	}
	return "value"
}

// mentions tells whether a message contains a setting's name.
func mentions(message string, path []string) bool {
	name := strings.ReplaceAll(strings.ToLower(lastName(path)), "_", "")
	plain := strings.NewReplacer("_", "", " ", "", "-", "").Replace(strings.ToLower(message))
	return strings.Contains(plain, name)
}

// variableValue is what a reference stands for, in words that do not tell the value: it may be a secret.
type variableValue struct {
	words   string
	isEmpty bool
	// isUnset is set if the request has no value for it, and the text no default.
	isUnset bool
}

func (one reference) value(request Request) variableValue {
	name, byDefault, _ := strings.Cut(strings.TrimPrefix(one.uri, "env:"), ":-")
	value, isSet := request.Env[name]
	shown := fmt.Sprintf("${env:%s}", name)
	switch {
	case !isSet && !one.hasDefault:
		return variableValue{words: shown + ", which has no value here", isEmpty: true, isUnset: true}
	case !isSet && byDefault == "":
		return variableValue{words: shown + ", whose default is empty", isEmpty: true}
	case !isSet:
		return variableValue{words: fmt.Sprintf("the default of %s, which YAML reads as %s", shown, kindOfText(byDefault))}
	case value == "":
		return variableValue{words: shown + ", which is empty", isEmpty: true}
	default:
		return variableValue{words: fmt.Sprintf("%s, which YAML reads as %s", shown, kindOfText(value))}
	}
}

// lineBreaks warns of values that end with a line break, as files of secrets often do: the collector keeps it.
func (r *report) lineBreaks(request Request) {
	for _, one := range r.references() {
		name, _, _ := strings.Cut(one.uri, ":-")
		value, known := request.Env[strings.TrimPrefix(name, "env:")]
		if strings.HasPrefix(one.uri, fileScheme+":") {
			value, known = fileOf(request.Files, one.uri)
		}
		line := strings.TrimRight(value, "\r\n")
		if !known || line == value || line == "" || strings.Contains(line, "\n") || kindOfText(line) != "a text" {
			continue
		}
		r.addAt(&r.result.Warnings, one.position, ChangedValue, one.path, fmt.Sprintf(
			"the value of ${%s} ends with a line break, which the collector keeps: no HTTP header may have one, and a password or key is another one with it; write it without, as printf does and echo does not",
			name))
	}
}

// kindOfText names the type as which YAML reads a text.
func kindOfText(text string) string {
	var node yaml.Node
	if yaml.Unmarshal([]byte(text), &node) != nil || len(node.Content) == 0 {
		return "a text"
	}
	switch kind := node.Content[0].ShortTag(); kind {
	case "!!int", "!!float":
		return "a number"
	case "!!bool":
		return "true or false"
	case "!!null":
		return "nothing"
	case "!!seq":
		return "a list"
	case "!!map":
		return "a mapping"
	case "!!timestamp":
		return "a date"
	default:
		return "a text"
	}
}

var dateInMessage = regexp.MustCompile(`time\.Time`)

// dates places errors about a date, which the collector reports without its place.
func (r *report) dates() {
	for i := range r.result.Errors {
		finding := &r.result.Errors[i]
		if !dateInMessage.MatchString(finding.Message) {
			continue
		}
		for _, date := range r.scalarsBelow(finding.path, "!!timestamp") {
			finding.place(date)
			finding.Message += fmt.Sprintf("; YAML reads %s as a date: quote it", date.node.Value)
			finding.Fix = r.document.Quoted(date.node)
			break
		}
	}
}

// scalar is a value of the text and the path to it.
type scalar struct {
	path []string
	node *yaml.Node
}

// scalarsBelow returns the values of a type below a path, those of any type if it is "".
func (r *report) scalarsBelow(path []string, tag string) []scalar {
	var all []scalar
	r.document.Scalars(func(at []string, node *yaml.Node) bool {
		if isWithin(at, path) && (tag == "" || node.ShortTag() == tag) {
			all = append(all, scalar{slices.Clone(at), node})
		}
		return true
	})
	return all
}

// place moves a finding to a value of the text.
func (f *Finding) place(at scalar) {
	f.path, f.ComponentPath = at.path, joined(at.path)
	f.Line, f.Column = at.node.Line, at.node.Column
}
