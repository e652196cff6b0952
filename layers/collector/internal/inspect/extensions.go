package inspect

import (
	"context"

	"github.com/headgate/headgate/layers/collector/internal/decoded"
	"github.com/headgate/headgate/layers/collector/internal/validate"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension"
	"go.opentelemetry.io/collector/pdata/pcommon"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	tracenoop "go.opentelemetry.io/otel/trace/noop"
)

// createExtensions creates the extensions that the service lists, for what they log. The dry run does not create them,
// so that an error of theirs is not part of the verdict.
func (r *reader) createExtensions(
	ctx context.Context, factories map[component.Type]extension.Factory, configs map[component.ID]component.Config,
) {
	service, _ := r.plain["service"].(map[string]any)
	listed, _ := service["extensions"].([]any)
	ctx, cancel := context.WithTimeout(ctx, extensionsPatience)
	defer cancel()
	within(ctx, func() {
		created := map[component.ID]bool{}
		for _, entry := range listed {
			name, _ := entry.(string)
			var id component.ID
			if id.UnmarshalText([]byte(name)) != nil || created[id] || ctx.Err() != nil {
				continue
			}
			created[id] = true
			if config, readable := configs[id]; readable {
				_ = createExtension(ctx, r.inspection, factories[id.Type()], id, config)
			}
		}
	})
	if ctx.Err() != nil {
		r.recorder.cut()
	}
}

func createExtension(
	ctx context.Context, i *inspection, factory extension.Factory, id component.ID, config component.Config,
) (err error) {
	defer decoded.Recovered(&err)
	if err := validate.Component(config); err != nil {
		return err
	}
	settings := extension.Settings{ID: id, BuildInfo: i.env.BuildInfo, TelemetrySettings: component.TelemetrySettings{
		TracerProvider: tracenoop.NewTracerProvider(),
		MeterProvider:  metricnoop.NewMeterProvider(),
		Resource:       pcommon.NewResource(),
	}}
	i.recorder.observe("extensions", id, &settings.TelemetrySettings)
	created, err := factory.Create(ctx, settings, config)
	if err == nil {
		i.recorder.built(created)
	}
	return err
}
