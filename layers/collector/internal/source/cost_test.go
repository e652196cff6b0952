package source

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func wide(keys int) string {
	var text strings.Builder
	for i := range keys {
		fmt.Fprintf(&text, "k%d: 1\n", i)
	}
	return text.String()
}

func deep(levels int, inside string) string {
	return strings.Repeat("{a: ", levels) + inside + strings.Repeat("}", levels)
}

func aliasesTenfold(n int) string {
	return fmt.Sprintf("\na%d: &a%d [%s]", n, n, strings.Repeat(fmt.Sprintf("*a%d, ", n-1), 10))
}

func TestWhatTheCollectorWouldTakeTooLongForIsRefused(t *testing.T) {
	for name, one := range map[string]struct {
		text    string
		refused string
	}{
		"nothing":                     {"", ""},
		"many keys":                   {wide(20_000), ""},
		"too many keys":               {"a: b\n" + wide(20_000), "line 1: a mapping has 20001 keys"},
		"many levels":                 {deep(400, "1"), ""},
		"too many levels":             {deep(401, "1"), "line 1: it nests deeper than the limit of 400 levels"},
		"too many of lists":           {strings.Repeat("[", 500) + strings.Repeat("]", 500), "nests deeper"},
		"levels over aliases":         {"a: &a " + deep(250, "1") + "\nb: " + deep(250, "*a"), "line 2: it nests deeper"},
		"many mappings of many keys":  {"x:\n" + strings.ReplaceAll("\n"+wide(15_000), "\n", "\n ") + "\ny:\n" + strings.ReplaceAll("\n"+wide(15_000), "\n", "\n "), "together have too many keys"},
		"one mapping again and again": {"a: &a\n" + strings.ReplaceAll("\n"+wide(2_000), "\n", "\n ") + "\nb: [" + strings.Repeat("*a, ", 100) + "]", "together have too many keys"},
		"what contains itself":        {"a: &a [*a]", ""},
		"many entries":                {"a: [" + strings.Repeat("b,", 20_000) + "]", ""},
		"too many entries":            {"a: [" + strings.Repeat("b,", 20_001) + "]", "line 1: its lists together have 20001 entries; the limit is 20000"},
		"one list again and again":    {"a: &a [" + strings.Repeat("b,", 300) + "]\nb: [" + strings.Repeat("*a,", 100) + "]", "together have 30400 entries"},
		"what the library refuses":    {"a0: &a0 [x, x, x, x, x, x, x, x, x, x]" + aliasesTenfold(1) + aliasesTenfold(2) + aliasesTenfold(3) + aliasesTenfold(4) + aliasesTenfold(5) + aliasesTenfold(6), ""},
		"many small mappings":         {"a:\n" + strings.Repeat(" - {b: 1, c: 2, d: 3}\n", 15_000), "it has 105003 keys and values; the limit is 100000"},
	} {
		t.Run(name, func(t *testing.T) {
			document, err := Parse(one.text)
			if err != nil {
				t.Fatal(err)
			}
			var cost *Cost
			err = document.Affordable()
			switch {
			case one.refused == "" && err != nil:
				t.Error(err)
			case one.refused != "" && (!errors.As(err, &cost) || !strings.Contains(cost.Message, one.refused) || cost.Line < 1):
				t.Errorf("%v, not %s", err, one.refused)
			}
		})
	}
}
