package rename

import (
	"github.com/headgate/headgate/layers/collector/internal/alias"
	"github.com/headgate/headgate/layers/collector/internal/operation"
	"github.com/headgate/headgate/layers/collector/internal/source"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/otelcol"
)

// kinds are the factories of each section.
type kinds map[string]map[component.Type]component.Factory

func kindsOf(factories otelcol.Factories) kinds {
	all := kinds{}
	for _, section := range source.Sections {
		all[section] = operation.FactoriesOf(section, factories)
	}
	return all
}

// adopt adds the types of a configuration that another release's names are for, with their factories here.
func (k kinds) adopt(plain map[string]any) {
	for section, factories := range k {
		content, _ := plain[section].(map[string]any)
		for name := range content {
			var id component.ID
			if id.UnmarshalText([]byte(name)) != nil {
				continue
			}
			if _, known := factories[id.Type()]; known {
				continue
			}
			if factory, is := alias.Known(factories, id.Type()); is {
				factories[id.Type()] = factory
			}
		}
	}
}

// renamed returns the new name of a section's type, empty if the type is not deprecated there.
func (k kinds) renamed(section string, kind component.Type) string {
	if factory, known := k[section][kind]; known {
		if to, is := alias.RenamedTo(factory, kind); is {
			return to.String()
		}
	}
	return ""
}

// deprecated are all types that are deprecated in some section.
func (k kinds) deprecated() map[string]bool {
	names := map[string]bool{}
	for _, factories := range k {
		for kind, factory := range factories {
			if _, is := alias.RenamedTo(factory, kind); is {
				names[kind.String()] = true
			}
		}
	}
	return names
}
