package source

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func expanded(t *testing.T, text string, most int) ([]string, bool) {
	t.Helper()
	document, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	var visits []string
	complete := document.Expanded(most, func(visit Visit) bool {
		kind := visit.Node.Value
		if visit.Key {
			kind = fmt.Sprint("key at ", visit.Offset)
		}
		visits = append(visits, strings.Join(visit.Path, ".")+"="+kind)
		return true
	})
	return visits, complete
}

func TestExpandedFollowsAliasesAndMergeKeys(t *testing.T) {
	for name, row := range map[string]struct {
		text string
		want []string
	}{
		"keys and values":    {"a: [x, {b: y}]\n", []string{"a=key at 0", "a.0=x", "a.1.b=key at 0", "a.1.b=y"}},
		"an alias":           {"a: &n x\nb: *n\n", []string{"a=key at 0", "a=x", "b=key at 0", "b=x"}},
		"an alias for a key": {"a: &n x\n*n : y\n", []string{"a=key at 0", "a=x", "x=key at 0", "x=y"}},
		"a merge key":        {"a: &m {k: x}\nb: {<<: *m, k: y}\n", []string{"a=key at 0", "a.k=key at 0", "a.k=x", "b=key at 0", "b.k=key at 0", "b.k=x", "b.k=key at 0", "b.k=y"}},
		"a separator":        {"a::b: x\n", []string{"a=key at 0", "a.b=key at 3", "a.b=x"}},
		"nothing":            {"", nil},
	} {
		t.Run(name, func(t *testing.T) {
			if got, complete := expanded(t, row.text, 100); !slices.Equal(got, row.want) || !complete {
				t.Errorf("%v %q", complete, got)
			}
		})
	}
}

func TestExpandedEndsAtItsLimit(t *testing.T) {
	text := "a0: &a0 [x, x]\n"
	for i := range 30 {
		text += fmt.Sprintf("a%d: &a%d [*a%d, *a%d]\n", i+1, i+1, i, i)
	}

	if visits, complete := expanded(t, text, 1_000); complete || len(visits) > 1_000 {
		t.Errorf("%d visits, complete: %v", len(visits), complete)
	}
}

func TestSpansAreThoseOfWhatIsWrittenAsItIs(t *testing.T) {
	for name, row := range map[string]struct {
		text, want string
	}{
		"plain":                        {"name: ä filelog/x\n", "filelog"},
		"quoted":                       {"name: \"ä filelog\"\n", "filelog"},
		"with other escapes before it": {"name: \"\\u00e4 filelog\"\n", "filelog"},
		"with an escape inside":        {"name: \"ä filel\\x6fg\"\n", ""},
		"in a block":                   {"name: |\n  ä filelog\n", "filelog"},
	} {
		t.Run(name, func(t *testing.T) {
			document, err := Parse(row.text)
			if err != nil {
				t.Fatal(err)
			}
			node := document.Node("name")
			start := strings.Index(node.Value, "filelog")

			from, to, literal := document.ScalarOf(node).Span(start, start+len("filelog"))

			if literal != (row.want != "") || row.text[from:to] != row.want {
				t.Errorf("%v %q", literal, row.text[from:to])
			}
		})
	}
}
