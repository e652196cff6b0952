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

	"github.com/headgate/headgate/layers/collector/internal/around"
	"github.com/headgate/headgate/layers/collector/internal/bounds"
	"github.com/headgate/headgate/layers/collector/internal/logged"
	"github.com/headgate/headgate/layers/collector/internal/operation"
	"github.com/headgate/headgate/layers/collector/internal/source"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/otelcol"
	"go.opentelemetry.io/collector/pipeline"
	"go.uber.org/zap"
	"go.yaml.in/yaml/v3"
)

// Request is a configuration, and the environment variables and files that it may refer to; there are no others.
type Request struct {
	YAML string            `json:"yaml"`
	Env  map[string]string `json:"env"`
	// Files are texts by the path in `${file:PATH}`.
	Files map[string]string `json:"files"`
}

// Result is the verdict, the errors, the warnings, and the variables that the configuration refers to.
type Result struct {
	Valid       bool       `json:"valid"`
	Errors      []Finding  `json:"errors"`
	Warnings    []Finding  `json:"warnings"`
	Environment []Variable `json:"environment"`
	// Wrapped is the configuration inside of a text that is something else.
	Wrapped *Part `json:"wrapped,omitempty"`
	// NoConfiguration is set if the text is something else and has no configuration inside, as its one error says.
	NoConfiguration bool `json:"no_configuration,omitempty"`
	// ValidOnHost is what remains without errors that depend on the host: true, false, or nil if that is not known.
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
	// Cause is what the finding comes from, nil where that is the text itself or not known.
	Cause *Cause `json:"cause,omitempty"`

	// path are the names of ComponentPath, and where it is shorter those that lead to the place.
	path []string
	// needs is what a host must have for this not to be an error, empty for an error of the text.
	needs string
}

// Cause is what a finding comes from, for whoever groups findings of many texts.
type Cause struct {
	Kind CauseKind `json:"kind"`
	// Names are the names in the text: a component's type, a key, a feature gate, or variables.
	Names []string `json:"names"`
	// Instead is what this release calls it, what replaced it, or the distribution that has it; empty where nothing is known.
	Instead string `json:"instead"`
}

// CauseKind is the stable word for a kind of cause.
type CauseKind string

// The kinds of causes. A renamed name is that of another release, newer or older.
const (
	NewerRelease      CauseKind = "newer_release"
	OlderRelease      CauseKind = "older_release"
	Removed           CauseKind = "removed"
	OtherDistribution CauseKind = "other_distribution"
	GateOff           CauseKind = "feature_gate"
	VariableUnset     CauseKind = "variable"
)

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
	plain := resolved.plain
	if err != nil {
		// Another release may resolve what this one cannot, so the unresolved text is priced.
		plain = nil
		if document.Root() == nil || document.Root().Decode(&plain) != nil {
			plain = nil
		}
	}
	if cost := tooCostly(err, bounds.Configuration(plain)); cost != nil {
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
func notInBuild(env *operation.Environment, top map[string]any) error {
	if len(env.Lacking) == 0 {
		return nil
	}
	for _, section := range source.Sections {
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
	resolved, err := affordable(ctx, document, request)
	return resolved.conf, err
}

// affordable is Resolve, with what it has recorded; without a configuration if that would take too long.
func affordable(ctx context.Context, document *source.Document, request Request) (*resolved, error) {
	if cost := tooCostly(document.Affordable(), request.replaced()); cost != nil {
		return &resolved{}, cost
	}
	resolved, err := resolve(ctx, document, request)
	if cost := tooCostly(err, bounds.Configuration(resolved.plain)); cost != nil {
		resolved.conf, err = nil, cost
	}
	return resolved, err
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

	resolved   *resolved
	unresolved error
	used       map[string]map[string]bool
	// built are the configurations of what was built, nil if nobody asks for them.
	built map[string]component.Config
	// logged are the messages of what was built, by what it was built as.
	logged    map[string]*logged.Messages
	factories *otelcol.Factories
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
	if r.resolved == nil {
		r.resolved, r.unresolved = affordable(ctx, r.Document, r.Request)
	}
	return r.resolved.conf, r.unresolved
}

// Parsed returns the text with its root, nil if there is none. Its error says why it is not a configuration: keys that
// repeat, or aliases that blow up, are found where it is decoded.
func (r *Reading) Parsed(context.Context) (string, *yaml.Node, error) {
	if r.NotYAML != nil {
		return "", nil, r.NotYAML
	}
	if r.resolved == nil {
		var decoded map[string]any
		if err := yaml.Unmarshal([]byte(r.Request.YAML), &decoded); err != nil {
			return "", nil, errors.New(r.Document.Undecodable(err))
		}
	}
	return r.Request.YAML, r.Document.Root(), nil
}

// Plain returns the resolved configuration as a mapping, for reading only; nil if it cannot be resolved.
func (r *Reading) Plain(ctx context.Context) map[string]any {
	if _, err := r.Resolve(ctx); err != nil {
		return nil
	}
	return r.resolved.plain
}

// Built tells whether the dry run has built a component: the configuration is valid, and a pipeline lists it.
func (r *Reading) Built(section, name string) bool {
	if !r.Valid || r.resolved == nil {
		return false
	}
	if r.used == nil {
		r.used = usage(r.resolved.plain)
	}
	return r.used[section][strings.TrimSpace(name)]
}

// Config returns the configuration of a component as the dry run has decoded it, nil if it has not built the component.
func (r *Reading) Config(section, name string) component.Config {
	return r.built[section+separator+strings.TrimSpace(name)]
}

// Logged returns the messages with which a component was created for a signal in the dry run, nil if it was not.
func (r *Reading) Logged(section, name string, signal pipeline.Signal) []string {
	if log := r.logged[section+separator+strings.TrimSpace(name)+separator+signal.String()]; r.Valid && log != nil {
		return log.Texts()
	}
	return nil
}

// Factories returns factories that have built nothing but what a valid text has.
func (r *Reading) Factories(env *operation.Environment) (otelcol.Factories, error) {
	if r.factories == nil {
		factories, err := env.Factories()
		if err != nil {
			return factories, fmt.Errorf("making the factories: %w", err)
		}
		r.factories = &factories
	}
	return *r.factories, nil
}

// watched returns the environment with these factories, which keep the configurations of what they build if somebody
// asks for them.
func (r *Reading) watched(env *operation.Environment) *operation.Environment {
	watching := *env
	types := r.types()
	watching.Factories = func() (otelcol.Factories, error) {
		factories, err := r.Factories(env)
		if r.built == nil || len(types) == 0 || err != nil {
			return factories, err
		}
		return around.Watcher(r.watch).Watched(factories, types...), nil
	}
	return &watching
}

// types returns those of the components that the text declares.
func (r *Reading) types() []component.Type {
	if r.NotYAML != nil {
		return nil
	}
	var types []component.Type
	for _, section := range source.Sections {
		for _, name := range r.Document.Keys(section) {
			var id component.ID
			if id.UnmarshalText([]byte(name)) == nil && !slices.Contains(types, id.Type()) {
				types = append(types, id.Type())
			}
		}
	}
	return types
}

func (r *Reading) watch(
	place around.Place, telemetry *component.TelemetrySettings, next any,
) (any, func(component.Component) component.Component) {
	built := place.Section + separator + place.ID.String()
	r.built[built] = place.Config
	if place.From == place.To {
		log := &logged.Messages{}
		r.logged[built+separator+place.From.String()] = log
		telemetry.Logger = zap.New(log)
	}
	return next, func(created component.Component) component.Component { return created }
}

// Validate checks a configuration. Its error has the code too_costly if the collector would take too long,
// and component_not_in_build if the verdict depends on a component that this build lacks; other errors are internal.
func Validate(ctx context.Context, env *operation.Environment, request Request) (*Result, error) {
	return NewReading(request).verdict(ctx, env)
}

// Read is Validate, with what it has read, and the configurations of the components as the dry run decodes them.
func Read(ctx context.Context, env *operation.Environment, request Request) (*Result, *Reading, error) {
	reading := NewReading(request)
	reading.built, reading.logged = map[string]component.Config{}, map[string]*logged.Messages{}
	result, err := reading.verdict(ctx, env)
	return result, reading, err
}

func (r *Reading) verdict(ctx context.Context, env *operation.Environment) (*Result, error) {
	result, err := check(ctx, env, r)
	if err != nil {
		return nil, err
	}
	if !result.Valid && r.resolved != nil {
		if absent := notInBuild(env, r.resolved.plain); absent != nil {
			return nil, absent
		}
	}
	return result, nil
}

// Check is Validate without component_not_in_build: such a component is unknown to it. It returns the configuration as
// well, with everything in `${...}` replaced: nil if the text cannot be resolved.
func Check(ctx context.Context, env *operation.Environment, request Request) (*Result, *confmap.Conf, error) {
	reading := NewReading(request)
	result, err := check(ctx, env, reading)
	if err != nil || reading.resolved == nil {
		return result, nil, err
	}
	return result, reading.resolved.conf, nil
}

// check gives the verdict on what was read, and adds what it has resolved.
func check(ctx context.Context, env *operation.Environment, reading *Reading) (*Result, error) {
	request, document, err := reading.Request, reading.Document, reading.NotYAML
	if err == nil {
		if cost := tooCostly(document.Affordable(), request.replaced()); cost != nil {
			return nil, cost
		}
	}
	resolved, verdict := dryRun(ctx, reading.watched(env), request)
	if cost := tooCostly(verdict); cost != nil {
		return nil, cost
	}
	if reading.Valid = verdict == nil; !reading.Valid {
		reading.factories = nil // some remember what they have created
	}
	report := &report{result: Result{Valid: reading.Valid, Reduced: len(env.Lacking) > 0}}
	if err != nil {
		report.syntax(request.YAML, err)
		report.templates(request.YAML)
		return report.finish(verdict), nil
	}
	report.document = document
	if !reading.Valid {
		if part, found := Unwrap(request.YAML, document); found {
			if err := report.checkWrapped(ctx, env, request, part); err != nil {
				return nil, err
			}
			return report.finish(verdict), nil
		}
	}
	if resolved.conf != nil {
		reading.resolved = resolved
	}
	if document.Exceeds(maxNodes, maxDepth) {
		report.unfinished = true
		return report.finish(verdict), nil
	}
	if resolved.conf == nil {
		resolved, err = resolve(ctx, document, request)
		if cost := tooCostly(err, bounds.Configuration(resolved.plain)); cost != nil {
			return nil, cost
		}
	}
	report.variables(request, resolved)
	report.otherDocuments(request.YAML)
	factories, failed := reading.Factories(env)
	if failed != nil {
		return nil, failed
	}
	switch {
	case verdict == nil:
		report.unused(resolved.plain)
		report.ignoredKeys(factories, resolved.plain)
	case err != nil:
		report.unresolvable(err)
		report.templates(request.YAML)
		return report.finish(verdict), nil
	default:
		diagnosis := &diagnosis{report: report, env: env, refused: report.refusals(resolved)}
		diagnosis.run(ctx, resolved.conf, factories)
		if err := diagnosis.expressions(ctx, request.YAML); err != nil {
			return nil, err
		}
		reading.resolved = resolved
		report.unused(resolved.plain)
		report.wholeStatements()
		report.crashes(verdict)
		report.emptyEntries()
		report.dates()
		report.quotedValues()
		report.colons()
		report.templates(request.YAML)
		report.variableCauses(request)
	}
	report.changedValues(factories, request)
	report.lineBreaks(request)
	return report.finish(verdict), nil
}
