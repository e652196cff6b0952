package reference_test

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
)

// places are the values and the sections of a component's configuration, as its schema has them.
type places struct {
	judge
	values   []place
	sections []section
}

// place is where a value stands. Its path has `::` before a key, `[]` for an entry of a list, and `<…>` for one of
// several forms.
type place struct {
	path   string
	schema any
	// around makes a configuration with a value here, and nothing else but what has to be there.
	around func(value any) any
	// without makes that configuration without the key that stands here, nil if there is none.
	without func() any
	// isOpen is set where the schema says, here or around, that it takes more than the collector.
	isOpen bool
}

// section is where keys stand.
type section struct {
	path string
	keys []string
	// closed is set if the schema takes no other key.
	closed bool
	isOpen bool
	around func(keys map[string]any) any
}

// someKey stands for the key of a mapping that takes any.
const someKey = "headgate"

func placesOf(schema map[string]any) *places {
	definitions := map[string]any{}
	defined, _ := schema["$defs"].(map[string]any)
	for name, one := range defined {
		definitions["#/$defs/"+strings.NewReplacer("~", "~0", "/", "~1").Replace(name)] = one
	}
	found := &places{judge: judge{definitions}}
	found.collect(place{path: "", schema: schema, around: func(value any) any { return value }}, nil)
	return found
}

// open counts the places of which the schema says that it takes more than the collector.
func (p *places) open() int {
	number := 0
	for _, one := range p.values {
		of, _ := one.schema.(map[string]any)
		if _, is := of["x-open"]; is {
			number++
		}
	}
	return number
}

func (p *places) collect(at place, within []string) {
	p.values = append(p.values, at)
	p.collectBelow(at, at.schema, within)
}

// collectBelow collects what is in a place of which a schema is one form. Within are the definitions around it: one
// that refers to itself is followed once.
func (p *places) collectBelow(at place, schema any, within []string) {
	of, is := schema.(map[string]any)
	if !is {
		return
	}
	if _, is := of["x-open"]; is {
		at.isOpen = true
	}
	if name, is := of["$ref"].(string); is && !slices.Contains(within, name) {
		p.collectBelow(at, p.definition(name), append(slices.Clone(within), name))
	}
	for i, one := range forms(of) {
		form := at
		if name := formName(one); name != "" {
			form.path += "<" + name + ">"
		} else if i > 0 {
			form.path += fmt.Sprintf("<%d>", i)
		}
		p.collectBelow(form, one, within)
	}
	p.collectKeys(at, of, within)
	if inner, is := of["items"]; is {
		around := at.around
		p.collect(place{path: at.path + "[]", schema: inner, isOpen: at.isOpen, around: func(value any) any {
			return around([]any{value})
		}}, within)
	}
}

// neededIn has the keys of this section in neededIn.
func (at place) neededIn() map[string]any {
	return neededIn[at.path[strings.LastIndex(at.path, ":")+1:]]
}

func (p *places) collectKeys(at place, schema map[string]any, within []string) {
	needed := p.required(schema)
	properties, _ := schema["properties"].(map[string]any)
	for key, value := range at.neededIn() {
		if _, has := properties[key]; has && at.isOpen {
			needed[key] = value
		}
	}
	with := func(keys map[string]any) any {
		mapping := maps.Clone(needed)
		maps.Copy(mapping, keys)
		return at.around(mapping)
	}
	keys := slices.Sorted(maps.Keys(properties))
	for _, key := range keys {
		if isVariable(properties[key]) {
			continue // a form for what only the collector knows
		}
		p.collect(place{at.path + "::" + key, properties[key], func(value any) any {
			return with(map[string]any{key: value})
		}, func() any { return with(nil) }, at.isOpen}, within)
	}
	if len(keys) > 0 {
		p.sections = append(p.sections, section{at.path, keys, schema["additionalProperties"] == false, at.isOpen, with})
	}
	if inner, is := schema["additionalProperties"].(map[string]any); is {
		p.collect(place{path: at.path + "::" + someKey, schema: inner, isOpen: at.isOpen, around: func(value any) any {
			return with(map[string]any{someKey: value})
		}}, within)
	}
}

func forms(schema map[string]any) []any {
	var all []any
	for _, keyword := range []string{"anyOf", "oneOf", "allOf"} {
		some, _ := schema[keyword].([]any)
		all = append(all, some...)
	}
	return all
}

// formName is the value of the key that chooses a form.
func formName(form any) string {
	of, _ := form.(map[string]any)
	properties, _ := of["properties"].(map[string]any)
	required, _ := of["required"].([]any)
	for _, key := range required {
		property, _ := properties[key.(string)].(map[string]any)
		if word, is := property["const"].(string); is {
			return word
		}
	}
	return ""
}

func isVariable(schema any) bool {
	of, _ := schema.(map[string]any)
	name, _ := of["$ref"].(string)
	return strings.HasSuffix(name, "/variable")
}

// required has a value for each key that has to be there.
func (p *places) required(schema map[string]any) map[string]any {
	needed := map[string]any{}
	keys, _ := schema["required"].([]any)
	properties, _ := schema["properties"].(map[string]any)
	for _, one := range keys {
		key := one.(string)
		if value, is := neededValues[key]; is {
			needed[key] = value
			continue
		}
		for value := range p.samples(properties[key]) {
			needed[key] = value
			break
		}
	}
	return needed
}

// neededIn are keys that have to be there though the schema, which is open, does not say so: Prometheus's decoder also
// judges what they mean.
var neededIn = map[string]map[string]any{
	"scrape_configs[]":         {"job_name": "headgate"},
	"remote_write[]":           {"url": "http://localhost:4317"},
	"remote_read[]":            {"url": "http://localhost:4317"},
	"oauth2":                   {"client_id": "headgate", "client_secret": "headgate", "token_url": "http://localhost:4317"},
	"tracing":                  {"endpoint": "localhost:4317"},
	"relabel_configs[]":        {"target_label": "headgate", "action": "replace"},
	"metric_relabel_configs[]": {"target_label": "headgate", "action": "replace"},
	"write_relabel_configs[]":  {"target_label": "headgate", "action": "replace"},
	"alert_relabel_configs[]":  {"target_label": "headgate", "action": "replace"},
	"workload_identity":        {"client_id": someID, "tenant_id": someID},
	"certificate":              {"client_id": someID, "tenant_id": someID, "certificate_path": "/tmp"},
	"oauth":                    {"client_id": someID, "tenant_id": someID, "client_secret": "headgate"},
	"managed_identity":         {"client_id": someID},
}

const someID = "01234567-89ab-4cde-8f01-23456789abcd"

// neededValues are for keys that have to be there and take only certain texts.
var neededValues = map[string]any{"rule": `type == "port"`}

// rightValues are values that some setting takes: numbers, times, sizes, addresses, expressions, names.
var rightValues = []any{
	true, 1, 1.5, "headgate", "1s", "1", "1MiB", "localhost:4317", "http://localhost:4317", "2026-01-02T15:04:05Z", "body",
	"attributes.headgate", "0.5", "60%", "true", "[::1]:80", "^a(?P<b>.)$", "/tmp", "%Y", "utf-8", "10.0.0.0/8", "log",
	"replace", "prometheus.WriteRequest", someID,
	`type == "port"`, map[string]any{"type": "noop"}, map[string]any{}, []any{}, []any{"headgate"}, nil,
}

// samplesAt are samples for a place.
func (p *places) samplesAt(at place) iter.Seq[any] {
	return func(yield func(any) bool) {
		if keys := at.neededIn(); keys != nil && at.isOpen && !yield(keys) {
			return
		}
		p.samples(at.schema)(yield)
	}
}

// samples are values that a schema takes, and the collector should: the default first.
func (p *places) samples(schema any) iter.Seq[any] {
	return func(yield func(any) bool) {
		for _, value := range p.candidates(schema) {
			text, is := value.(string)
			if is && strings.Contains(text, "${") || !p.takes(schema, value) {
				continue
			}
			if !yield(value) {
				return
			}
		}
	}
}

func (p *places) candidates(schema any) []any {
	of, is := schema.(map[string]any)
	if !is {
		return rightValues
	}
	var all []any
	for _, keyword := range []string{"default", "const"} {
		if value, has := of[keyword]; has {
			all = append(all, value)
		}
	}
	words, _ := of["enum"].([]any)
	all = append(all, words...)
	for _, one := range forms(of) {
		all = append(all, p.candidates(one)...)
	}
	if name, is := of["$ref"].(string); is && !isVariable(schema) {
		all = append(all, p.candidates(p.definition(name))...)
	}
	if needed := p.required(of); len(needed) > 0 {
		all = append(all, needed)
	}
	if of["type"] != nil || len(all) == 0 {
		all = append(all, rightValues...)
	}
	return all
}

// wrongValues are of each type of JSON. A setting takes one or two types.
var wrongValues = []any{
	"headgate wrong", "7", -7, 7, 7.5, true, []any{}, []any{7}, []any{"headgate wrong"},
	[]any{map[string]any{"headgate wrong": 7}}, map[string]any{}, map[string]any{"headgate wrong": 7}, nil,
}

// misspelt is another key, also for the decoder, which ignores the case.
func misspelt(key string) string { return key + "_headgate" }
