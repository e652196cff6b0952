package validate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/headgate/headgate/layers/collector/internal/source"
)

func TestValuesThatTakeTheCollectorTooLongAreRefused(t *testing.T) {
	keys := &strings.Builder{}
	for i := range 16_000 {
		fmt.Fprintf(keys, "%x: ,", i)
	}
	for name, one := range map[string]struct {
		value      string
		references int
		refused    bool
	}{
		"a mapping with many keys":           {"{" + keys.String() + "}", 1, true},
		"a list made by aliases":             {"[&a [x,x,x,x,x,x,x,x,x,x]" + strings.Repeat(",*a", 40_000) + "]", 1, true},
		"a deep list":                        {strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000), 1, true},
		"an alias of itself":                 {"&a [*a]", 1, true},
		"a list that is used often":          {"[" + strings.Repeat("x,", 1_000) + "]", 50, true},
		"an unreadable one that is, too":     {strings.Repeat("[", 130_000), 50, true},
		"a list that is used a few times":    {"[" + strings.Repeat("x,", 1_000) + "]", 5, false},
		"a long text that is used often":     {strings.Repeat("word, ", 20_000), 50, false},
		"a long text that is not YAML":       {strings.Repeat("a: b: c ", 15_000), 5, false},
		"a small mapping that is used often": {"{a: {b: [c, d]}}", 500, false},
	} {
		text := &strings.Builder{}
		for i := range one.references {
			fmt.Fprintf(text, "a%d: '${env:V}'\n", i)
		}
		_, err := Resolved(context.Background(), text.String(), map[string]string{"V": one.value})
		var cost *source.Cost
		if errors.As(err, &cost) != one.refused || !one.refused && err != nil {
			t.Errorf("%s: %.200v", name, err)
		}
		if one.refused && !strings.Contains(cost.Message, "the value of V is a list or mapping") {
			t.Errorf("%s: %s", name, cost.Message)
		}
	}
}
