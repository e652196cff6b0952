package mutants

import (
	"context"
	"strings"
	"testing"

	"github.com/headgate/headgate/layers/collector/internal/prepare"
	"github.com/headgate/headgate/layers/collector/internal/source"
	"go.yaml.in/yaml/v3"
)

// FuzzMutants looks for texts in which an edit changes something else, or the places of which cannot be told.
func FuzzMutants(f *testing.F) {
	for _, text := range []string{
		routed, logs("  resource: {attributes: [{key: a, value: 1, action: insert}]}\n", "resource"),
		logs("  transform:\n    log_statements:\n    - >\n      set(log.body, 1)\n      where true\n\n    - |+\n      set(log.body, 2)\n\n", "transform"),
		"processors: {a: {b: [[1, 2], {c: 3, }, ? d], ? e : &f [*f , g]}}\nservice: {pipelines: {logs: {processors: [a]}}}",
		"processors:\n  a:\n    b:\n    - - 1\n      - 2\n    - c: 1\n      d: true\n    -\n      # e\n      - !!int 3\nservice: {pipelines: {logs: {processors: [a]}}}",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		text = strings.ToValidUTF8(text, "\ufffd") // as in any request, which is JSON
		_, asked, err := prepare.Reaches(context.Background(), text, nil, nil, nil)
		if err != nil {
			return
		}
		reaches, _, err := prepare.Reaches(context.Background(), text, nil, asked, nil)
		if err != nil {
			t.Fatal(err)
		}
		document, err := source.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		finder := newFinder(document, reaches)
		finder.find()
		m := &maker{document: document, request: Request{YAML: text}}
		for _, one := range spread(finder.candidates) {
			edited, ok := m.edited(one)
			if !ok {
				continue
			}
			var plain any
			if yaml.Unmarshal([]byte(edited), &plain) == nil && edited == text {
				t.Fatalf("%q: %s changes nothing", text, one.description)
			}
		}
	})
}
