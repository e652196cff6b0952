// Package operation holds the types that the operations of the check process share with the loop that serves them.
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

// Environment describes the collector in this binary.
type Environment struct {
	BuildInfo component.BuildInfo
	// Factories makes new factories of every component, as the collector does for each configuration: some factories
	// remember what they have created.
	Factories func() (otelcol.Factories, error)
}

// Error is the reason why a request is not answered, with a stable code.
type Error struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

func (e *Error) Error() string { return e.Code + ": " + e.Message }

// BadRequest is the error of a request that is not understood.
func BadRequest(format string, arguments ...any) *Error {
	return &Error{Code: "bad_request", Message: fmt.Sprintf(format, arguments...)}
}
