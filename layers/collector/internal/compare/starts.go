package compare

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/headgate/headgate/layers/collector/internal/operation"
)

// Bounds of what is told of one side.
const (
	maxMessages = 50
	maxMessage  = 500
)

// readyLine ends a start.
const readyLine = "Everything is ready. Begin running and processing data."

// logLine is a line of the collector's log: time, level, perhaps the place in the source, the message, and fields.
var logLine = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\S+\t(warn|error|dpanic|panic|fatal)\t(?:\S+\.go:\d+\t)?([^\t]*)(?:\t(\{.*\}))?$`)

// Message is what a component, or the collector itself, logs while it starts.
type Message struct {
	Level string `json:"level"`
	// Component is `processors::batch`, empty if the collector itself logs.
	Component string `json:"component"`
	Message   string `json:"message"`
}

// Start is what one collector logged. Logs are the standard errors of its runs; Built is what the components of the
// whole configuration log while they are built, also those that a test replaces, and so is Renamed.
type Start struct {
	Logs    []string  `json:"logs"`
	Built   []Message `json:"built"`
	Renamed []Renamed `json:"renamed"`
}

// Renamed is a component whose type the collector knows by a new name. It warns of that when it starts.
type Renamed struct {
	Component string `json:"component"`
	Type      string `json:"type"`
	To        string `json:"to"`
}

// Starts is what only one of two collectors logs while it starts. LeftOut counts what is not told, of both.
type Starts struct {
	Left    []Message `json:"left"`
	Right   []Message `json:"right"`
	Same    int       `json:"same"`
	LeftOut int       `json:"left_out"`
}

// HandleStarts answers `compare_starts {left, right}`, each with `logs`, `built` and `renamed`: warnings and errors from the start of
// the collector until it is ready, each once, without times, places in the source and fields.
func HandleStarts(_ context.Context, raw json.RawMessage) (any, error) {
	var asked struct{ Left, Right Start }
	if err := json.Unmarshal(raw, &asked); err != nil {
		return nil, operation.BadRequest("reading the request: %v", err)
	}
	left, right := asked.Left.messages(), asked.Right.messages()
	result := &Starts{Left: []Message{}, Right: []Message{}}
	for one := range left {
		if right[one] {
			result.Same++
		} else {
			result.Left = append(result.Left, one)
		}
	}
	for one := range right {
		if !left[one] {
			result.Right = append(result.Right, one)
		}
	}
	for _, side := range []*[]Message{&result.Left, &result.Right} {
		slices.SortFunc(*side, func(a, b Message) int {
			return cmp.Or(cmp.Compare(severity(b.Level), severity(a.Level)), cmp.Compare(a.Component, b.Component), cmp.Compare(a.Message, b.Message))
		})
		if over := len(*side) - maxMessages; over > 0 {
			*side, result.LeftOut = (*side)[:maxMessages], result.LeftOut+over
		}
	}
	return result, nil
}

func severity(level string) int { return max(slices.Index([]string{"warn", "error"}, level), 0) }

// messages are those of all logs, each once.
func (s Start) messages() map[Message]bool {
	found := map[Message]bool{}
	for _, one := range s.Built {
		if one.Level == "warn" || one.Level == "error" {
			found[one.short()] = true
		}
	}
	for _, one := range s.Renamed {
		found[Message{"warn", one.Component, fmt.Sprintf("%q alias is deprecated; use %q instead", one.Type, one.To)}.short()] = true
	}
	for _, log := range s.Logs {
		for line := range strings.SplitSeq(log, "\n") {
			if strings.Contains(line, readyLine) {
				break
			}
			if match := logLine.FindStringSubmatch(line); match != nil {
				if one := messageOf(match); !ours(one.Component) {
					found[one.short()] = true
				}
			}
		}
	}
	return found
}

func messageOf(match []string) Message {
	var fields struct {
		ID    string `json:"otelcol.component.id"`
		Kind  string `json:"otelcol.component.kind"`
		Error string `json:"error"`
	}
	_ = json.Unmarshal([]byte(match[3]), &fields) // What is not JSON, or has other types, has no fields that are told.
	level := match[1]
	if level != "warn" {
		level = "error"
	}
	one := Message{Level: level, Message: match[2]}
	if fields.ID != "" && fields.Kind != "" {
		one.Component = strings.ToLower(fields.Kind) + "s::" + fields.ID
	}
	if fields.Error != "" {
		one.Message += ": " + fields.Error
	}
	return one
}

// ours tells whether a component is one that a test puts in the place of the configuration's.
func ours(component string) bool {
	return strings.Contains(component, "/headgate_") || strings.HasPrefix(component, "receivers::") && strings.HasSuffix(component, "/sample")
}

func (m Message) short() Message {
	m.Component, m.Message = start(m.Component, maxMessage), start(m.Message, maxMessage)
	return m
}
