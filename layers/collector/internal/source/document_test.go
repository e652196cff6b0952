package source

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
)

// The marks « and » stand where the key and the value are expected; they are taken out before parsing.
func TestWhereKeysAndValuesStand(t *testing.T) {
	for name, row := range map[string]struct {
		text string
		path []string
	}{
		"block":                    {"a:\n  «b: »1\n", []string{"a", "b"}},
		"a name with dots":         {"a:\n  «otlp/my-backend.eu: »1\n", []string{"a", "otlp/my-backend.eu"}},
		"after a tab in a comment": {"# \t\na: {}\n«b: »1\n", []string{"b"}},
		"quoted key":               {"a:\n  «\"b c\": »1\n", []string{"a", "b c"}},
		"quoted key with escape":   {"«'it''s': »1\n", []string{"it's"}},
		"flow mapping":             {"a: {x: 1, «b: »2}\n", []string{"a", "b"}},
		"flow over lines":          {"a: {x: 1,\n   «b:\n »2}\n", []string{"a", "b"}},
		"flow in block":            {"a:\n  c: [{x: 1}, {«b: »2}]\n", []string{"a", "c", "1", "b"}},
		"element of a list":        {"a:\n  - x\n  - «»y\n", []string{"a", "1"}},
		"mapping in a list":        {"a:\n  - x: 1\n    «b: »2\n", []string{"a", "0", "b"}},
		"through an alias":         {"x: &x\n  «b: »1\na: *x\n", []string{"a", "b"}},
		"through a merge":          {"x: &x\n  «b: »1\na:\n  <<: *x\n  c: 2\n", []string{"a", "b"}},
		"a merge is overridden":    {"x: &x\n  b: 1\na:\n  <<: *x\n  «b: »2\n", []string{"a", "b"}},
		"the first merge wins":     {"x: &x\n  «b: »1\ny: &y {b: 2}\na:\n  <<: [*x, *y]\n", []string{"a", "b"}},
		"a merge of a merge":       {"w: &w {«b: »1}\nx: &x\n  <<: *w\na:\n  <<: *x\n", []string{"a", "b"}},
		"an alias as the value":    {"x: &x 1\na:\n  «b: »*x\n", []string{"a", "b"}},
		"block scalar":             {"a:\n  «b: »|\n    text\n", []string{"a", "b"}},
		"characters, not bytes":    {"größe: {«日本: »1}\n", []string{"größe", "日本"}},
		"the first document":       {"---\na:\n  «b: »1\n---\na:\n  b: 2\n", []string{"a", "b"}},
		"a directive before":       {"%YAML 1.1\n---\n«a: »1\n", []string{"a"}},
		"carriage returns":         {"a:\r\n  «b: »1\r\n", []string{"a", "b"}},
		"null value":               {"a:\n  «b: »\n", []string{"a", "b"}},
		"a number as the key":      {"a:\n  «8080: »1\n", []string{"a", "8080"}},
		"a key of several names":   {"a::b:\n  «c: »1\n", []string{"a", "b", "c"}},
		"a key that is an alias":   {"x: &x b\na:\n  «*x : »1\n", []string{"a", "b"}},
		"the complex way":          {"a:\n  ? «b\n  : »1\n", []string{"a", "b"}},
	} {
		t.Run(name, func(t *testing.T) {
			wantKey := mark(row.text, "«")
			wantValue := mark(row.text, "»")
			text := strings.NewReplacer("«", "", "»", "").Replace(row.text)
			document, err := Parse(text)
			if err != nil {
				t.Fatal(err)
			}

			at, found := document.find(row.path)
			if !found || positionOf(at.key) != wantKey {
				t.Errorf("key: %v (%v), not %v", at.key, found, wantKey)
			}
			value, found := document.Value(row.path...)
			if name != "null value" && (!found || value != wantValue) {
				t.Errorf("value: %v (%v), not %v", value, found, wantValue)
			}
		})
	}
}

func mark(text, mark string) Position {
	before := text[:strings.Index(text, mark)]
	before = strings.NewReplacer("«", "", "»", "").Replace(before)
	return Position{
		Line:   strings.Count(before, "\n") + 1,
		Column: len([]rune(before[strings.LastIndex(before, "\n")+1:])) + 1,
	}
}

func TestWhatIsNotThereIsNotFound(t *testing.T) {
	document, err := Parse("a:\n  b: [1]\nloop: &loop\n  <<: *loop\n")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range [][]string{{"c"}, {"a", "c"}, {"a", "b", "1"}, {"a", "b", "-1"}, {"a", "b", "x"}, {"a", "b", "0", "c"}, {"loop", "x"}} {
		if at, found := document.Value(path...); found {
			t.Errorf("%v was found at %v", path, at)
		}
	}
}

func TestTheNearestPassesOverNamesThatAreNotInTheText(t *testing.T) {
	document, err := Parse("exporters:\n  otlp:\n    tls:\n      ca_file: x\n")
	if err != nil {
		t.Fatal(err)
	}

	node, key := document.Nearest("exporters", "otlp", "clientconfig", "tls", "min_version")

	if key != (Position{Line: 3, Column: 5}) || node.Line != 4 {
		t.Errorf("found %v, line %d", key, node.Line)
	}
}

func TestAnEmptyDocumentHasNothing(t *testing.T) {
	for _, text := range []string{"", "# nothing\n", "---\n"} {
		document, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if document.Node("a") != nil {
			t.Errorf("%q has a key", text)
		}
	}
}

func TestMergesThatDoubleAreLookedThroughOnce(t *testing.T) {
	var text strings.Builder
	text.WriteString("a0: &a0 {x: 1}\n")
	for i := 1; i < 200; i++ {
		fmt.Fprintf(&text, "a%d: &a%d\n  <<: [*a%d, *a%d]\n", i, i, i-1, i-1)
	}
	document, err := Parse(text.String())
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan bool)
	go func() {
		_, found := document.Value("a199", "missing")
		done <- found
	}()
	select {
	case found := <-done:
		if found {
			t.Error("found what is not there")
		}
	case <-time.After(10 * time.Second):
		t.Fatal("still looking")
	}
}

func TestEveryScalarIsVisitedOnceWithItsPath(t *testing.T) {
	document, err := Parse("a: &a\n  b: 1\n  c: [2, {d: 3}]\ne: *a\n")
	if err != nil {
		t.Fatal(err)
	}
	var visited []string
	document.Scalars(func(path []string, node *yaml.Node) bool {
		visited = append(visited, strings.Join(path, "::")+"="+node.Value)
		return true
	})

	if got := strings.Join(visited, " "); got != "a::b=1 a::c::0=2 a::c::1::d=3" {
		t.Error(got)
	}
}

func TestDuplicateKeysAreReportedWithTheirMapping(t *testing.T) {
	document, err := Parse("a:\n  b: 1\n  c: 2\n  b: 3\n")
	if err != nil {
		t.Fatal(err)
	}
	document.DuplicateKeys(func(mapping []string, key, first *yaml.Node) {
		if mapping[0] != "a" || key.Line != 4 || first.Line != 2 {
			t.Errorf("%v %d %d", mapping, key.Line, first.Line)
		}
	})
}

func TestWhatIsNoMappingOfSectionsIsSaidWithoutTheTypesOfGo(t *testing.T) {
	for text, said := range map[string]string{
		"x\n":          NotAMapping,
		"- a\n":        NotAMapping,
		"5\n":          NotAMapping,
		"a: 1\na: 2\n": `line 2: mapping key "a" already defined at line 1`,
	} {
		document, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		var decoded map[string]any
		if got := document.Undecodable(yaml.Unmarshal([]byte(text), &decoded)); got != said {
			t.Errorf("%q: %s", text, got)
		}
	}
}

func TestTheSizeOfADocumentIsBounded(t *testing.T) {
	for name, row := range map[string]struct {
		text         string
		nodes, depth int
		exceeds      bool
	}{
		"empty":                  {"", 0, 0, false},
		"as many nodes":          {"a: [1, 2]\n", 5, 9, false},
		"one node too many":      {"a: [1, 2]\n", 4, 9, true},
		"as deep":                {"a: {b: {c: 1}}\n", 99, 3, false},
		"one level too deep":     {"a: {b: {c: 1}}\n", 99, 2, true},
		"an alias does not copy": {"a: &a [1, 2, 3]\nb: [*a, *a, *a]\n", 12, 9, false},
	} {
		t.Run(name, func(t *testing.T) {
			document, err := Parse(row.text)
			if err != nil {
				t.Fatal(err)
			}
			if got := document.Exceeds(row.nodes, row.depth); got != row.exceeds {
				t.Errorf("%v, not %v", got, row.exceeds)
			}
		})
	}
}
