package together

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/headgate/headgate/layers/collector/internal/operation"
	"github.com/headgate/headgate/layers/collector/version/distribution"
)

func TestAWholeTextMayHoldMoreExpressionsThanARequest(t *testing.T) {
	var statements strings.Builder
	for n := range 450 {
		fmt.Fprintf(&statements, "\n        - set(log.attributes[\"a%d\"], \"b\")", n)
	}
	text := "processors:\n  transform:\n    log_statements:\n      - statements:" + statements.String() + "\n"
	raw, err := json.Marshal(map[string]any{"yaml": text, "parts": []string{lintPart}})
	if err != nil {
		t.Fatal(err)
	}
	settings := distribution.Settings()
	env := &operation.Environment{
		BuildInfo: settings.BuildInfo, Factories: distribution.Factories, Components: settings.Factories,
	}
	result, err := Handle(context.Background(), env, raw)
	if err != nil {
		t.Fatal(err)
	}
	lint := result.(*Result).Lint
	if lint.Problem != nil || lint.Result.Checked != 450 || !lint.Result.Valid {
		t.Errorf("%+v, %v", lint.Problem, lint.Result)
	}
}
