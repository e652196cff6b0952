package policies

import (
	"reflect"
	"testing"

	"github.com/headgate/headgate/layers/collector/internal/decoded"
	"github.com/headgate/headgate/layers/collector/version/distribution"
	"go.opentelemetry.io/collector/component"
)

func TestAFieldIsWhatTheCollectorWritesDown(t *testing.T) {
	factories, err := distribution.Factories()
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	compare := func(factory component.Factory) {
		config := factory.CreateDefaultConfig()
		settings, err := decoded.Settings(config)
		if err != nil {
			return
		}
		for path := range leaves(settings) {
			wanted := below(settings, path)
			if found, known := field(reflect.ValueOf(config), path); known {
				compared++
				if got := decoded.Simple(found); !reflect.DeepEqual(got, wanted) {
					t.Errorf("%s: %v is %#v; the collector writes %#v", factory.Type(), path, got, wanted)
				}
			}
		}
		read := &entry{isRead: true, config: config}
		for key := range settings {
			if read.lacks(key) {
				t.Errorf("%s lacks %s, which the collector writes", factory.Type(), key)
			}
		}
		for _, absent := range []string{"no_such_setting", "tls"} {
			if found, known := field(reflect.ValueOf(config), []string{absent, "insecure"}); known &&
				!reflect.DeepEqual(decoded.Simple(found), below(settings, []string{absent, "insecure"})) {
				t.Errorf("%s: %s is %#v", factory.Type(), absent, found)
			}
		}
	}
	for _, factory := range factories.Receivers {
		compare(factory)
	}
	for _, factory := range factories.Processors {
		compare(factory)
	}
	for _, factory := range factories.Exporters {
		compare(factory)
	}
	for _, factory := range factories.Connectors {
		compare(factory)
	}
	for _, factory := range factories.Extensions {
		compare(factory)
	}
	if compared < 100 {
		t.Errorf("only %d settings were compared", compared)
	}
}
