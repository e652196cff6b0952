package rules

import (
	"context"
	"encoding/json"

	"github.com/headgate/headgate/layers/collector/internal/operation"
)

type compileRequest struct {
	Signals []string `json:"signals"`
	Rules   []Rule   `json:"rules"`
}

type compileResult struct {
	Refusals []Refusal `json:"refusals"`
}

// Handle answers `compile {signals, rules}` with `{refusals: [{index, field, message}]}`: none means that all compile.
func Handle(_ context.Context, raw json.RawMessage) (any, error) {
	var request compileRequest
	if err := json.Unmarshal(raw, &request); err != nil {
		return nil, operation.BadRequest("reading the request: %v", err)
	}
	_, refusals, err := Compile(request.Signals, request.Rules)
	if err != nil {
		return nil, err
	}
	if refusals == nil {
		refusals = []Refusal{}
	}
	return compileResult{refusals}, nil
}
