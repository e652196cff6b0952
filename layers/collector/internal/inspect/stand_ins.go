package inspect

import (
	"github.com/headgate/headgate/layers/collector/internal/operation"
	"github.com/headgate/headgate/layers/collector/internal/standin"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/otelcol"
)

// absences are the types that a text uses and this build lacks, by section.
type absences map[string]map[component.Type]operation.Absent

// standIns adds a stand-in for each absent type: it takes any settings and every signal, so that the rest of the text is
// checked as if the component were there.
func (a absences) standIns(factories otelcol.Factories) {
	standIn(factories.Receivers, a["receivers"], standin.Receiver)
	standIn(factories.Processors, a["processors"], standin.Processor)
	standIn(factories.Exporters, a["exporters"], standin.Exporter)
	standIn(factories.Connectors, a["connectors"], standin.Connector)
	standIn(factories.Extensions, a["extensions"], standin.Extension)
}

func standIn[F any](
	factories map[component.Type]F, absent map[component.Type]operation.Absent, build func(component.Type) F,
) {
	for kind := range absent {
		factories[kind] = build(kind)
	}
}
