package reference

import (
	"context"
	"errors"
	"testing"

	"github.com/headgate/headgate/layers/collector/version/distribution"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/exporter"
	signalled "go.opentelemetry.io/collector/pipeline"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/collector/receiver"
)

// The schema of a pipeline lists the components that support its signal. A factory refuses an id of another type before
// it makes anything, and before that a signal that it does not support.
func TestAComponentHasAStabilityForEverySignalThatItSupports(t *testing.T) {
	factories, err := distribution.Components()
	if err != nil {
		t.Fatal(err)
	}
	ctx, id := context.Background(), component.MustNewID("headgate")
	asked := 0
	supports := func(factory component.Factory, signal string, err error) {
		t.Helper()
		asked++
		_, has := stability(factory)[signal]
		if is := !errors.Is(err, signalled.ErrSignalNotSupported); is != has || err == nil {
			t.Errorf("%s, %s: supported %v, has a stability %v: %v", factory.Type(), signal, is, has, err)
		}
	}

	for _, one := range factories.Receivers {
		_, logs := one.CreateLogs(ctx, receiver.Settings{ID: id}, nil, nil)
		_, metrics := one.CreateMetrics(ctx, receiver.Settings{ID: id}, nil, nil)
		_, traces := one.CreateTraces(ctx, receiver.Settings{ID: id}, nil, nil)
		supports(one, "logs", logs)
		supports(one, "metrics", metrics)
		supports(one, "traces", traces)
	}
	for _, one := range factories.Processors {
		_, logs := one.CreateLogs(ctx, processor.Settings{ID: id}, nil, nil)
		_, metrics := one.CreateMetrics(ctx, processor.Settings{ID: id}, nil, nil)
		_, traces := one.CreateTraces(ctx, processor.Settings{ID: id}, nil, nil)
		supports(one, "logs", logs)
		supports(one, "metrics", metrics)
		supports(one, "traces", traces)
	}
	for _, one := range factories.Exporters {
		_, logs := one.CreateLogs(ctx, exporter.Settings{ID: id}, nil)
		_, metrics := one.CreateMetrics(ctx, exporter.Settings{ID: id}, nil)
		_, traces := one.CreateTraces(ctx, exporter.Settings{ID: id}, nil)
		supports(one, "logs", logs)
		supports(one, "metrics", metrics)
		supports(one, "traces", traces)
	}
	if asked < 50 {
		t.Errorf("only %d asked", asked)
	}
}
