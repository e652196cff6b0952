package source

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// scalarAt parses a text of the form `key: <scalar>`, however deep, and gives the first scalar whose value holds the mark.
func scalarAt(t *testing.T, text, mark string) *yaml.Node {
	t.Helper()
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(text), &document); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	var find func(node *yaml.Node) *yaml.Node
	find = func(node *yaml.Node) *yaml.Node {
		if node.Kind == yaml.ScalarNode && strings.Contains(node.Value, mark) {
			return node
		}
		for _, child := range node.Content {
			if found := find(child); found != nil {
				return found
			}
		}
		return nil
	}
	node := find(&document)
	if node == nil {
		t.Fatalf("no scalar of %q holds %q", text, mark)
	}
	return node
}

func TestThePositionOfAMarkInEveryStyleOfScalar(t *testing.T) {
	for name, text := range map[string]string{
		"plain":                        "a: one @ two\n",
		"plain over lines":             "a: one\n  two\n\n  three @ four\n",
		"plain in flow":                "a: [one, two @ three, four]\n",
		"plain in flow over lines":     "a: [one,\n two\n   @ three]\n",
		"plain with characters":        "a: größe 日本 @ b\n",
		"single quoted":                "a: 'it''s @ x'\n",
		"single quoted over lines":     "a: 'it''s\n  \n\n   some @ x'\n",
		"double quoted":                "a: \"q \\\" @ x\"\n",
		"double quoted with escapes":   "a: \"\\t\\x41\\u00e9\\U0001F600\\n\\\\ \\_\\N @\"\n",
		"double quoted over lines":     "a: \"one\n   two\n\n three\\\n    four \\\n\n   @ x\"\n",
		"literal":                      "a: |\n  one\n    two @\n",
		"literal, stripped":            "a: |-\n  one\n\n  two @ x\n\n",
		"literal, kept":                "a: |+\n\n  one\n  two @ x\n\n\n",
		"literal with indentation":     "a:\n  - |2\n      one\n    two @\n",
		"literal with both indicators": "a:\n  - |1-\n      one\n    two @\n",
		"literal with comment":         "a: | # why\n  one\n  two @\n",
		"literal, leading blank lines": "a: |\n\n \n  two @\n",
		"literal at the end":           "a: |\n  one\n  two @",
		"literal with line of blanks":  "a: |\n  one\n     \n  two @\n",
		"folded":                       "a: >\n  one\n  two @\n",
		"folded, stripped":             "a: >-\n  one\n\n\n  two\n  three @\n",
		"folded, deeper lines":         "a: >\n  one\n    two\n    three\n\n  four @\n",
		"folded, leading blank lines":  "a: >\n\n\n  one\n  two @\n",
		"folded with indentation":      "a: >3\n     one\n   two @\n",
		"anchor":                       "a: &x one @ two\nb: *x\n",
		"anchor and tag":               "a: &x !!str\n  'one @ two'\n",
		"tag and comment":              "a: !!str # why\n  'one @ two'\n",
		"carriage returns":             "b: 1\r\na: |\r\n  one\r\n  two @ x\r\n",
		"quoted, carriage returns":     "a: \"one\r\n  two\r\n\r\n  @ x\"\r\n",
		"byte order mark":              "\ufeffa: one @ two\n",
		"second document part":         "---\n# a\na: one @ two\n...\n",
	} {
		t.Run(name, func(t *testing.T) {
			node := scalarAt(t, text, "@")
			line, column := NewText(text).Scalar(node).Position(strings.Index(node.Value, "@"))

			before := strings.TrimPrefix(text[:strings.Index(text, "@")], "\ufeff")
			lastLine := before[strings.LastIndex(before, "\n")+1:]
			wantLine, wantColumn := strings.Count(before, "\n")+1, len([]rune(lastLine))+1
			if line != wantLine || column != wantColumn {
				t.Errorf("the mark is at %d:%d, not %d:%d, of\n%s", wantLine, wantColumn, line, column, text)
			}
		})
	}
}

func TestTheEndOfAValueIsBehindItsLastCharacter(t *testing.T) {
	for text, want := range map[string]string{
		"a: one":         "1:7",
		"a: 'one'":       "1:8",
		"a: \"one\" ":    "1:8",
		"a: |-\n  one\n": "2:6",
		"a: [one ]":      "1:8",
	} {
		node := scalarAt(t, text, "one")
		line, column := NewText(text).Scalar(node).Position(len(node.Value))
		if got := fmt.Sprintf("%d:%d", line, column); got != want {
			t.Errorf("the end of the value of %q is at %s, not %s", text, want, got)
		}
	}
}

func TestAScalarThatCannotBeReadBackIsPlacedAtItsStart(t *testing.T) {
	node := scalarAt(t, "a: one", "one")
	node.Value = "something else"
	if line, column := NewText("a: one").Scalar(node).Position(4); line != 1 || column != 4 {
		t.Errorf("placed at %d:%d, not 1:4", line, column)
	}
}

func TestScalarsWrittenByTheYAMLLibraryAreReadBack(t *testing.T) {
	random := rand.New(rand.NewSource(5))
	alphabet := []string{"a", "b", " ", "  ", "\n", "\n\n", "é", "日", `"`, `'`, `\`, ":", "#", "[", "]", "%", "-", "\t", "x y"}
	styles := []yaml.Style{0, yaml.DoubleQuotedStyle, yaml.SingleQuotedStyle, yaml.LiteralStyle, yaml.FoldedStyle}
	for range 3000 {
		var value strings.Builder
		for range 1 + random.Intn(60) {
			value.WriteString(alphabet[random.Intn(len(alphabet))])
		}
		written := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value.String(), Style: styles[random.Intn(len(styles))]}
		text, err := yaml.Marshal(map[string]any{"k": []any{map[string]any{"v": written}}})
		if err != nil {
			t.Fatal(err)
		}
		var document yaml.Node
		if err := yaml.Unmarshal(text, &document); err != nil {
			continue // what the library wrote and does not read is not for us to place
		}
		node := document.Content[0].Content[1].Content[0].Content[1]
		if NewText(string(text)).Scalar(node).origins == nil {
			t.Fatalf("value %q could not be read back from\n%s", node.Value, text)
		}
	}
}
