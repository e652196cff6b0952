package policies

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/headgate/headgate/layers/collector/internal/decoded"
	"github.com/headgate/headgate/layers/collector/internal/history"
	"github.com/headgate/headgate/layers/collector/internal/source"
	"go.opentelemetry.io/collector/otelcol"
)

// Severity says how bad a finding is.
type Severity string

// An error loses data, loops, fails at the start or gives a secret away; a warning does so under some conditions; an
// information is a choice that somebody should have made on purpose.
const (
	Error       Severity = "error"
	Warning     Severity = "warning"
	Information Severity = "info"
)

// Policy is one kind of mistake in configurations that are valid. Seen are threads in which users made the mistake.
type Policy struct {
	Code     string   `json:"code"`
	Title    string   `json:"title"`
	Severity Severity `json:"severity"`
	Why      string   `json:"why"`
	WayOut   string   `json:"way_out"`
	Seen     []string `json:"seen"`
	examples
	// Since is the first collector version with the mistake, Until the first that refuses it or does otherwise; empty for
	// no limit.
	Since string `json:"since"`
	Until string `json:"until"`

	check func(c *configuration, found *findings)
	// has tells whether a release has what the examples are about; nil for every release.
	has func(factories otelcol.Factories) bool
}

// examples are the tests of a policy: the collector accepts both, and only the failing one has a finding of its code.
type examples struct {
	Failing string `json:"failing"`
	Passing string `json:"passing"`
}

// fixed returns a failing example, and the passing one that replacements make of it: pairs of an old and a new text.
func fixed(failing string, replacements ...string) examples {
	return examples{Failing: failing, Passing: strings.NewReplacer(replacements...).Replace(failing)}
}

// Parts of examples that the mistake is not about.
const (
	receivingOTLP = `receivers:
  otlp:
    protocols:
      grpc:
`
	exportingOTLP = `exporters:
  otlp:
    endpoint: backend.example.com:4317
`
	tracesThroughOTLP = `service:
  pipelines:
    traces:
      receivers: [otlp]
      exporters: [otlp]
`
)

// holds tells whether a collector version has the mistake.
func (p *Policy) holds(version string) bool {
	return (p.Since == "" || !history.IsBefore(version, p.Since)) && (p.Until == "" || history.IsBefore(version, p.Until))
}

// Finding is a place at which a configuration breaks a policy. Line and Column count from 1, in code points.
type Finding struct {
	Code          string      `json:"code"`
	Severity      Severity    `json:"severity"`
	Message       string      `json:"message"`
	WayOut        string      `json:"way_out"`
	ComponentPath string      `json:"component_path"`
	Line          int         `json:"line"`
	Column        int         `json:"column"`
	Suppressed    *Suppressed `json:"suppressed"`

	// most is how many of its code are listed; standsForMore is set if others of its code were not kept.
	most          int
	standsForMore bool
}

// Suppressed is the comment that suppresses a finding. Until is empty if it does not expire.
type Suppressed struct {
	Line   int    `json:"line"`
	Until  string `json:"until"`
	Reason string `json:"reason"`
}

// Limits on an answer, and on what is kept for it: comments suppress before the list is cut, so that findings which a
// comment suppresses hide no other.
const (
	maxPerCode = 50
	maxKept    = 1_000
	maxMessage = 1_000
	maxPath    = 2_000
)

// findings collects those of one policy or rule.
type findings struct {
	document *source.Document
	code     string
	severity Severity
	wayOut   string
	most     int
	list     *[]Finding
	seen     map[Finding]bool
}

// at adds a finding at the key of a path, or at the nearest key above it that the text has.
func (f *findings) at(path []string, format string, arguments ...any) {
	if f.isFull() {
		f.leaveOut()
		return
	}
	_, position := f.document.Nearest(path...)
	f.atPosition(path, position, fmt.Sprintf(format, arguments...))
}

// atSetting adds a finding at a setting of a component, unless the setting's value is not known here.
func (f *findings) atSetting(one *entry, path []string, format string, arguments ...any) {
	if !one.unknown(path...) {
		f.at(one.path(path...), format, arguments...)
	}
}

func (f *findings) atPosition(path []string, position source.Position, message string) {
	if f.isFull() {
		f.leaveOut()
		return
	}
	one := Finding{
		Code: f.code, Severity: f.severity, Message: decoded.Shortened(message, maxMessage), WayOut: f.wayOut,
		ComponentPath: decoded.Shortened(strings.Join(path, separator), maxPath),
		Line:          position.Line, Column: position.Column, most: f.most,
	}
	if f.seen == nil {
		f.seen = map[Finding]bool{}
	}
	if !f.seen[one] {
		f.seen[one] = true
		*f.list = append(*f.list, one)
	}
}

// isFull tells whether no further finding is kept.
func (f *findings) isFull() bool { return len(f.seen) >= maxKept }

// leaveOut lets the last finding stand for one that is not kept, which a comment may not suppress: no comment suppresses
// the last one either.
func (f *findings) leaveOut() { (*f.list)[len(*f.list)-1].standsForMore = true }

// listed returns the findings in the text's order, of each code the most that are listed, and those that no comment
// suppresses first.
func listed(list []Finding) []Finding {
	list = sorted(list)
	kept, last, counts := []Finding{}, map[string]int{}, map[string]int{}
	for _, suppressed := range []bool{false, true} {
		for _, one := range list {
			if (one.Suppressed != nil) != suppressed {
				continue
			}
			if counts[one.Code]++; counts[one.Code] <= one.most {
				last[one.Code] = len(kept)
				kept = append(kept, one)
			}
		}
	}
	for code, at := range last {
		if one := &kept[at]; counts[code] > one.most || one.standsForMore {
			one.Message += "; further findings of this kind are not listed"
		}
	}
	return sorted(kept)
}

func sorted(list []Finding) []Finding {
	slices.SortStableFunc(list, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), strings.Compare(a.Code, b.Code),
			strings.Compare(a.Message, b.Message))
	})
	if list == nil {
		list = []Finding{}
	}
	return list
}
