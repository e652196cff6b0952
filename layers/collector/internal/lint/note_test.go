package lint

import (
	"fmt"
	"strings"
	"testing"
)

// text returns the configuration that an example stands in.
func (example noteExample) text() string {
	section, field := "processors:\n  filter:\n", strings.Split(example.field, ".")
	if strings.HasSuffix(example.field, "_statements") {
		section = "processors:\n  transform:\n"
	}
	var text strings.Builder
	text.WriteString(section)
	for depth, key := range field {
		fmt.Fprintf(&text, "%s%s:\n", strings.Repeat("  ", depth+2), key)
	}
	for _, one := range example.texts {
		if strings.HasPrefix(one, "{") {
			fmt.Fprintf(&text, "        - %s\n", one)
			continue
		}
		fmt.Fprintf(&text, "        - '%s'\n", strings.ReplaceAll(one, "'", "''"))
	}
	return text.String()
}

func TestEveryNoteIsOnItsExamplesAndOnNoOther(t *testing.T) {
	for _, kind := range notes {
		t.Run(kind.code, func(t *testing.T) {
			if !strings.HasSuffix(kind.wayOut, ".") || len(kind.noted) == 0 || len(kind.silent) == 0 {
				t.Errorf("it needs a way out and examples: %+v", kind)
			}
			for _, example := range kind.noted {
				if !hasNote(t, kind, example) {
					t.Errorf("no note on %q", example.texts)
				}
			}
			for _, example := range kind.silent {
				if hasNote(t, kind, example) {
					t.Errorf("a note on %q", example.texts)
				}
			}
		})
	}
}

func hasNote(t *testing.T, kind *note, example noteExample) bool {
	t.Helper()
	result := lintYAML(t, example.text())
	if !result.Valid || result.Checked < len(example.texts) {
		t.Fatalf("the examples must be valid: %s\n%s", asJSON(t, result), example.text())
	}
	for _, one := range result.Items[len(result.Items)-1].Notes {
		if one.Code == kind.code && one.Message != "" && one.WayOut == kind.wayOut {
			return true
		}
	}
	return false
}

func TestANoteOfAGroupStandsOnceAndSaysForHowMany(t *testing.T) {
	result := lintYAML(t, noteExample{"metric_statements", []string{
		`set(resource.attributes["a"], metric.name)`, `set(resource.attributes["b"], metric.unit)`, `set(scope.name, metric.name)`,
	}}.text())

	var said []string
	for _, item := range result.Items {
		for _, one := range item.Notes {
			said = append(said, one.Message)
		}
	}
	want := `resource.attributes["a"] is shared by many metrics, and metric.name differs between them: the last one wins; so it is in 2 more of this group`
	if len(said) != 1 || said[0] != want {
		t.Errorf("%q", said)
	}
}

func TestARecordWithAResourceOfItsOwnHasNoNoteOfSharingIt(t *testing.T) {
	text := "processors: {transform: {flatten_data: %t, log_statements: ['set(resource.attributes[\"a\"], log.attributes[\"b\"])']}}\n"

	for _, flattens := range []bool{false, true} {
		result := lintYAML(t, fmt.Sprintf(text, flattens))
		if notes := len(result.Items[0].Notes); (notes == 0) != flattens {
			t.Errorf("flatten_data %t: %d notes", flattens, notes)
		}
	}
}
