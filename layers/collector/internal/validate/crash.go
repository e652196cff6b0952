package validate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/headgate/headgate/layers/collector/internal/operation"
	"github.com/headgate/headgate/layers/collector/internal/source"
	"go.yaml.in/yaml/v3"
)

// panicked is a component's panic: the collector would crash. The trace goes to our log only.
type panicked struct {
	reason any
	// component is the package of the component that the stack names, "" if it names none.
	component string
}

func (p panicked) Error() string {
	of := ""
	if p.component != "" {
		of = " in " + p.component
	}
	return fmt.Sprintf("the collector crashes on this%s: %v", of, p.reason)
}

var componentPackage = regexp.MustCompile(`/(\w+(?:receiver|processor|exporter|connector|extension))(?:@|/|\.)`)

func recovered(err *error) {
	if reason := recover(); reason != nil {
		stack := string(debug.Stack())
		fmt.Fprintf(os.Stderr, "panic: %v\n%s", reason, stack)
		*err = panicked{reason: reason, component: componentOfStack(stack)}
	}
}

// componentOfStack returns the package of the component that a stack names first, "" if it names none.
func componentOfStack(stack string) string {
	if match := componentPackage.FindStringSubmatch(stack); match != nil {
		return match[1]
	}
	return ""
}

// crashedOn is a text on which a process has crashed, and what Go's runtime reported of it.
type crashedOn struct {
	YAML   string `json:"yaml"`
	Report string `json:"report"`
}

// Crashed has the finding about a crash: none unless the goroutine that crashed was in a component.
type Crashed struct {
	Findings []Finding `json:"findings"`
}

// HandleCrashed answers `crashed {yaml, report}` with a Crashed.
func HandleCrashed(_ context.Context, _ *operation.Environment, raw json.RawMessage) (any, error) {
	var asked crashedOn
	if err := json.Unmarshal(raw, &asked); err != nil {
		return nil, operation.BadRequest("crashed takes yaml and report: %v", err)
	}
	answer := Crashed{Findings: []Finding{}}
	reason, stacks, _ := strings.Cut(asked.Report, "\n")
	_, reason, _ = strings.Cut(reason, ": ")
	_, first, _ := strings.Cut(stacks, "goroutine ")
	first, _, _ = strings.Cut(first, "\n\n")
	crash := panicked{reason: reason, component: componentOfStack(first)}
	document, err := source.Parse(asked.YAML)
	if err != nil || crash.component == "" {
		return answer, nil
	}
	if cost := tooCostly(document.Affordable()); cost != nil {
		return answer, nil
	}
	report := &report{document: document}
	report.crashes(crash)
	answer.Findings = report.result.Errors
	return answer, nil
}

// crashes gives the findings about a panic their code, and the place of an empty entry of a list, which components often
// do not expect.
func (r *report) crashes(verdict error) {
	var crash panicked
	if !errors.As(verdict, &crash) {
		return
	}
	r.result.Crashed = true
	if len(r.result.Errors) == 0 {
		r.error(Crash, atKey, r.componentIn(crash.component), crash.Error())
	}
	for i := range r.result.Errors {
		finding := &r.result.Errors[i]
		if !strings.HasPrefix(finding.Message, "the collector crashes on this") && !strings.Contains(finding.Message, "' the collector crashes on this") {
			continue
		}
		finding.Code = Crash
		finding.placeAtEmpty(r.emptyEntriesOfLists())
	}
}

// emptyEntries places errors about a whole component at an empty entry of a list in it, if there is one.
func (r *report) emptyEntries() {
	var empties []scalar
	for i := range r.result.Errors {
		finding := &r.result.Errors[i]
		if finding.Code != InvalidValue || len(finding.path) != 2 || finding.path[0] == "service" {
			continue
		}
		if empties == nil {
			if empties = r.emptyEntriesOfLists(); len(empties) == 0 {
				return
			}
		}
		finding.placeAtEmpty(empties)
	}
}

// emptyEntriesOfLists returns the entries of lists in the text that are empty.
func (r *report) emptyEntriesOfLists() []scalar {
	return slices.DeleteFunc(r.scalarsBelow(nil, "!!null"), func(empty scalar) bool {
		holder := r.document.Node(empty.path[:max(len(empty.path)-1, 0)]...)
		return holder == nil || holder.Kind != yaml.SequenceNode
	})
}

// placeAtEmpty moves a finding to the first of these entries that is below it.
func (f *Finding) placeAtEmpty(empties []scalar) {
	for _, empty := range empties {
		if isWithin(empty.path, f.path) {
			f.place(empty)
			f.Message += "; the entry is empty: remove it"
			return
		}
	}
}

// componentIn returns the path of the only component of a package, or that of its section.
func (r *report) componentIn(name string) []string {
	for _, section := range source.Sections {
		kind, is := strings.CutSuffix(name, strings.TrimSuffix(section, "s"))
		if !is {
			continue
		}
		for _, id := range r.document.Keys(section) {
			of, _, _ := strings.Cut(id, "/")
			if strings.ReplaceAll(of, "_", "") == kind {
				return []string{section, id}
			}
		}
		return []string{section}
	}
	return []string{"service"}
}
