package validate

import (
	"context"
	"os"
	"testing"

	"github.com/headgate/headgate/layers/collector/internal/distribution"
	"github.com/headgate/headgate/layers/collector/internal/operation"
)

func BenchmarkHundred(b *testing.B) {
	text, _ := os.ReadFile("../../../../tests/benchmarks/hundred_lines.yaml")
	env := &operation.Environment{Factories: distribution.Components}
	for i := 0; i < b.N; i++ {
		r, err := Validate(context.Background(), env, Request{YAML: string(text)})
		if err != nil || !r.Valid {
			b.Fatal(err, r)
		}
	}
}
