// Package explain adds to findings what they come from, and the changes of the text that mend them, as far as other
// packages than validate know.
package explain

import (
	"context"
	"encoding/json"
	"regexp"
	"strings"

	"github.com/headgate/headgate/layers/collector/internal/alias"
	"github.com/headgate/headgate/layers/collector/internal/history"
	"github.com/headgate/headgate/layers/collector/internal/operation"
	"github.com/headgate/headgate/layers/collector/internal/rename"
	"github.com/headgate/headgate/layers/collector/internal/source"
	"github.com/headgate/headgate/layers/collector/internal/validate"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/otelcol"
)

const separator = "::"

// gated is what the collector says of a pipeline whose signal is behind a feature gate.
var gated = regexp.MustCompile(`gated under the "([\w.]+)" feature gate`)

// Handle answers as validate.Handle, with Findings.
func Handle(ctx context.Context, env *operation.Environment, raw json.RawMessage) (any, error) {
	var request validate.Request
	if err := json.Unmarshal(raw, &request); err != nil {
		return nil, operation.BadRequest("validate takes yaml, env and files: %v", err)
	}
	result, err := validate.Validate(ctx, env, request)
	if err == nil {
		Findings(ctx, env, request, result)
	}
	return result, err
}

// Findings gives the errors of a result their causes, and each unknown component that this release has by another name the
// changes that rename it wherever the text names it. Without a way to rename it everywhere, it has none. The errors of a
// configuration inside of another text are those of the configuration.
func Findings(ctx context.Context, env *operation.Environment, request validate.Request, result *validate.Result) {
	all := result.Errors
	if result.Wrapped != nil {
		request.YAML, all = result.Wrapped.InPlace(), result.Wrapped.Errors
	}
	if len(all) == 0 {
		return
	}
	factories, err := env.Factories()
	if err != nil {
		return // whatever needs them has said so
	}
	renamed := false
	for i := range all {
		one := &all[i]
		if one.Cause == nil {
			one.Cause = causeOf(*one, env.BuildInfo.Version, factories)
		}
		renamed = renamed || isRenamed(*one)
	}
	if renamed && request.YAML != "" {
		fixes(ctx, env, request, all)
	}
}

func causeOf(one validate.Finding, version string, factories otelcol.Factories) *validate.Cause {
	path := strings.Split(one.ComponentPath, separator)
	switch {
	case one.Code == validate.PipelineGraph:
		if gate := gated.FindStringSubmatch(one.Message); gate != nil {
			return &validate.Cause{Kind: validate.GateOff, Names: gate[1:]}
		}
	case one.Code == validate.UnknownKey:
		return ofLifetime(history.OfSetting(path), path[len(path)-1], version)
	case one.Code == validate.UnknownComponent && len(path) == 2:
		return ofType(path[0], kindOf(path[1]), version, factories)
	}
	return nil
}

func ofType(section, kind, version string, factories otelcol.Factories) *validate.Cause {
	if here := knownAs(section, kind, factories); here != "" {
		release := validate.NewerRelease
		if alias.ReleaseOf(kind, here) == "older" {
			release = validate.OlderRelease
		}
		return &validate.Cause{Kind: release, Names: []string{kind}, Instead: here}
	}
	if cause := ofLifetime(history.OfComponent(section, kind), kind, version); cause != nil {
		return cause
	}
	if distribution := history.Distribution(kind); distribution != "" {
		return &validate.Cause{Kind: validate.OtherDistribution, Names: []string{kind}, Instead: distribution}
	}
	return nil
}

func ofLifetime(lifetime history.Lifetime, name, version string) *validate.Cause {
	switch {
	case lifetime.IsNewer(version):
		return &validate.Cause{Kind: validate.NewerRelease, Names: []string{name}}
	case lifetime.IsRemoved(version):
		return &validate.Cause{Kind: validate.Removed, Names: []string{name}, Instead: lifetime.Instead}
	}
	return nil
}

// knownAs returns what this release calls a type of a section that another release calls `kind`, "" for nothing.
func knownAs(section, kind string, factories otelcol.Factories) string {
	used, err := component.NewType(kind)
	if err != nil {
		return ""
	}
	if factory, is := alias.Known(operation.FactoriesOf(section, factories), used); is {
		return factory.Type().String()
	}
	return ""
}

func kindOf(id string) string {
	kind, _, _ := strings.Cut(strings.TrimSpace(id), "/")
	return strings.TrimSpace(kind)
}

func isRenamed(one validate.Finding) bool {
	return one.Code == validate.UnknownComponent && one.Cause != nil && one.Cause.Instead != "" &&
		(one.Cause.Kind == validate.NewerRelease || one.Cause.Kind == validate.OlderRelease)
}

func fixes(ctx context.Context, env *operation.Environment, request validate.Request, all []validate.Finding) {
	renamed, err := rename.Rename(ctx, env, request)
	if err != nil {
		return // a text that cannot be renamed has its findings all the same
	}
	stays := map[string]bool{}
	for _, one := range renamed.NotRenamed {
		stays[one.From] = true
	}
	changes := map[string][]source.Fix{}
	for _, one := range renamed.Renames {
		if !stays[one.From] {
			changes[one.From] = append(changes[one.From], source.Fix{
				Line: one.Line, Column: one.Column, EndLine: one.Line, EndColumn: one.Column + len(one.From), Text: one.To,
			})
		}
	}
	for i, one := range all {
		if isRenamed(one) && one.Fix == nil {
			all[i].Fix = changes[one.Cause.Names[0]]
		}
	}
}
