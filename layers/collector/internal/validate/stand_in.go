package validate

import (
	"maps"

	"github.com/headgate/headgate/layers/collector/internal/standin"
	"go.opentelemetry.io/collector/component"
)

// standIn replaces a receiver or an exporter that cannot be built, so that the rest can be checked.
var standIn = component.MustNewID("headgate_stand_in")

var (
	standInReceiver = standin.Receiver(standIn.Type())
	standInExporter = standin.Exporter(standIn.Type())
)

// with is a copy of the factories with one more.
func with[F component.Factory](factories map[component.Type]F, more F) map[component.Type]F {
	all := maps.Clone(factories)
	if all == nil {
		all = map[component.Type]F{}
	}
	all[more.Type()] = more
	return all
}
