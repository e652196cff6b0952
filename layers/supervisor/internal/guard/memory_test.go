package guard_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/headgate/headgate/layers/supervisor/internal/guard"
)

func TestBounded(t *testing.T) {
	for _, row := range []struct {
		name, written string
		given, want   []string
	}{
		{"a limit of 1 GiB", "1073741824\n", []string{"A=b"}, []string{"A=b", "GOMEMLIMIT=858993440"}},
		{"none in version 2", "max\n", []string{"A=b"}, []string{"A=b"}},
		{"none in version 1", "9223372036854771712\n", []string{"A=b"}, []string{"A=b"}},
		{"one of the host's own", "1073741824\n", []string{"GOMEMLIMIT=1GiB"}, []string{"GOMEMLIMIT=1GiB"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "memory.max")
			if err := os.WriteFile(file, []byte(row.written), 0o600); err != nil {
				t.Fatal(err)
			}
			if got := guard.Bounded(row.given, "/nonexistent", file); !slices.Equal(got, row.want) {
				t.Errorf("%q", got)
			}
		})
	}
}
