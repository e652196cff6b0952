package lint

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/headgate/headgate/layers/collector/internal/alias"
	"github.com/headgate/headgate/layers/collector/internal/operation"
	"github.com/headgate/headgate/layers/collector/internal/source"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/otelcol"
	"go.yaml.in/yaml/v3"
)

// maxVisits bounds the number of nodes visited: aliases can expand a short text to very many.
const maxVisits = 500_000

// declaration is a component as the configuration declares it, with its expressions.
type declaration struct {
	component ottlComponent
	// name is what the configuration calls it.
	name        string
	expressions []*expression
	// affordable are the expressions that are cheap enough to parse. It is filled once, when priced is set.
	affordable []*expression
	priced     bool
	// accepted is set if the component has accepted all affordable expressions together.
	accepted bool
	// flattens is set for a transform processor with flatten_data.
	flattens bool
}

// finder collects the expressions of a configuration.
type finder struct {
	text      *source.Text
	factories otelcol.Factories
	env       *operation.Environment
	// most is how many expressions there may be.
	most int

	declarations []*declaration
	skipped      []Skipped
	// unjudged is set if an entry is not a string.
	unjudged bool
	// split are expressions that YAML reads as mappings.
	split  []Item
	seen   map[string]bool
	count  int
	visits int
	err    error
}

// find collects the expressions of a configuration, at most so many, and those that cannot be checked.
func find(text string, root *yaml.Node, most int, factories otelcol.Factories, env *operation.Environment) (*finder, error) {
	f := &finder{text: source.NewText(text), most: most, factories: factories, env: env, seen: map[string]bool{}}
	for section, body := range pairs(root) {
		if !slices.Contains(source.Sections, section) {
			continue
		}
		for id, body := range pairs(body) {
			f.component(section, id, body)
		}
	}
	return f, f.err
}

// rootOf is the root of the first document, a mapping.
func rootOf(text string) (*yaml.Node, error) {
	document, err := source.Parse(text)
	if err != nil {
		return nil, notYAML(err.Error())
	}
	if err := document.Affordable(); err != nil {
		return nil, &operation.Error{Code: "too_costly", Message: err.Error()}
	}
	// Decoding finds what parsing into nodes does not: keys that repeat, aliases that blow up.
	var decoded map[string]any
	if err := yaml.Unmarshal([]byte(text), &decoded); err != nil {
		return nil, notYAML(document.Undecodable(err))
	}
	if document.Root() == nil {
		return &yaml.Node{Kind: yaml.MappingNode}, nil
	}
	return document.Root(), nil
}

func notYAML(message string) error {
	return &operation.Error{Code: "yaml_syntax", Message: message}
}

func (f *finder) component(section, id string, body *yaml.Node) {
	kind, _, _ := strings.Cut(id, "/")
	c := ottlComponent{section: section, kind: strings.TrimSpace(kind)}
	path := section + "::" + id
	factory := factoryOf(f.factories, c)
	if factory == nil {
		f.unknown(fmt.Sprintf("%s %q is not in this build of %s %s",
			strings.TrimSuffix(section, "s"), c.kind, f.env.BuildInfo.Command, f.env.BuildInfo.Version), path, body, 0)
		return
	}
	index := slices.IndexFunc(ottlComponents, func(known ottlComponent) bool {
		return known.section == section && slices.Contains(namesOf(factory), known.kind)
	})
	if index < 0 {
		return
	}
	declared := &declaration{component: ottlComponents[index], name: id}
	declared.component.kind = c.kind
	for key, value := range pairs(resolve(body)) {
		declared.flattens = declared.flattens || key == "flatten_data" && resolve(value).Value == "true"
	}
	config := reflect.TypeOf(factory.CreateDefaultConfig())
	for _, field := range declared.component.fields {
		if !declares(config, field.pattern[0]) {
			continue // it came with a later version
		}
		f.match(declared, walk{field: field, node: body, path: path})
	}
	f.declarations = append(f.declarations, declared)
}

// declares reports whether a configuration's type has a setting of that name.
func declares(config reflect.Type, name string) bool {
	for config.Kind() == reflect.Pointer {
		config = config.Elem()
	}
	if config.Kind() != reflect.Struct {
		return false
	}
	for i := range config.NumField() {
		field := config.Field(i)
		key, options, _ := strings.Cut(field.Tag.Get("mapstructure"), ",")
		if key == name || strings.Contains(options, "squash") && declares(field.Type, name) {
			return true
		}
	}
	return false
}

// namesOf are the types under which a configuration may name a component: its own, and the one that it had before it was
// renamed.
func namesOf(factory component.Factory) []string {
	names := []string{factory.Type().String()}
	if former, renamed := alias.Of(factory); renamed {
		names = append(names, former.String())
	}
	return names
}

// walk is the position reached on the way from a component's body along a field's pattern.
type walk struct {
	field ottlField
	// depth is the number of parts of the pattern already followed.
	depth int
	node  *yaml.Node
	steps []step
	path  string
	// holder is the mapping that the last key was looked up in, and heldAt the number of steps to it.
	holder *yaml.Node
	heldAt int
}

func (w walk) to(next step, node *yaml.Node) walk {
	w.steps = append(slices.Clip(w.steps), next)
	if next.key != "" || w.field.pattern[w.depth] != "[]" {
		w.holder, w.heldAt = resolve(w.node), len(w.steps)-1
		w.path += "::" + next.key
	} else {
		w.path += fmt.Sprintf("[%d]", next.index)
	}
	w.depth++
	w.node = node
	return w
}

func (f *finder) match(declared *declaration, w walk) {
	if f.visits++; f.visits > maxVisits && f.err == nil {
		f.err = notYAML("yaml: document contains excessive aliasing")
	}
	if f.err != nil {
		return
	}
	node := resolve(w.node)
	if w.depth == len(w.field.pattern) {
		f.leaf(declared, w, node)
		return
	}
	part := w.field.pattern[w.depth]
	switch {
	case node.Kind == yaml.ScalarNode:
		f.scalarInstead(w, node, part)
	case part == "[]" && node.Kind == yaml.SequenceNode:
		for i, entry := range node.Content {
			f.match(declared, w.to(step{index: i}, entry))
		}
	case part != "[]" && node.Kind == yaml.MappingNode:
		for key, value := range pairs(node) {
			if part == "*" || key == part {
				f.match(declared, w.to(step{key: key}, value))
			}
		}
	}
}

// scalarInstead handles a scalar where the pattern expects a list or a mapping: it is skipped if it could hold
// expressions.
func (f *finder) scalarInstead(w walk, node *yaml.Node, part string) {
	reason := unknowable(node.Value)
	if reason == "" {
		if part != "[]" || w.depth != len(w.field.pattern)-1 || node.Tag == "!!null" {
			return
		}
		reason = "a list of strings is expected here"
	}
	f.skip(w.path, node, reason)
}

// leaf handles the node at the end of a pattern, where an expression belongs.
func (f *finder) leaf(declared *declaration, w walk, node *yaml.Node) {
	listed := w.field.pattern[len(w.field.pattern)-1] == "[]"
	switch {
	case isSplit(node):
		f.counted()
		message := "YAML reads this as a mapping, because `: ` separates a key from its value: put it in quotes"
		f.split = append(f.split, Item{
			Location: Location{Path: w.path, Line: node.Line, Column: node.Column}, Kind: w.field.kind,
			Expression: node.Content[0].Value + ": " + node.Content[1].Value, Error: &message,
		})
		return
	case node.Kind != yaml.ScalarNode:
		if len(w.field.pattern) > 2 || !declared.component.together {
			f.wrong(w.path, node)
		}
		return // in a transform processor's list a mapping is a group of statements
	case !listed && (node.Tag == "!!null" || node.Value == ""):
		return // the component treats it as absent
	case node.Tag != "!!str":
		if reason := unknowable(node.Value); reason == "" {
			f.wrong(w.path, node)
			return
		}
	}
	e := &expression{
		field: w.field, steps: w.steps, written: node.Value, resolved: unescaped(node.Value), path: w.path,
		context: w.field.context,
	}
	if reason := f.surroundings(e, w, node); reason != "" {
		f.skip(w.path, node, reason)
		return
	}
	f.counted()
	e.position = f.text.Scalar(node).Position
	declared.expressions = append(declared.expressions, e)
}

// isSplit tells whether a mapping is an expression without quotes: its only key cannot be a setting's name.
func isSplit(node *yaml.Node) bool {
	if node.Kind != yaml.MappingNode || node.Style&yaml.FlowStyle != 0 || len(node.Content) != 2 {
		return false
	}
	key := node.Content[0]
	return key.Kind == yaml.ScalarNode && key.Style == 0 && strings.ContainsAny(key.Value, `("=<> `)
}

// surroundings reads the settings that decide how the expression is read. It returns the reason if the expression
// cannot be checked.
func (f *finder) surroundings(e *expression, w walk, node *yaml.Node) string {
	if reason := unknowable(node.Value); reason != "" {
		return reason
	}
	if w.field.contextKey == "" {
		return ""
	}
	e.context = w.field.defaultContext
	for key, value := range pairs(w.holder) {
		value = resolve(value)
		if key != w.field.contextKey || value.Tag == "!!null" || value.Kind == yaml.ScalarNode && value.Value == "" {
			continue
		}
		if value.Kind == yaml.ScalarNode && unknowable(value.Value) != "" {
			return "its context is not known here: " + unknowable(value.Value)
		}
		var decoded any
		if err := value.Decode(&decoded); err != nil {
			return "its context cannot be read: " + err.Error()
		}
		e.context = strings.ToLower(value.Value)
		e.beside = []setting{{append(slices.Clip(w.steps[:w.heldAt]), step{key: key}), decoded}}
	}
	return ""
}

// unknown skips what looks like expressions in a component that is not in this build.
func (f *finder) unknown(reason, path string, node *yaml.Node, depth int) {
	if f.visits++; f.visits > maxVisits && f.err == nil {
		f.err = notYAML("yaml: document contains excessive aliasing")
	}
	if f.err != nil || depth > 100 {
		return
	}
	node = resolve(node)
	if node.Kind == yaml.SequenceNode {
		for i, entry := range node.Content {
			f.unknown(reason, fmt.Sprintf("%s[%d]", path, i), entry, depth+1)
		}
	}
	for key, value := range pairs(node) {
		within := path + "::" + key
		value = resolve(value)
		switch {
		case !namesOTTL(key):
		case value.Kind == yaml.ScalarNode && value.Tag == "!!str":
			f.skip(within, value, reason)
			continue
		case value.Kind == yaml.SequenceNode:
			for i, entry := range value.Content {
				if entry = resolve(entry); entry.Kind == yaml.ScalarNode && entry.Tag == "!!str" {
					f.skip(fmt.Sprintf("%s[%d]", within, i), entry, reason)
				}
			}
		}
		f.unknown(reason, within, value, depth+1)
	}
}

func namesOTTL(key string) bool {
	for _, word := range []string{"condition", "conditions", "statement", "statements"} {
		if key == word || strings.HasSuffix(key, "_"+word) {
			return true
		}
	}
	return false
}

func (f *finder) skip(path string, node *yaml.Node, reason string) {
	if f.seen[path] {
		return
	}
	f.seen[path] = true
	f.counted()
	line, column := node.Line, node.Column
	if node.Kind == yaml.ScalarNode {
		line, column = f.text.Scalar(node).Position(0)
	}
	f.skipped = append(f.skipped, Skipped{
		Location: Location{Path: path, Line: line, Column: column}, Expression: node.Value, Reason: reason,
	})
}

// wrong skips an entry that is not a string: it cannot be judged, and the component refuses it or crashes.
func (f *finder) wrong(path string, node *yaml.Node) {
	f.skip(path, node, "a string is expected here, not a "+kindName(node))
	f.unjudged = true
}

func (f *finder) counted() {
	if f.count++; f.count > f.most && f.err == nil {
		f.err = tooMany(f.most)
	}
}

func kindName(node *yaml.Node) string {
	names := map[string]string{
		"!!int": "number", "!!float": "number", "!!bool": "boolean", "!!timestamp": "date", "!!binary": "binary value",
		"!!null": "null", "!!map": "mapping", "!!seq": "list",
	}
	if name, known := names[node.ShortTag()]; known {
		return name
	}
	return node.ShortTag()
}

// resolve follows aliases to the node that they stand for.
func resolve(node *yaml.Node) *yaml.Node {
	for node != nil && node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	if node == nil {
		return &yaml.Node{}
	}
	return node
}
