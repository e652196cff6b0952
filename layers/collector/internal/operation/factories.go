package operation

import (
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/otelcol"
)

// FactoriesOf returns a copy of the factories of a section (`receivers`), nil for what is not a section of components.
func FactoriesOf(section string, factories otelcol.Factories) map[component.Type]component.Factory {
	switch section {
	case "receivers":
		return plainFactories(factories.Receivers)
	case "processors":
		return plainFactories(factories.Processors)
	case "exporters":
		return plainFactories(factories.Exporters)
	case "connectors":
		return plainFactories(factories.Connectors)
	case "extensions":
		return plainFactories(factories.Extensions)
	}
	return nil
}

func plainFactories[F component.Factory](factories map[component.Type]F) map[component.Type]component.Factory {
	plain := make(map[component.Type]component.Factory, len(factories))
	for kind, factory := range factories {
		plain[kind] = factory
	}
	return plain
}
