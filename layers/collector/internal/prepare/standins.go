package prepare

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/headgate/headgate/layers/collector/internal/nearest"
	"go.yaml.in/yaml/v3"
)

// Limits of what a run leaves out and puts in.
const (
	mostSkipped      = 50
	mostReplaced     = 20
	mostAttributes   = 100
	longestAttribute = 256
	longestText      = 4_096
	mostVariables    = 100
	// An environment and the arguments may take a quarter of the collector's stack, which is 1 MB (see the sandbox), and
	// one variable 128 KB.
	largestEnvironment = 128 << 10
)

// standInType is the processor that stands in for others: every collector has it, and it takes values of any type.
const standInType = "resource"

// InsteadOf is how the id of a stand-in begins, before the id of the processor that it replaces.
const InsteadOf = standInType + "/headgate_instead_of_"

// StandInID returns the processor that sets resource attributes in the place of that one.
func StandInID(id string) string { return InsteadOf + id }

// replace leaves out the processors of Skip, and replaces those of Attributes by processors that set these.
func (s *source) replace(lifted *lifted, request Request) (notes []string, err error) {
	if len(request.Skip) > mostSkipped {
		return nil, standInProblem("skip", "it names %d components: a run leaves out at most %d", len(request.Skip), mostSkipped)
	}
	if len(request.Attributes) > mostReplaced {
		return nil, standInProblem("attributes", "it names %d components: a run replaces at most %d", len(request.Attributes), mostReplaced)
	}
	for place, id := range request.Skip {
		if slices.Contains(request.Skip[:place], id) {
			return nil, standInProblem("skip", "it names %s twice", shown(id))
		}
		if _, replaced := request.Attributes[id]; replaced {
			return nil, standInProblem("skip", "it names %s, which `attributes` replaces: choose one of the two", shown(id))
		}
		if problem := s.requireProcessor("skip", id, lifted); problem != nil {
			return nil, problem
		}
	}
	standIns := map[string]*yaml.Node{}
	instead := map[string]string{}
	for _, id := range names(request.Attributes) {
		if problem := s.requireProcessor("attributes", id, lifted); problem != nil {
			return nil, problem
		}
		body, problem := settingAttributes(id, request.Attributes[id])
		if problem != nil {
			return nil, problem
		}
		instead[id] = StandInID(id)
		for s.component("processors", instead[id]) != nil {
			instead[id] += "_"
		}
		standIns[instead[id]] = body
		notes = append(notes, fmt.Sprintf("attributes puts %s in the place of processors::%s: it sets %s",
			instead[id], id, strings.Join(names(request.Attributes[id]), ", ")))
	}
	if len(request.Skip) > 0 {
		notes = append(notes, "skip leaves out processors::"+strings.Join(request.Skip, ", processors::"))
	}
	lifted.standIns = standIns
	lifted.processors = slices.DeleteFunc(lifted.processors, func(id string) bool {
		return slices.Contains(request.Skip, id) || instead[id] != ""
	})
	for place := range lifted.pipelines {
		var kept []string
		for _, id := range lifted.pipelines[place].processors {
			switch {
			case slices.Contains(request.Skip, id):
			case instead[id] != "":
				kept = append(kept, instead[id])
			default:
				kept = append(kept, id)
			}
		}
		lifted.pipelines[place].processors = kept
	}
	return notes, nil
}

// requireProcessor returns a problem unless the id is a processor of the run.
func (s *source) requireProcessor(field, id string, lifted *lifted) *Problem {
	if slices.Contains(lifted.processors, id) {
		return nil
	}
	whatItIs := ""
	switch {
	case slices.Contains(lifted.connectors, id):
		whatItIs = "is a connector, without which the pipelines that it feeds would get nothing: name processors, or test " +
			"one of these pipelines by itself"
	case s.lists(lifted, id, func(one pipeline) []string { return one.receivers }):
		whatItIs = "is a receiver, which the sample replaces anyway: leave it out of " + field
	case s.lists(lifted, id, func(one pipeline) []string { return one.exporters }):
		whatItIs = "is an exporter, which a recorder replaces anyway: leave it out of " + field
	case s.component("processors", id) != nil:
		whatItIs = "is a processor of no pipeline that this run starts: leave it out of " + field + inRun(lifted)
	case s.component("extensions", id) != nil:
		whatItIs = "is an extension, which a run starts only for a processor or connector that uses it"
		if users := s.usersOf(lifted, id); len(users) > 0 {
			whatItIs += ": name " + strings.Join(users, ", ") + " instead"
		} else {
			whatItIs += ": leave it out of " + field
		}
	case s.component("receivers", id) != nil || s.component("exporters", id) != nil || s.component("connectors", id) != nil:
		whatItIs = "is a component of no pipeline that this run starts: leave it out of " + field + inRun(lifted)
	default:
		whatItIs = "is not a component of the configuration" + nearest.DidYouMean(id, lifted.processors) + inRun(lifted)
	}
	return standInProblem(field, "%s %s", shown(id), whatItIs)
}

// lists tells whether one of the run's pipelines names the component there.
func (s *source) lists(lifted *lifted, id string, of func(pipeline) []string) bool {
	return slices.ContainsFunc(lifted.pipelines, func(kept keptPipeline) bool {
		return slices.Contains(of(s.pipelines[kept.id]), id)
	})
}

// usersOf returns the processors of the run that refer to an extension.
func (s *source) usersOf(lifted *lifted, extension string) []string {
	return slices.DeleteFunc(slices.Clone(lifted.processors), func(id string) bool {
		return !slices.Contains(references(s.component("processors", id)), extension)
	})
}

// inRun names the run's processors.
func inRun(lifted *lifted) string {
	const most = 20
	if len(lifted.processors) == 0 {
		return "; the run has no processors"
	}
	shown := lifted.processors[:min(most, len(lifted.processors))]
	text := "; the run's processors are " + strings.Join(shown, ", ")
	if more := len(lifted.processors) - len(shown); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// settingAttributes returns the settings of the stand-in that sets these resource attributes.
func settingAttributes(id string, attributes map[string]json.RawMessage) (*yaml.Node, *Problem) {
	if len(attributes) == 0 {
		return nil, standInProblem("attributes", "%s has no attributes: name at least one, or leave the component out with skip", shown(id))
	}
	if len(attributes) > mostAttributes {
		return nil, standInProblem("attributes", "%s has %d attributes: at most %d are possible", shown(id), len(attributes), mostAttributes)
	}
	actions := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
	for _, key := range names(attributes) {
		if key == "" || len(key) > longestAttribute {
			return nil, standInProblem("attributes", "%s: the name %s has %d bytes; 1 to %d are possible",
				shown(id), shown(key), len(key), longestAttribute)
		}
		value, reason := scalarOf(attributes[key])
		if reason != "" {
			return nil, standInProblem("attributes", "%s: the value of %s %s", shown(id), shown(key), reason)
		}
		action := mapping()
		put(action, "key", scalar(plainText(key)))
		put(action, "value", value)
		put(action, "action", scalar("upsert"))
		actions.Content = append(actions.Content, action)
	}
	return pair("attributes", actions), nil
}

// scalarOf returns a JSON value as a node of the same type, or why it cannot be an attribute.
func scalarOf(raw json.RawMessage) (_ *yaml.Node, reason string) {
	const notScalar = "is not a text, a number or a boolean"
	written := strings.TrimSpace(string(raw))
	switch {
	case strings.HasPrefix(written, `"`):
		var text string
		if err := json.Unmarshal(raw, &text); err != nil {
			return nil, notScalar
		}
		if len(text) > longestText {
			return nil, fmt.Sprintf("has %d bytes; at most %d are possible", len(text), longestText)
		}
		return scalar(plainText(text)), ""
	case written == "true" || written == "false":
		return boolean(written == "true"), ""
	case !strings.ContainsAny(written, ".eE"):
		number, err := strconv.ParseInt(written, 10, 64)
		if err != nil && json.Valid(raw) && written != "null" && !strings.ContainsAny(written, "[{") {
			return nil, "is not a 64-bit integer"
		}
		if err != nil {
			return nil, notScalar
		}
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: strconv.FormatInt(number, 10)}, ""
	}
	number, err := strconv.ParseFloat(written, 64)
	if err != nil || math.IsInf(number, 0) {
		return nil, notScalar
	}
	text := strconv.FormatFloat(number, 'g', -1, 64)
	if !strings.ContainsAny(text, ".e") {
		text += ".0"
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!float", Value: text}, ""
}

// plainText returns a text that the collector's resolver leaves as it is.
func plainText(text string) string { return strings.ReplaceAll(text, "$", "$$") }

var variableName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`)

// obeyed are the names that the loader, the C library and Go's runtime obey, whatever a configuration says.
var obeyed = regexp.MustCompile(`^(LD_.*|GLIBC_TUNABLES|MALLOC_.*|GODEBUG|GOTRACEBACK|GOCOVERDIR)$`)

// checkEnv returns what a collector's environment cannot hold.
func checkEnv(env map[string]string) *Problem {
	if len(env) > mostVariables {
		return standInProblem("env", "it has %d variables: a run takes at most %d", len(env), mostVariables)
	}
	size := 0
	for _, name := range names(env) {
		if !variableName.MatchString(name) {
			return standInProblem("env", "%s is not the name of a variable: use letters, digits and _, no digit first", shown(name))
		}
		if obeyed.MatchString(name) {
			return standInProblem("env", "%s changes the collector's program, not its configuration, so a run does not take it: "+
				"give the variable another name in the configuration", name)
		}
		if strings.ContainsRune(env[name], 0) || !utf8.ValidString(env[name]) {
			return standInProblem("env", "the value of %s has a NUL character, which an environment cannot hold", name)
		}
		size += len(name) + len(env[name]) + len("=\x00")
	}
	if size > largestEnvironment {
		return standInProblem("env", "its names and values take %d bytes: a run takes at most %d together", size, largestEnvironment)
	}
	return nil
}

func standInProblem(field, format string, arguments ...any) *Problem {
	return &Problem{Field: field, Message: fmt.Sprintf(format, arguments...)}
}
