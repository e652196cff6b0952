package inspect

import (
	"github.com/headgate/headgate/layers/collector/internal/around"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/otelcol"
)

// recorded returns factories that do what these do, and give each pipeline component a logger that is recorded.
//
// The collector's dry run builds with a logger that drops everything, and offers no other. So the components are built
// by the collector itself.
func (r *recorder) recorded(factories otelcol.Factories) otelcol.Factories {
	return around.Watcher(r.watch).Watched(factories)
}

func (r *recorder) watch(
	place around.Place, telemetry *component.TelemetrySettings, next any,
) (any, func(component.Component) component.Component) {
	r.observe(place.Section, place.ID, telemetry)
	return next, func(created component.Component) component.Component {
		r.built(created)
		return created
	}
}
