package decoded

import (
	"strings"
	"testing"
)

// TestHidingALongTextCostsItsLength takes minutes if the cost grows with the square.
func TestHidingALongTextCostsItsLength(t *testing.T) {
	long := strings.Repeat("a", 1<<20)
	for name, written := range map[string]any{
		"one text":     long,
		"many lengths": []any{long[:1_000], long[:2_000], long[:500_000], long[:400_000] + "b"},
		"secret":       map[string]any{"password": "very-secret-word"},
	} {
		got := Hiding(written).Replace("no " + strings.Join(Texts(written, 8), " ") + " word")
		if strings.Contains(got, "aaaaaaaa") || strings.Contains(got, "very-secret") || !strings.HasSuffix(got, " word") {
			t.Errorf("%s: %d bytes", name, len(got))
		}
	}
}
