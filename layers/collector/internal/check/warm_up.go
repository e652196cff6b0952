package check

import (
	"context"

	"github.com/headgate/headgate/layers/collector/internal/operation"
)

// warmUp does once what the first request would otherwise wait for.
func warmUp(_ context.Context, env *operation.Environment) error {
	_, err := env.Factories()
	return err
}
