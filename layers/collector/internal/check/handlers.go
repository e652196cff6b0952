package check

import (
	"context"
	"encoding/json"

	"github.com/headgate/headgate/layers/collector/internal/components"
	"github.com/headgate/headgate/layers/collector/internal/operation"
)

// Handlers are the operations by name. An operation is a package of its own and one line here.
var Handlers = map[string]operation.Handler{
	"components": components.Handle,
}

// withoutCollector makes a handler of one that needs nothing of the collector.
func withoutCollector(handle func(context.Context, json.RawMessage) (any, error)) operation.Handler {
	return func(ctx context.Context, _ *operation.Environment, request json.RawMessage) (any, error) {
		return handle(ctx, request)
	}
}
