package describe

import (
	"context"
	"slices"
	"testing"

	"github.com/headgate/headgate/layers/collector/internal/operation"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension"
	"go.opentelemetry.io/collector/featuregate"
	"go.opentelemetry.io/collector/otelcol"
	"go.opentelemetry.io/collector/receiver"
)

type renamed struct{ receiver.Factory }

func (renamed) DeprecatedAlias() component.Type { return component.MustNewType("filelog") }

func components() (otelcol.Factories, error) {
	newConfig := func() component.Config { return &struct{}{} }
	logs, storage := component.MustNewType("file_log"), component.MustNewType("file_storage")
	factory := renamed{receiver.NewFactory(logs, newConfig)}
	return otelcol.Factories{
		Receivers:       map[component.Type]receiver.Factory{logs: factory, component.MustNewType("filelog"): factory},
		ReceiverModules: map[component.Type]string{logs: "example.com/filelogreceiver v1.2.3"},
		Extensions: map[component.Type]extension.Factory{
			storage: extension.NewFactory(storage, newConfig, nil, component.StabilityLevelStable),
		},
		ExtensionModules: map[component.Type]string{storage: "example.com/filestorage v1.2.3"},
	}, nil
}

func described(t *testing.T, lacking ...operation.Absent) Description {
	t.Helper()
	answer, err := Handle(context.Background(), &operation.Environment{
		BuildInfo:  component.BuildInfo{Command: "otelcol-contrib", Version: "1.2.3"},
		Components: components,
		Providers:  map[string]string{"env": "example.com/envprovider v1.2.3"},
		Lacking:    lacking,
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return answer.(Description)
}

func TestEachComponentIsDescribedOnceWithItsFormerName(t *testing.T) {
	want := []Component{
		{"extension", "file_storage", "", "example.com/filestorage v1.2.3"},
		{"provider", "env", "", "example.com/envprovider v1.2.3"},
		{"receiver", "file_log", "filelog", "example.com/filelogreceiver v1.2.3"},
	}
	if got := described(t); !slices.Equal(got.Components, want) || got.Version != "1.2.3" || got.Distribution != "otelcol-contrib" {
		t.Errorf("%+v", got)
	}
}

func TestABuildThatLacksAComponentIsReduced(t *testing.T) {
	absent := operation.Absent{Kind: "receiver", Type: "nop", Module: "example.com/nopreceiver"}

	if got := described(t, absent); !got.Reduced || !slices.Equal(got.Lacks, []operation.Absent{absent}) {
		t.Errorf("%+v", got)
	}
	if got := described(t); got.Reduced || got.Lacks == nil || len(got.Lacks) != 0 {
		t.Errorf("%+v", got)
	}
}

func TestFeatureGatesHaveTheirStageAndVersions(t *testing.T) {
	registry := featuregate.GlobalRegistry()
	registry.MustRegister("headgate.test.beta", featuregate.StageBeta, featuregate.WithRegisterDescription("for a test"))
	registry.MustRegister("headgate.test.stable", featuregate.StageStable,
		featuregate.WithRegisterFromVersion("v0.1.0"), featuregate.WithRegisterToVersion("v0.2.0"))

	gates := described(t).FeatureGates

	for _, want := range []FeatureGate{
		{"headgate.test.beta", "Beta", "", "", "for a test"}, {"headgate.test.stable", "Stable", "v0.1.0", "v0.2.0", ""},
	} {
		if !slices.Contains(gates, want) {
			t.Errorf("%+v is not among %+v", want, gates)
		}
	}
}
