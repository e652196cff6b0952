package rules

import (
	"context"

	"github.com/headgate/headgate/layers/collector/generation"
	"github.com/headgate/headgate/layers/collector/internal/datapoints"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/ottl"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// Condition is a compiled condition. Each method evaluates it on every thing of its context in a batch; a batch of a
// signal that has no such things is passed over. They return the error of the context when its time has run out.
type Condition interface {
	Logs(ctx context.Context, batch plog.Logs, tally *Tally) error
	Traces(ctx context.Context, batch ptrace.Traces, tally *Tally) error
	Metrics(ctx context.Context, batch pmetric.Metrics, tally *Tally) error
	Profiles(ctx context.Context, batch pprofile.Profiles, tally *Tally) error
}

// Tally counts what a condition was evaluated on.
type Tally struct {
	Matched int `json:"matched"`
	Total   int `json:"total"`
	// Failed counts the things on which the condition could not be evaluated; they did not match.
	Failed int `json:"failed"`
	// FirstFailure is what the engine said of the first of them.
	FirstFailure string `json:"first_failure"`
	// Note is something about the condition that its writer may not expect, or empty.
	Note string `json:"note"`
}

// evaluate judges one thing, and releases it.
func evaluate[K any](ctx context.Context, condition *ottl.Condition[K], thing K, tally *Tally) error {
	defer generation.Release(thing)
	if err := ctx.Err(); err != nil {
		return err
	}
	matched, err := condition.Eval(ctx, thing)
	tally.Total++
	switch {
	case err != nil:
		tally.Failed++
		if tally.FirstFailure == "" {
			tally.FirstFailure = err.Error()
		}
	case matched:
		tally.Matched++
	}
	return nil
}

type (
	noLogs     struct{}
	noTraces   struct{}
	noMetrics  struct{}
	noProfiles struct{}
)

func (noLogs) Logs(context.Context, plog.Logs, *Tally) error                 { return nil }
func (noTraces) Traces(context.Context, ptrace.Traces, *Tally) error         { return nil }
func (noMetrics) Metrics(context.Context, pmetric.Metrics, *Tally) error     { return nil }
func (noProfiles) Profiles(context.Context, pprofile.Profiles, *Tally) error { return nil }

type resourceCondition struct {
	condition *ottl.Condition[generation.Resource]
}

func (c resourceCondition) Logs(ctx context.Context, batch plog.Logs, tally *Tally) error {
	for _, resource := range batch.ResourceLogs().All() {
		if err := evaluate(ctx, c.condition, generation.NewResource(resource.Resource(), resource), tally); err != nil {
			return err
		}
	}
	return nil
}

func (c resourceCondition) Traces(ctx context.Context, batch ptrace.Traces, tally *Tally) error {
	for _, resource := range batch.ResourceSpans().All() {
		if err := evaluate(ctx, c.condition, generation.NewResource(resource.Resource(), resource), tally); err != nil {
			return err
		}
	}
	return nil
}

func (c resourceCondition) Metrics(ctx context.Context, batch pmetric.Metrics, tally *Tally) error {
	for _, resource := range batch.ResourceMetrics().All() {
		if err := evaluate(ctx, c.condition, generation.NewResource(resource.Resource(), resource), tally); err != nil {
			return err
		}
	}
	return nil
}

func (c resourceCondition) Profiles(ctx context.Context, batch pprofile.Profiles, tally *Tally) error {
	for _, resource := range batch.ResourceProfiles().All() {
		if err := evaluate(ctx, c.condition, generation.NewResource(resource.Resource(), resource), tally); err != nil {
			return err
		}
	}
	return nil
}

type scopeCondition struct {
	condition *ottl.Condition[generation.Scope]
}

func (c scopeCondition) Logs(ctx context.Context, batch plog.Logs, tally *Tally) error {
	for _, resource := range batch.ResourceLogs().All() {
		for _, scope := range resource.ScopeLogs().All() {
			thing := generation.NewScope(scope.Scope(), resource.Resource(), scope, resource)
			if err := evaluate(ctx, c.condition, thing, tally); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c scopeCondition) Traces(ctx context.Context, batch ptrace.Traces, tally *Tally) error {
	for _, resource := range batch.ResourceSpans().All() {
		for _, scope := range resource.ScopeSpans().All() {
			thing := generation.NewScope(scope.Scope(), resource.Resource(), scope, resource)
			if err := evaluate(ctx, c.condition, thing, tally); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c scopeCondition) Metrics(ctx context.Context, batch pmetric.Metrics, tally *Tally) error {
	for _, resource := range batch.ResourceMetrics().All() {
		for _, scope := range resource.ScopeMetrics().All() {
			thing := generation.NewScope(scope.Scope(), resource.Resource(), scope, resource)
			if err := evaluate(ctx, c.condition, thing, tally); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c scopeCondition) Profiles(ctx context.Context, batch pprofile.Profiles, tally *Tally) error {
	for _, resource := range batch.ResourceProfiles().All() {
		for _, scope := range resource.ScopeProfiles().All() {
			thing := generation.NewScope(scope.Scope(), resource.Resource(), scope, resource)
			if err := evaluate(ctx, c.condition, thing, tally); err != nil {
				return err
			}
		}
	}
	return nil
}

type logCondition struct {
	noTraces
	noMetrics
	noProfiles
	condition *ottl.Condition[generation.Log]
}

func (c logCondition) Logs(ctx context.Context, batch plog.Logs, tally *Tally) error {
	for _, resource := range batch.ResourceLogs().All() {
		for _, scope := range resource.ScopeLogs().All() {
			for _, record := range scope.LogRecords().All() {
				thing := generation.NewLog(resource, scope, record)
				if err := evaluate(ctx, c.condition, thing, tally); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// complaintCondition is a condition on what components complained of. Nothing of the output is of its context.
type complaintCondition struct {
	noLogs
	noTraces
	noMetrics
	noProfiles
	of Condition
}

func (c complaintCondition) complaints(ctx context.Context, batch plog.Logs, tally *Tally) error {
	return c.of.Logs(ctx, batch, tally)
}

// OnComplaints evaluates a condition on what components complained of, as log records. A condition of another context is
// passed over.
func OnComplaints(ctx context.Context, condition Condition, batch plog.Logs, tally *Tally) error {
	if of, is := condition.(complaintCondition); is {
		return of.complaints(ctx, batch, tally)
	}
	return nil
}

type spanCondition struct {
	noLogs
	noMetrics
	noProfiles
	condition *ottl.Condition[generation.Span]
}

func (c spanCondition) Traces(ctx context.Context, batch ptrace.Traces, tally *Tally) error {
	for _, resource := range batch.ResourceSpans().All() {
		for _, scope := range resource.ScopeSpans().All() {
			for _, span := range scope.Spans().All() {
				thing := generation.NewSpan(resource, scope, span)
				if err := evaluate(ctx, c.condition, thing, tally); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

type spanEventCondition struct {
	noLogs
	noMetrics
	noProfiles
	condition *ottl.Condition[generation.SpanEvent]
}

func (c spanEventCondition) Traces(ctx context.Context, batch ptrace.Traces, tally *Tally) error {
	for _, resource := range batch.ResourceSpans().All() {
		for _, scope := range resource.ScopeSpans().All() {
			for _, span := range scope.Spans().All() {
				for _, event := range span.Events().All() {
					thing := generation.NewSpanEvent(resource, scope, span, event)
					if err := evaluate(ctx, c.condition, thing, tally); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

type metricCondition struct {
	noLogs
	noTraces
	noProfiles
	condition *ottl.Condition[generation.Metric]
}

func (c metricCondition) Metrics(ctx context.Context, batch pmetric.Metrics, tally *Tally) error {
	for _, resource := range batch.ResourceMetrics().All() {
		for _, scope := range resource.ScopeMetrics().All() {
			for _, metric := range scope.Metrics().All() {
				thing := generation.NewMetric(resource, scope, metric)
				if err := evaluate(ctx, c.condition, thing, tally); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

type dataPointCondition struct {
	noLogs
	noTraces
	noProfiles
	condition *ottl.Condition[generation.DataPoint]
}

func (c dataPointCondition) Metrics(ctx context.Context, batch pmetric.Metrics, tally *Tally) error {
	for _, resource := range batch.ResourceMetrics().All() {
		for _, scope := range resource.ScopeMetrics().All() {
			for _, metric := range scope.Metrics().All() {
				for _, point := range datapoints.Of(metric) {
					thing := generation.NewDataPoint(resource, scope, metric, point)
					if err := evaluate(ctx, c.condition, thing, tally); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}
