// Package operation holds the types that the operations of the check process share with the loop that serves them.
package operation

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/otelcol"
)

// Protocol is the number of what the check process and its engine say to each other, which the process states first. It
// rises when an engine could misread an answer; a new operation or field changes nothing for one that does not ask for it.
// The engine has it in engine/headgate_engine/checker/messages.py.
const Protocol = 1

// Handler answers one request. The result is marshalled as JSON; an *Error becomes the request's error as it stands.
type Handler func(ctx context.Context, env *Environment, request json.RawMessage) (any, error)

// Environment describes the collector in this binary.
type Environment struct {
	BuildInfo component.BuildInfo
	// Factories makes new factories of every component, as the collector does for each configuration: some factories
	// remember what they have created.
	Factories func() (otelcol.Factories, error)
	// Components makes the same factories, with the names of their modules, at twice the cost.
	Components func() (otelcol.Factories, error)
	// Providers are the modules of the providers, by scheme.
	Providers map[string]string
	// Lacking are the components of the official release that a reduced build does not have.
	Lacking []Absent
}

// Absent is a component that the official release of a version has, and this build of it has not. Kind is `receiver`,
// `processor`, `exporter`, `connector`, `extension` or `provider`.
type Absent struct {
	Kind   string `json:"kind"`
	Type   string `json:"type"`
	Module string `json:"module"`
}

// Lacks returns the component of a section (`receivers`) that the official release has and this build lacks. The names
// are compared without underscores: releases rename types (`hostmetrics`, `host_metrics`), and what a release calls a
// component that is not here cannot be asked. Some types are the whole name of their module (`icmpcheckreceiver`).
func (e *Environment) Lacks(section string, kind component.Type) (Absent, bool) {
	for _, absent := range e.Lacking {
		name := plain(kind.String())
		if absent.Kind+"s" == section && (name == plain(absent.Type) || name == plain(path.Base(absent.Module))) {
			return absent, true
		}
	}
	return Absent{}, false
}

func plain(name string) string { return strings.ReplaceAll(name, "_", "") }

// NotInBuild is the error of a question about a configuration with a component that this build lacks.
func (e *Environment) NotInBuild(componentPath string, absent Absent) *Error {
	return &Error{Code: "component_not_in_build", Message: fmt.Sprintf(
		"%s: this build of collector %s lacks the %s %s, which the official release has",
		componentPath, e.BuildInfo.Version, absent.Kind, absent.Type)}
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
