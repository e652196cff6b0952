package policies

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/headgate/headgate/layers/collector/internal/decoded"
	"github.com/headgate/headgate/layers/collector/internal/source"
	"go.yaml.in/yaml/v3"
)

// Suppression is a comment that suppresses findings of one code:
//
//	# headgate: allow insecure_tls until 2027-03 because the backend has no certificate yet
//
// It stands on the finding's line, or on the lines directly above it with nothing else on them. Until is empty, a month
// or a day, and part of the time. Problem is nil, or why the comment does not do what it says.
type Suppression struct {
	Code    string  `json:"code"`
	Line    int     `json:"line"`
	Until   string  `json:"until"`
	Reason  string  `json:"reason"`
	Used    bool    `json:"used"`
	Problem *string `json:"problem"`

	// covers is the line of the findings that it suppresses.
	covers int
	// broken is set if it suppresses nothing because of its words.
	broken bool
}

const maxSuppressions = 500

var (
	marker    = regexp.MustCompile(`#[ \t]*headgate:[ \t]*allow\b`)
	codes     = regexp.MustCompile(`^[ \t]*([A-Za-z0-9_-]+(?:[ \t]*,[ \t]*[A-Za-z0-9_-]+)*)`)
	expiry    = regexp.MustCompile(`^[ \t]+until\b[ \t]*(\S*)`)
	because   = regexp.MustCompile(`^[ \t]+because\b[ \t]*(.*)$`)
	separates = regexp.MustCompile(`[ \t]*,[ \t]*`)
)

// suppress marks the findings that the text's comments suppress, and returns the comments.
func suppress(request Request, document *source.Document, today time.Time, list []Finding) []Suppression {
	found := comments(request.YAML, document)
	known := map[string]bool{}
	for _, policy := range all {
		known[policy.Code] = true
	}
	refused := map[string]bool{}
	for _, rule := range request.Rules {
		known[rule.Name] = true
		refused[rule.Name] = !rule.Suppressible
	}
	for _, code := range request.NotSuppressible {
		refused[code] = true
	}
	for i := range found {
		one := &found[i]
		switch last, err := lastDay(one.Until); {
		case one.broken:
		case !known[one.Code]:
			one.breaks("there is no policy or rule %q", one.Code)
		case refused[one.Code]:
			one.breaks("your organization does not allow comments to suppress %s", one.Code)
		case err != nil:
			one.breaks("%v", err)
		case one.Reason == "":
			one.breaks("it has no reason; write `allow %s because ...`", one.Code)
		case !last.IsZero() && today.After(last):
			one.breaks("it expired on %s", last.Format(time.DateOnly))
		}
		for j := range list {
			if one.broken || list[j].Code != one.Code || list[j].Line != one.covers || list[j].standsForMore {
				continue
			}
			one.Used = true
			if list[j].Suppressed == nil {
				list[j].Suppressed = &Suppressed{Line: one.Line, Until: one.Until, Reason: one.Reason}
			}
		}
		if !one.broken && !one.Used {
			one.tells("it suppresses nothing: line %d has no finding of %s", one.covers, one.Code)
		}
	}
	return found
}

func (s *Suppression) breaks(format string, arguments ...any) {
	s.broken = true
	s.tells(format, arguments...)
}

func (s *Suppression) tells(format string, arguments ...any) {
	problem := fmt.Sprintf(format, arguments...)
	s.Problem = &problem
}

// lastDay returns the last day of a month or a day as it is written, the zero time for none.
func lastDay(until string) (time.Time, error) {
	if until == "" {
		return time.Time{}, nil
	}
	if day, err := time.Parse(time.DateOnly, until); err == nil {
		return day, nil
	}
	month, err := time.Parse("2006-01", until)
	if err != nil {
		return time.Time{}, fmt.Errorf("`until` takes a month or a day, such as 2027-03 or 2027-03-31")
	}
	return month.AddDate(0, 1, -1), nil
}

// comments returns the suppressions of a text, in its order.
func comments(text string, document *source.Document) []Suppression {
	found := []Suppression{}
	if !marker.MatchString(text) {
		return found
	}
	lines := document.Lines()
	inValues := markersInValues(document)
	for i, line := range lines {
		at := marker.FindStringIndex(line)
		if at == nil || inValues[source.Position{Line: i + 1, Column: len([]rune(line[:at[0]])) + 1}] {
			continue
		}
		if at[0] > 0 && line[at[0]-1] != ' ' && line[at[0]-1] != '\t' {
			continue // not the beginning of a comment
		}
		covers := i + 1
		if strings.TrimSpace(line[:at[0]]) == "" {
			for covers++; covers <= len(lines) && strings.HasPrefix(strings.TrimSpace(lines[covers-1]), "#"); {
				covers++
			}
		}
		found = append(found, parsed(line[at[1]:], i+1, covers)...)
		if len(found) >= maxSuppressions {
			return found[:maxSuppressions]
		}
	}
	return found
}

// markersInValues returns the positions at which a marker is part of a value or a key, for example in a block of text.
func markersInValues(document *source.Document) map[source.Position]bool {
	found := map[source.Position]bool{}
	document.Nodes(func(_ []string, node *yaml.Node) {
		if node.Kind != yaml.ScalarNode || !strings.Contains(node.Value, "headgate:") {
			return
		}
		scalar := document.ScalarOf(node)
		for _, at := range marker.FindAllStringIndex(node.Value, maxSuppressions) {
			line, column := scalar.Position(at[0])
			found[source.Position{Line: line, Column: column}] = true
		}
	})
	return found
}

// parsed reads what follows `allow`.
func parsed(words string, line, covers int) []Suppression {
	one := Suppression{Line: line, covers: covers}
	match := codes.FindStringSubmatch(words)
	if match == nil {
		one.breaks("it names no code; write `headgate: allow CODE because ...`")
		return []Suppression{one}
	}
	rest := words[len(match[0]):]
	if until := expiry.FindStringSubmatch(rest); until != nil {
		one.Until = decoded.Shortened(until[1], 40)
		rest = rest[len(until[0]):]
		if one.Until == "" || one.Until == "because" {
			one.Until = ""
			one.breaks("`until` takes a month or a day, such as 2027-03 or 2027-03-31")
		}
	}
	if reason := because.FindStringSubmatch(rest); reason != nil {
		one.Reason = decoded.Shortened(strings.TrimSpace(reason[1]), 300)
	} else if !one.broken && strings.TrimSpace(rest) != "" {
		one.breaks("it cannot be read after the code; write `allow CODE until 2027-03 because ...`")
	}
	var list []Suppression
	for _, code := range separates.Split(match[1], 20) {
		one.Code = decoded.Shortened(code, 100)
		if !slices.ContainsFunc(list, func(other Suppression) bool { return other.Code == one.Code }) {
			list = append(list, one)
		}
	}
	return list
}
