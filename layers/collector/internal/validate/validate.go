// Package validate gives the verdict of `otelcol-contrib validate` on a configuration, and every finding behind it.
//
// The verdict is that of the collector's own dry run. Only when it refuses the configuration is that taken apart, to
// find all that is wrong rather than the first.
package validate

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/headgate/headgate/layers/collector/internal/bounds"
	"github.com/headgate/headgate/layers/collector/internal/operation"
	"github.com/headgate/headgate/layers/collector/internal/source"
	"go.opentelemetry.io/collector/confmap"
)

// Request is a configuration and the environment variables that it may refer to; there are no others.
type Request struct {
	YAML string            `json:"yaml"`
	Env  map[string]string `json:"env"`
}

// Result is the verdict, what is wrong, what deserves a look, and the variables that the configuration refers to.
type Result struct {
	Valid       bool       `json:"valid"`
	Errors      []Finding  `json:"errors"`
	Warnings    []Finding  `json:"warnings"`
	Environment []Variable `json:"environment"`
}

// Finding is one thing to say of a configuration. Line and Column count from 1, in code points.
type Finding struct {
	Message       string `json:"message"`
	ComponentPath string `json:"component_path"`
	Code          Code   `json:"code"`
	Line          int    `json:"line"`
	Column        int    `json:"column"`
}

// Variable is an environment variable that a configuration refers to, at its first place. HasDefault says that no
// place needs a value.
type Variable struct {
	Name          string `json:"name"`
	HasDefault    bool   `json:"has_default"`
	ComponentPath string `json:"component_path"`
}

// Code is a stable word for a kind of finding.
type Code string

// The kinds of findings.
const (
	YAMLSyntax         Code = "yaml_syntax"
	UnknownSection     Code = "unknown_section"
	UnknownComponent   Code = "unknown_component"
	UnknownKey         Code = "unknown_key"
	WrongType          Code = "wrong_type"
	InvalidValue       Code = "invalid_value"
	UndefinedReference Code = "undefined_reference"
	UnusedComponent    Code = "unused_component"
	PipelineGraph      Code = "pipeline_graph"
	ProviderNotAllowed Code = "provider_not_allowed"
	UnsetVariable      Code = "unset_variable"
	Other              Code = "other"
)

// What bounds the work on a refused configuration and the answer about it. Beyond these sizes, which no configuration
// that people write comes near, taking it apart would take many times as long as the verdict; the collector's own words
// have to do.
const (
	maxFindings = 500
	maxMessage  = 4000
	maxNodes    = 50_000
	maxDepth    = 100
)

// Handle answers `validate {yaml, env}` with a Result.
func Handle(ctx context.Context, env *operation.Environment, raw json.RawMessage) (any, error) {
	var request Request
	if err := json.Unmarshal(raw, &request); err != nil {
		return nil, operation.BadRequest("validate takes yaml and env: %v", err)
	}
	return Validate(ctx, env, request)
}

// HandlePrice answers `price {yaml, env}` with nothing, or the error too_costly: for a collector that cannot tell.
func HandlePrice(ctx context.Context, _ *operation.Environment, raw json.RawMessage) (any, error) {
	var request Request
	if err := json.Unmarshal(raw, &request); err != nil {
		return nil, operation.BadRequest("price takes yaml and env: %v", err)
	}
	document, err := source.Parse(request.YAML)
	if err != nil {
		return struct{}{}, nil // what is not YAML is refused as soon as it is read
	}
	if cost := tooCostly(document.Affordable(), request.replaced()); cost != nil {
		return nil, cost
	}
	resolved, err := resolve(ctx, document, request)
	conf := resolved.conf
	if err != nil {
		// Another release may read what this one cannot: then the text as it stands is priced.
		var plain map[string]any
		if document.Root() == nil || document.Root().Decode(&plain) != nil {
			plain = nil
		}
		conf = confmap.NewFromStringMap(plain)
	}
	if cost := tooCostly(err, bounds.Configuration(conf)); cost != nil {
		return nil, cost
	}
	return struct{}{}, nil
}

// tooCostly is the operation's error for a *source.Cost among the errors, nil if there is none.
func tooCostly(errs ...error) error {
	var cost *source.Cost
	if errors.As(errors.Join(errs...), &cost) {
		return &operation.Error{Code: "too_costly", Message: cost.Message}
	}
	return nil
}

// Validate judges a configuration. It fails with too_costly for one that the collector would take too long over, with
// panicked for one on which it crashes, and when the collector's factories cannot be made.
func Validate(ctx context.Context, env *operation.Environment, request Request) (*Result, error) {
	document, err := source.Parse(request.YAML)
	if err == nil {
		if cost := tooCostly(document.Affordable(), request.replaced()); cost != nil {
			return nil, cost
		}
	}
	resolved, verdict := dryRun(ctx, env, request)
	if cost := tooCostly(verdict); cost != nil {
		return nil, cost
	}
	if errors.As(verdict, new(panicked)) {
		return nil, &operation.Error{Code: "panicked", Message: verdict.Error()}
	}
	report := &report{result: Result{Valid: verdict == nil}}
	if err != nil {
		report.notYAML(err)
		return report.finish(verdict), nil
	}
	report.document = document
	if document.Exceeds(maxNodes, maxDepth) {
		return report.finish(verdict), nil
	}
	if resolved.conf == nil {
		resolved, err = resolve(ctx, document, request)
		if cost := tooCostly(err, bounds.Configuration(resolved.conf)); cost != nil {
			return nil, cost
		}
	}
	report.variables(request, resolved)
	report.otherDocuments(request.YAML)
	switch {
	case verdict == nil:
		report.unused(resolved.conf)
	case err != nil:
		report.unresolvable(err)
	default:
		diagnosis := &diagnosis{report: report, env: env, refused: report.refusals(resolved)}
		if err := diagnosis.run(ctx, resolved.conf); err != nil {
			return nil, err
		}
		report.unused(resolved.conf)
	}
	return report.finish(verdict), nil
}
