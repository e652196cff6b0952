package validate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/headgate/headgate/layers/collector/internal/bounds"
	"github.com/headgate/headgate/layers/collector/internal/operation"
	"github.com/headgate/headgate/layers/collector/internal/source"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/otelcol"
)

// dryRun is what the command `validate` does, with a configuration from memory and providers that read nothing.
//
// What it builds is never shut down, for the collector offers no way to: about half a megabyte stays for each call, and
// some goroutines. The supervisor replaces the process before that matters.
//
// The configuration with everything in `${...}` replaced comes with the verdict, nil when it did not get that far.
func dryRun(ctx context.Context, env *operation.Environment, request Request) (seen *resolved, verdict error) {
	defer recovered(&verdict)
	seen = &resolved{}
	settings := resolverSettings(request, &seen.recorder, strict)
	settings.ConverterFactories = []confmap.ConverterFactory{confmap.NewConverterFactory(
		func(confmap.ConverterSettings) confmap.Converter { return onlooker{seen} })}
	collector, err := otelcol.NewCollector(otelcol.CollectorSettings{
		BuildInfo:              env.BuildInfo,
		Factories:              env.Factories,
		ConfigProviderSettings: otelcol.ConfigProviderSettings{ResolverSettings: settings},
	})
	if err != nil {
		return seen, err
	}
	return seen, collector.DryRun(ctx)
}

// DryRun is how long the collector's own dry run takes in this process, to which a check is compared.
type DryRun struct {
	Valid        bool    `json:"valid"`
	Milliseconds float64 `json:"milliseconds"`
}

// HandleDryRun answers `dry_run {yaml, env}` with a DryRun. No caller's text gets here: it has no limits of its own.
func HandleDryRun(ctx context.Context, env *operation.Environment, raw json.RawMessage) (any, error) {
	var request Request
	if err := json.Unmarshal(raw, &request); err != nil {
		return nil, operation.BadRequest("dry_run takes yaml and env: %v", err)
	}
	collector, err := otelcol.NewCollector(otelcol.CollectorSettings{
		BuildInfo: env.BuildInfo, Factories: env.Factories,
		ConfigProviderSettings: otelcol.ConfigProviderSettings{ResolverSettings: resolverSettings(request, &recorder{}, strict)},
	})
	if err != nil {
		return nil, fmt.Errorf("setting up the collector: %w", err)
	}
	begun := time.Now()
	verdict := func() (err error) {
		defer recovered(&err)
		return collector.DryRun(ctx)
	}()
	return DryRun{Valid: verdict == nil, Milliseconds: float64(time.Since(begun).Microseconds()) / 1_000}, nil
}

// onlooker records the resolved configuration on its way through the collector, unchanged, and refuses one that would
// take too long.
type onlooker struct{ seen *resolved }

func (o onlooker) Convert(_ context.Context, conf *confmap.Conf) error {
	plain := conf.ToStringMap()
	if err := bounds.Configuration(plain); err != nil {
		return err
	}
	o.seen.conf, o.seen.plain = conf, plain
	return nil
}

// resolverSettings are those of the command `validate`, but for the providers.
func resolverSettings(request Request, recorder *recorder, refusing []confmap.ProviderFactory) confmap.ResolverSettings {
	if len(request.Files) > 0 {
		refusing = slices.Clone(refusing)
		for i, factory := range refusing {
			refusing[i] = recorder.files(request.Files, factory)
		}
	}
	return confmap.ResolverSettings{
		URIs:              []string{"yaml:" + request.YAML},
		ProviderFactories: append([]confmap.ProviderFactory{recorder.text(), recorder.variables(request.Env)}, refusing...),
		DefaultScheme:     "env",
	}
}

// Accepts tells whether the collector accepts a configuration, without a search for the reasons if it does not. Its
// error has the code too_costly or panicked.
func Accepts(ctx context.Context, env *operation.Environment, request Request) (bool, error) {
	document, err := source.Parse(request.YAML)
	if err != nil {
		return false, nil
	}
	if cost := tooCostly(document.Affordable(), request.replaced()); cost != nil {
		return false, cost
	}
	_, verdict := dryRun(ctx, env, request)
	if cost := tooCostly(verdict); cost != nil {
		return false, cost
	}
	if errors.As(verdict, new(panicked)) {
		return false, &operation.Error{Code: "panicked", Message: verdict.Error()}
	}
	return verdict == nil, nil
}
