package policies

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/headgate/headgate/layers/collector/internal/decoded"
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

// Policy is one kind of mistake in configurations that are valid. Failing and Passing are its examples, and its tests:
// the collector accepts both, and only the first has a finding of this code. Seen are threads in which users made the
// mistake.
type Policy struct {
	Code     string   `json:"code"`
	Title    string   `json:"title"`
	Severity Severity `json:"severity"`
	Why      string   `json:"why"`
	WayOut   string   `json:"way_out"`
	Seen     []string `json:"seen"`
	Failing  string   `json:"failing"`
	Passing  string   `json:"passing"`

	check func(c *configuration, found *findings)
	// has tells whether a release has what the examples are about; nil for every release.
	has func(factories otelcol.Factories) bool
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
}

// Suppressed is the comment that suppresses a finding. Until is empty if it does not expire.
type Suppressed struct {
	Line   int    `json:"line"`
	Until  string `json:"until"`
	Reason string `json:"reason"`
}

// Limits on an answer.
const (
	maxPerCode = 50
	maxMessage = 1_000
)

// findings collects those of one policy.
type findings struct {
	document *source.Document
	code     string
	severity Severity
	wayOut   string
	list     *[]Finding
	count    int
}

// at adds a finding at the key of a path, or at the nearest key above it that the text has.
func (f *findings) at(path []string, format string, arguments ...any) {
	_, position := f.document.Nearest(path...)
	f.atPosition(path, position, fmt.Sprintf(format, arguments...))
}

func (f *findings) atPosition(path []string, position source.Position, message string) {
	if f.count++; f.count > maxPerCode {
		return
	}
	if f.count == maxPerCode {
		message += "; further findings of this kind are not listed"
	}
	one := Finding{
		Code: f.code, Severity: f.severity, Message: decoded.Shortened(message, maxMessage), WayOut: f.wayOut,
		ComponentPath: strings.Join(path, separator), Line: position.Line, Column: position.Column,
	}
	if !slices.Contains(*f.list, one) {
		*f.list = append(*f.list, one)
	}
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
