// Package validate gives the verdict of `otelcol-contrib validate` on a configuration, and every finding behind it.
//
// The verdict is that of the collector's own dry run. If the dry run refuses the configuration, its parts are checked
// one by one to find all errors, not only the first.
package validate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/headgate/headgate/layers/collector/internal/bounds"
	"github.com/headgate/headgate/layers/collector/internal/operation"
	"github.com/headgate/headgate/layers/collector/internal/source"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.yaml.in/yaml/v3"
)

// Request is a configuration and the environment variables that it may refer to; there are no others.
type Request struct {
	YAML string            `json:"yaml"`
	Env  map[string]string `json:"env"`
}

// Result is the verdict, the errors, the warnings, and the variables that the configuration refers to.
type Result struct {
	Valid       bool       `json:"valid"`
	Errors      []Finding  `json:"errors"`
	Warnings    []Finding  `json:"warnings"`
	Environment []Variable `json:"environment"`
	// Wrapped is the configuration inside of a text that is something else.
	Wrapped *Part `json:"wrapped,omitempty"`
	// ValidOnHost is what remains without errors that depend on the host: true, false, or nil if that decides.
	ValidOnHost *bool `json:"valid_on_host"`
	// Reduced is set if this build lacks components of the official release, none of which is in the configuration.
	Reduced bool `json:"reduced,omitempty"`
	// Crashed is set if a component has panicked: it may hold locks for ever, so the process answers no other question.
	Crashed bool `json:"crashed,omitempty"`
}

// Finding is one error or warning. Line and Column count from 1, in code points.
type Finding struct {
	Message       string `json:"message"`
	ComponentPath string `json:"component_path"`
	Code          Code   `json:"code"`
	Line          int    `json:"line"`
	Column        int    `json:"column"`
	// Fix is the change of the text that mends it, nil where that is not known.
	Fix []source.Fix `json:"fix,omitempty"`

	// path are the names of ComponentPath, and where it is shorter those that lead to the place.
	path []string
}

// Variable is an environment variable that a configuration refers to, with its first position. HasDefault is set if
// every reference has a default.
type Variable struct {
	Name          string `json:"name"`
	HasDefault    bool   `json:"has_default"`
	ComponentPath string `json:"component_path"`
}

// Code is the stable code of a kind of finding.
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
	IgnoredKey         Code = "ignored_key"
	ChangedValue       Code = "changed_value"
	Crash              Code = "crash"
	StartFailed        Code = "start_failed"
	DependsOnHost      Code = "depends_on_host"
	Wrapped            Code = "wrapped_configuration"
	Other              Code = "other"
)

// Limits on the search for all errors of a refused configuration. Above these sizes, which real configurations do not
// reach, the search would take many times as long as the verdict; then only the collector's own error is reported.
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

// HandlePrice answers `price {yaml, env}` with an empty result or the error too_costly, for collectors without a price.
func HandlePrice(ctx context.Context, _ *operation.Environment, raw json.RawMessage) (any, error) {
	var request Request
	if err := json.Unmarshal(raw, &request); err != nil {
		return nil, operation.BadRequest("price takes yaml and env: %v", err)
	}
	document, err := source.Parse(request.YAML)
	if err != nil {
		return struct{}{}, nil // the collector refuses it at once
	}
	if cost := tooCostly(document.Affordable(), request.replaced()); cost != nil {
		return nil, cost
	}
	resolved, err := resolve(ctx, document, request)
	conf := resolved.conf
	if err != nil {
		// Another release may resolve what this one cannot, so the unresolved text is priced.
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

// tooCostly returns the operation's error for a *source.Cost among the errors, nil if there is none.
func tooCostly(errs ...error) error {
	var cost *source.Cost
	if errors.As(errors.Join(errs...), &cost) {
		return &operation.Error{Code: "too_costly", Message: cost.Message}
	}
	return nil
}

// notInBuild returns the operation's error if the configuration has a component that the official release has and this
// build lacks: nothing can be said of it.
func notInBuild(env *operation.Environment, conf *confmap.Conf) error {
	if conf == nil || len(env.Lacking) == 0 {
		return nil
	}
	top := conf.ToStringMap()
	for _, section := range componentSections {
		content, _ := top[section].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(content)) {
			var id component.ID
			if id.UnmarshalText([]byte(name)) != nil {
				continue
			}
			if absent, lacks := env.Lacks(section, id.Type()); lacks {
				return env.NotInBuild(section+"::"+name, absent)
			}
		}
	}
	return nil
}

// Resolve replaces every `${...}`, by nothing if its provider is refused. Its error has the code too_costly if the
// collector would take too long over the configuration; other errors say why the text is not a configuration.
func Resolve(ctx context.Context, document *source.Document, request Request) (*confmap.Conf, error) {
	if cost := tooCostly(document.Affordable(), request.replaced()); cost != nil {
		return nil, cost
	}
	resolved, err := resolve(ctx, document, request)
	if cost := tooCostly(err, bounds.Configuration(resolved.conf)); cost != nil {
		return nil, cost
	}
	return resolved.conf, err
}

// Component validates the decoded configuration of a component, as the collector does. A panic is an error.
func Component(config component.Config) error { return validateConfig(config) }

// Reading is what the verdict has read of a text, for whatever else is asked of the text.
type Reading struct {
	Request Request
	// Document is nil, and NotYAML says why, for a text that is not YAML.
	Document *source.Document
	NotYAML  error
	// Valid is the verdict.
	Valid bool

	conf       *confmap.Conf
	unresolved error
	plain      map[string]any
	used       map[string]map[string]bool
}

// NewReading parses a text without a verdict.
func NewReading(request Request) *Reading {
	document, err := source.Parse(request.YAML)
	return &Reading{Request: request, Document: document, NotYAML: err}
}

// Resolve returns the configuration with every `${...}` replaced, as Resolve does. It is resolved once.
func (r *Reading) Resolve(ctx context.Context) (*confmap.Conf, error) {
	if r.NotYAML != nil {
		return nil, r.NotYAML
	}
	if r.conf == nil && r.unresolved == nil {
		r.conf, r.unresolved = Resolve(ctx, r.Document, r.Request)
	}
	return r.conf, r.unresolved
}

// Parsed returns the text with its root, nil if there is none. Its error says why it is not a configuration: keys that
// repeat, or aliases that blow up, are found where it is decoded.
func (r *Reading) Parsed(context.Context) (string, *yaml.Node, error) {
	if r.NotYAML != nil {
		return "", nil, r.NotYAML
	}
	if r.conf == nil {
		var decoded map[string]any
		if err := yaml.Unmarshal([]byte(r.Request.YAML), &decoded); err != nil {
			return "", nil, errors.New(r.Document.Undecodable(err))
		}
	}
	return r.Request.YAML, r.Document.Root(), nil
}

// Plain returns the resolved configuration as a mapping, for reading only; nil if it cannot be resolved.
func (r *Reading) Plain(ctx context.Context) map[string]any {
	if conf, err := r.Resolve(ctx); r.plain == nil && err == nil {
		r.plain = conf.ToStringMap()
	}
	return r.plain
}

// Built tells whether the dry run has built a component: the configuration is valid, and a pipeline lists it.
func (r *Reading) Built(section, name string) bool {
	if !r.Valid || r.conf == nil {
		return false
	}
	if r.used == nil {
		r.used = usage(r.conf)
	}
	return r.used[section][strings.TrimSpace(name)]
}

// Validate checks a configuration. Its error has the code too_costly if the collector would take too long,
// and component_not_in_build if the verdict depends on a component that this build lacks; other errors are internal.
func Validate(ctx context.Context, env *operation.Environment, request Request) (*Result, error) {
	result, _, err := Read(ctx, env, request)
	return result, err
}

// Read is Validate, with what it has read.
func Read(ctx context.Context, env *operation.Environment, request Request) (*Result, *Reading, error) {
	reading := NewReading(request)
	result, conf, err := check(ctx, env, reading)
	if err != nil {
		return nil, nil, err
	}
	if !result.Valid {
		if absent := notInBuild(env, conf); absent != nil {
			return nil, nil, absent
		}
	}
	reading.conf, reading.Valid = conf, result.Valid
	return result, reading, nil
}

// Check is Validate without component_not_in_build: such a component is unknown to it. It returns the configuration as
// well, with everything in `${...}` replaced: nil if the text cannot be resolved.
func Check(ctx context.Context, env *operation.Environment, request Request) (*Result, *confmap.Conf, error) {
	return check(ctx, env, NewReading(request))
}

func check(ctx context.Context, env *operation.Environment, reading *Reading) (*Result, *confmap.Conf, error) {
	request, document, err := reading.Request, reading.Document, reading.NotYAML
	if err == nil {
		if cost := tooCostly(document.Affordable(), request.replaced()); cost != nil {
			return nil, nil, cost
		}
	}
	resolved, verdict := dryRun(ctx, env, request)
	if cost := tooCostly(verdict); cost != nil {
		return nil, nil, cost
	}
	report := &report{result: Result{Valid: verdict == nil, Reduced: len(env.Lacking) > 0}}
	if err != nil {
		report.syntax(request.YAML, err)
		return report.finish(verdict), nil, nil
	}
	report.document = document
	if part, found := Unwrap(document); verdict != nil && found {
		if err := report.checkWrapped(ctx, env, request, part); err != nil {
			return nil, nil, err
		}
		return report.finish(verdict), nil, nil
	}
	if document.Exceeds(maxNodes, maxDepth) {
		return report.finish(verdict), resolved.conf, nil
	}
	if resolved.conf == nil {
		resolved, err = resolve(ctx, document, request)
		if cost := tooCostly(err, bounds.Configuration(resolved.conf)); cost != nil {
			return nil, nil, cost
		}
	}
	report.variables(request, resolved)
	report.otherDocuments(request.YAML)
	factories, failed := env.Factories()
	if failed != nil {
		return nil, nil, fmt.Errorf("making the factories: %w", failed)
	}
	switch {
	case verdict == nil:
		report.unused(resolved.conf)
		report.ignoredKeys(factories, resolved.conf)
	case err != nil:
		report.unresolvable(err)
		return report.finish(verdict), nil, nil
	default:
		diagnosis := &diagnosis{report: report, env: env, refused: report.refusals(resolved)}
		diagnosis.run(ctx, resolved.conf, factories)
		if err := diagnosis.expressions(ctx, request.YAML); err != nil {
			return nil, nil, err
		}
		report.unused(resolved.conf)
		report.wholeStatements()
		report.crashes(verdict)
		report.dates()
		report.variableCauses(request)
	}
	report.changedValues(factories, request)
	return report.finish(verdict), resolved.conf, nil
}
