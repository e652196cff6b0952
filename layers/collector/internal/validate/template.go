package validate

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/headgate/headgate/layers/collector/internal/source"
	"go.yaml.in/yaml/v3"
)

var (
	// templateAction matches an action of a template where a line or a value begins, which is nothing that YAML knows.
	templateAction = regexp.MustCompile(`(?m)^[ \t]*(?:- +|[\w./"'-]+:[ \t]+)*(\{\{|\{%|<%)`)
	ofHelm         = regexp.MustCompile(`\{\{[^}]*(?:\.(?:Values|Release|Chart|Capabilities)\b|\b(?:include|n?indent|toYaml|tpl) )`)
)

// templates says of errors that come from actions of a template that the text must be rendered first. A text that is not
// YAML because of them has one error, at the first of them.
func (r *report) templates(text string) {
	way := "this text is a template: render it, and check what comes out"
	isHelm := ofHelm.MatchString(text)
	if isHelm {
		way = "this text is a template of a Helm chart: render it with `helm template`, and check what comes out"
	}
	for i := range r.result.Errors {
		finding := &r.result.Errors[i]
		if finding.Code == YAMLSyntax {
			if action := templateAction.FindStringSubmatchIndex(text); action != nil {
				at := positionIn(text, action[2])
				finding.Line, finding.Column, finding.Fix = at.Line, at.Column, nil
				finding.Message += "; " + way
				r.result.Errors = slices.Delete(r.result.Errors, i+1, len(r.result.Errors))
			}
			return
		}
		node := r.document.Node(finding.path...)
		if node != nil && isHelm && node.Kind == yaml.ScalarNode && strings.Contains(node.Value, "{{") {
			finding.Message += "; " + way
		}
	}
}

func positionIn(text string, offset int) source.Position {
	before := text[:offset]
	start := strings.LastIndexByte(before, '\n') + 1
	return source.Position{Line: strings.Count(before, "\n") + 1, Column: utf8.RuneCountInString(before[start:]) + 1}
}
