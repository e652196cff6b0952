package mutants

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/headgate/headgate/layers/collector/internal/source"
	"go.yaml.in/yaml/v3"
)

// Tiers of candidates.
const (
	wholeThings = iota
	decisions
	finerChanges
	tiers
)

// part is where candidates are looked for: a setting of a component, or a pipeline.
type part struct {
	*finder
	section, kind, component string
	pipelines                []string
}

// add adds a candidate, if there are not too many. Its tier comes from its kind, unless it has one.
func (p *part) add(one candidate) {
	if len(p.candidates) >= maxCandidates {
		return
	}
	one.number, one.component, one.pipelines = len(p.candidates)+1, p.component, p.pipelines
	if one.tier == wholeThings {
		one.tier = tierOf[one.kind]
	}
	p.candidates = append(p.candidates, &one)
}

var tierOf = map[Kind]int{
	Where: decisions, Operand: decisions, ActionKind: decisions, Comparison: decisions,
	Number: finerChanges, Flag: finerChanges,
}

// optional tells whether a setting is left out as a whole.
func (p *part) optional(name string) bool {
	switch name {
	case "include", "exclude":
		return p.section == "processors"
	case "multiline":
		return p.section == "receivers"
	case "default_pipelines":
		return p.section == "connectors" && p.kind == "routing"
	}
	return false
}

// maxLooking bounds the text before places on their lines, which is read for each: a text may be one line.
const maxLooking = 50_000_000

// at returns the position of a byte of a scalar's value. It is not ok once that took too much.
func (p *part) at(node *yaml.Node, offset int) (source.Position, bool) {
	if p.looking += node.Column + len(node.Value); p.looking > maxLooking {
		return source.Position{}, false
	}
	return p.document.At(node, offset), true
}

// value looks for candidates in a setting. Depth counts the lists around it.
func (p *part) value(name string, node *yaml.Node, depth int) {
	if p.visited[node] || len(p.candidates) >= maxCandidates {
		return
	}
	p.visited[node] = true
	switch node.Kind {
	case yaml.SequenceNode:
		for i, entry := range node.Content {
			p.entry(name, node, i, depth)
			p.value(name, source.Resolve(entry), depth+1)
		}
	case yaml.MappingNode:
		named := p.section == "connectors" && (p.kind == "count" || p.kind == "sum") && depth == 0 && name != ""
		eachPair(node, func(index int, key, value *yaml.Node) {
			if named {
				p.add(candidate{
					kind: Entry, position: positionOf(key), change: change{parent: node, index: index, pair: true},
					description: fmt.Sprintf("the metric %s is left out", shortened(key.Value)),
					wouldNotice: fmt.Sprintf("a rule such as metric.name == %q", shortened(key.Value)),
				})
			}
			if !slices.Contains(internal, key.Value) {
				inner := depth
				if named {
					inner++
				}
				p.value(key.Value, source.Resolve(value), inner)
			}
		})
	case yaml.ScalarNode:
		if _, isOTTL := p.ottl[node]; isOTTL {
			p.expression(node)
			return
		}
		p.scalar(name, node)
	}
}

// entry adds the candidate that leaves out an entry of a list.
func (p *part) entry(name string, list *yaml.Node, index, depth int) {
	entry := source.Resolve(list.Content[index])
	one := candidate{position: positionOf(list.Content[index]), change: change{parent: list, index: index}}
	switch kind, isOTTL := p.ottl[entry]; {
	case isOTTL && kind == "statement":
		one.kind = Statement
		one.description = fmt.Sprintf("the statement %s is left out", shortened(entry.Value))
		one.wouldNotice = noticingStatement(entry.Value)
	case isOTTL:
		one.kind = Condition
		one.description = fmt.Sprintf("the condition %s is left out", shortened(entry.Value))
		one.wouldNotice = p.noticingCondition(entry.Value)
	case p.kind == "routing" && name == "table":
		one.kind = Route
		one.description = fmt.Sprintf("the route %s is left out", shortened(textAt(entry, "condition", "statement")))
		one.wouldNotice = "a record that takes the route, and a rule on what only that pipeline does"
	case (p.kind == "attributes" || p.kind == "resource") && (name == "actions" || name == "attributes") && depth == 0:
		one.kind = Action
		one.description = fmt.Sprintf("the action on %s is left out", shortened(textAt(entry, "key", "pattern")))
		one.wouldNotice = p.noticingAction(entry)
		p.actionKind(entry)
	default:
		one.kind = Entry
		if depth > 0 {
			one.tier = finerChanges
		}
		one.description = fmt.Sprintf("%s of %s is left out", entryName(entry, index), shortened(name))
		one.wouldNotice = "a record that it decides on, and a rule on what becomes of it"
	}
	p.add(one)
}

// entryName is what a reader calls an entry of a list: its own text, or its name.
func entryName(entry *yaml.Node, index int) string {
	if entry.Kind == yaml.ScalarNode && entry.Value != "" {
		return "the entry " + shortened(entry.Value)
	}
	if name := textAt(entry, "name", "id", "key", "type", "action"); name != "" {
		return "the entry " + shortened(name)
	}
	return fmt.Sprintf("entry %d", index+1)
}

// textAt is the text of the first of these settings that a mapping has.
func textAt(mapping *yaml.Node, names ...string) string {
	for _, name := range names {
		if node := settingOf(mapping, name); node != nil && node.Kind == yaml.ScalarNode {
			return node.Value
		}
	}
	return ""
}

func settingOf(mapping *yaml.Node, name string) *yaml.Node {
	var found *yaml.Node
	eachPair(mapping, func(_ int, key, value *yaml.Node) {
		if key.Value == name {
			found = source.Resolve(value)
		}
	})
	return found
}

var otherAction = map[string]string{"insert": "upsert", "upsert": "insert", "update": "upsert"}

// actionKind adds the candidate that changes what an action does where the attribute is there already, or is not.
func (p *part) actionKind(action *yaml.Node) {
	node := settingOf(action, "action")
	if node == nil || node.Kind != yaml.ScalarNode {
		return
	}
	other, known := otherAction[strings.ToLower(node.Value)]
	if !known {
		return
	}
	key := shortened(textAt(action, "key"))
	noticing := fmt.Sprintf("a record that has %s already, and a rule on its value", key)
	if strings.EqualFold(node.Value, "update") {
		noticing = fmt.Sprintf("a record without %s, and a rule that it stays without", key)
	}
	p.add(candidate{
		kind: ActionKind, position: positionOf(node), change: change{scalar: node, end: len(node.Value), with: other},
		description: fmt.Sprintf("the action on %s is %s, not %s", key, other, node.Value), wouldNotice: noticing,
	})
}

// inVariable is a scalar that is a variable with a default.
var inVariable = regexp.MustCompile(`^\$\{(?:env:)?[A-Za-z_][A-Za-z0-9_]*:-([^${}]*)\}$`)

// scalar adds the candidate that changes a number, true or false. Durations stay: a test that waits for another time
// tells nothing.
func (p *part) scalar(name string, node *yaml.Node) {
	value, start := node.Value, 0
	if place := inVariable.FindStringSubmatchIndex(value); place != nil {
		start, value = place[2], value[place[2]:place[3]]
	} else if node.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		return // a text
	}
	whole := change{scalar: node, start: start, end: start + len(value)}
	switch strings.ToLower(value) {
	case "true", "false":
		whole.with = strconv.FormatBool(strings.EqualFold(value, "false"))
		p.add(candidate{
			kind: Flag, position: positionOf(node), change: whole,
			description: fmt.Sprintf("%s is %s, not %s", shortened(name), whole.with, value),
			wouldNotice: "a record on which it decides, and a rule on what becomes of it",
		})
		return
	}
	other, isNumber := otherNumber(value)
	if !isNumber {
		return
	}
	whole.with = other
	p.add(candidate{
		kind: Number, position: positionOf(node), change: whole,
		description: fmt.Sprintf("%s is %s, not %s", shortened(name), other, value),
		wouldNotice: fmt.Sprintf("records on both sides of %s and %s, and a rule that counts what is left", value, other),
	})
}

var decimal = regexp.MustCompile(`^-?(0|[1-9][0-9]{0,14})(\.[0-9]{1,15})?$`)

// otherNumber is twice a number; half of one from 50 to 100, which may be a percentage; and 1 for 0.
func otherNumber(text string) (string, bool) {
	if !decimal.MatchString(text) {
		return "", false
	}
	number, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil:
		return "", false
	case number == 0:
		return "1", true
	case number > 50 && number <= 100:
		number = float64(int(number / 2))
	default:
		number *= 2
	}
	return strconv.FormatFloat(number, 'f', -1, 64), true
}

// shortened is a text for a message: one line, of 200 characters at most.
func shortened(text string) string {
	const longest = 200
	text = strings.Join(strings.Fields(text), " ")
	if characters := []rune(text); len(characters) > longest {
		return string(characters[:longest]) + "…"
	}
	return text
}
