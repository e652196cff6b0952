package command

import (
	"slices"
	"testing"
	"time"

	"github.com/headgate/headgate/layers/collector/internal/prepare"
	"github.com/headgate/headgate/layers/collector/version/distribution"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
)

func TestComponentsAreTheFactoriesWithTheirModules(t *testing.T) {
	few, err := distribution.Factories()
	if err != nil {
		t.Fatal(err)
	}
	all, err := distribution.Components()
	if err != nil {
		t.Fatal(err)
	}

	if few.Telemetry == nil || all.Telemetry == nil {
		t.Error("there is no telemetry factory")
	}
	sameTypes(t, "receivers", few.Receivers, all.Receivers, all.ReceiverModules)
	sameTypes(t, "processors", few.Processors, all.Processors, all.ProcessorModules)
	sameTypes(t, "exporters", few.Exporters, all.Exporters, all.ExporterModules)
	sameTypes(t, "connectors", few.Connectors, all.Connectors, all.ConnectorModules)
	sameTypes(t, "extensions", few.Extensions, all.Extensions, all.ExtensionModules)
}

func sameTypes[F any](t *testing.T, kind string, few, all map[component.Type]F, modules map[component.Type]string) {
	t.Helper()
	if len(all) == 0 || !slices.Equal(names(few), names(all)) || !slices.Equal(names(all), names(modules)) {
		t.Errorf("%s: %v, %v and modules of %v", kind, names(few), names(all), names(modules))
	}
}

func names[V any](of map[component.Type]V) []string {
	var types []string
	for one := range of {
		types = append(types, one.String())
	}
	slices.Sort(types)
	return types
}

func TestComponentsWaitAsLongAsPreparationSaysByDefault(t *testing.T) {
	factories, err := distribution.Factories()
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for kind, factory := range factories.Processors {
		checked += checkWait(t, "processors", kind, factory)
	}
	for kind, factory := range factories.Connectors {
		checked += checkWait(t, "connectors", kind, factory)
	}
	if checked < 2 {
		t.Errorf("only %d components were checked", checked)
	}
}

func checkWait(t *testing.T, section string, kind component.Type, factory component.Factory) int {
	t.Helper()
	key, usual, known := prepare.UsualWait(section, kind.String())
	if !known {
		return 0
	}
	conf := confmap.New()
	if err := conf.Marshal(factory.CreateDefaultConfig()); err != nil {
		t.Fatal(err)
	}
	switch waits := conf.Get(key).(type) {
	case time.Duration:
		if waits != usual {
			t.Errorf("%s::%s waits %s by default, not %s", section, kind, waits, usual)
		}
	case nil, *time.Duration:
		// The component sets its default when it is built.
		if !conf.IsSet(key) {
			t.Errorf("%s::%s has no setting %s", section, kind, key)
		}
		return 0
	default:
		t.Errorf("%s::%s::%s is a %T", section, kind, key, waits)
	}
	return 1
}

func TestNothingIsBothPresentAndLacking(t *testing.T) {
	factories, err := distribution.Factories()
	if err != nil {
		t.Fatal(err)
	}
	present := map[string]bool{}
	add(present, "receiver", factories.Receivers)
	add(present, "processor", factories.Processors)
	add(present, "exporter", factories.Exporters)
	add(present, "connector", factories.Connectors)
	add(present, "extension", factories.Extensions)

	for _, absent := range distribution.Lacking {
		if absent.Type == "" || absent.Module == "" || present[absent.Kind+" "+absent.Type] {
			t.Errorf("%+v", absent)
		}
	}
}

func add[F any](present map[string]bool, kind string, factories map[component.Type]F) {
	for name := range factories {
		present[kind+" "+name.String()] = true
	}
}
