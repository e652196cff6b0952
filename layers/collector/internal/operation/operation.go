// Package operation is what an operation of the check process and the loop that serves it know of each other.
package operation

import (
	"context"
	"encoding/json"
	"fmt"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/otelcol"
)

// Handler answers one request. The result is marshalled as JSON; an *Error becomes the request's error as it stands.
type Handler func(ctx context.Context, env *Environment, request json.RawMessage) (any, error)

// Environment is the collector that this binary is.
type Environment struct {
	BuildInfo component.BuildInfo
	// Factories makes the factories of every component anew, as the collector itself does for each configuration:
	// some factories remember what they have made.
	Factories func() (otelcol.Factories, error)
}

// Error says why a request is not answered, with a stable word for the reason.
type Error struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

func (e *Error) Error() string { return e.Code + ": " + e.Message }

// BadRequest is the error of a request that is not understood.
func BadRequest(format string, arguments ...any) *Error {
	return &Error{Code: "bad_request", Message: fmt.Sprintf(format, arguments...)}
}
