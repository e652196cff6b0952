// Package start starts the processors and connectors of a configuration, for what only a start shows: receivers, exporters,
// extensions and the collector's own telemetry are built and not started.
//
// Its process answers nothing else afterwards: what was started runs on, and it can open no file and no socket any more.
package start

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/headgate/headgate/layers/collector/internal/around"
	"github.com/headgate/headgate/layers/collector/internal/operation"
	"github.com/headgate/headgate/layers/collector/internal/standin"
	"github.com/headgate/headgate/layers/collector/internal/validate"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.opentelemetry.io/collector/extension"
	"go.opentelemetry.io/collector/otelcol"
	"go.opentelemetry.io/collector/pdata/pcommon"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	tracenoop "go.opentelemetry.io/otel/trace/noop"
	"go.uber.org/zap"
)

// Result is what was started, and what that has shown.
type Result struct {
	// Started are the paths of the processors and connectors that were started, each once.
	Started  []string           `json:"started"`
	Findings []validate.Finding `json:"findings"`
}

const (
	// ofOne is how long a component may take to start, ofAll all of them together.
	ofOne = 2 * time.Second
	ofAll = 6 * time.Second
	// settling is how long the started components are watched: some fail in what they begin.
	settling    = 20 * time.Millisecond
	maxFindings = 100
)

const (
	processors = "processors"
	connectors = "connectors"
	extensions = "extensions"
)

// Handle answers `start {yaml, env}` with a Result, an empty one for a text of which nothing can be built. Its errors are
// those of `validate`.
func Handle(ctx context.Context, env *operation.Environment, raw json.RawMessage) (any, error) {
	var request validate.Request
	if err := json.Unmarshal(raw, &request); err != nil {
		return nil, operation.BadRequest("start takes yaml and env: %v", err)
	}
	if err := openNothing(); err != nil {
		return nil, fmt.Errorf("giving up files and sockets: %w", err)
	}
	return Start(ctx, env, request)
}

// Start starts what can be built of a text.
func Start(ctx context.Context, env *operation.Environment, request validate.Request) (*Result, error) {
	result := &Result{Started: []string{}, Findings: []validate.Finding{}}
	plan, err := validate.NewPlan(ctx, env, request)
	if plan == nil || err != nil {
		return result, err
	}
	ctx, cancel := context.WithTimeout(ctx, ofAll)
	defer cancel()
	s := &starter{plan: plan, result: result, at: map[string]bool{}}
	built := plan.Build(ctx, func(factories otelcol.Factories) otelcol.Factories {
		return around.Watcher(s.watch).Watched(factories)
	}, func() { s.built = nil })
	s.createExtensions(ctx, env)
	s.createTelemetry(ctx, env)
	if built {
		s.start(ctx)
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.ended = true
	return result, nil
}

// starter starts the components of one text.
type starter struct {
	plan       *validate.Plan
	built      []part
	extensions map[component.ID]component.Component

	// mutex guards what components that were started may still tell.
	mutex  sync.Mutex
	result *Result
	at     map[string]bool
	ended  bool
}

// part is a processor or connector that was built, once for each of its pipelines or pairs of them.
type part struct {
	section   string
	id        component.ID
	component component.Component
}

func (p part) path() []string { return []string{p.section, p.id.String()} }

// watch notes each processor and connector as it is built: what receives from a component is built before it. All of them
// are replaced by components that do nothing, so that nothing reaches an exporter that is not started.
func (s *starter) watch(
	place around.Place, telemetry *component.TelemetrySettings, next any,
) (any, func(component.Component) component.Component) {
	telemetry.Logger = zap.NewNop()
	return next, func(created component.Component) component.Component {
		if place.Section == processors || place.Section == connectors {
			s.built = append(s.built, part{place.Section, place.ID, created})
		}
		return standin.Nothing{}
	}
}

func (s *starter) createExtensions(ctx context.Context, env *operation.Environment) {
	s.extensions = map[component.ID]component.Component{}
	for _, listed := range s.plan.Extensions() {
		settings := extension.Settings{ID: listed.ID, BuildInfo: env.BuildInfo, TelemetrySettings: component.TelemetrySettings{
			Logger:         zap.NewNop(),
			TracerProvider: tracenoop.NewTracerProvider(),
			MeterProvider:  metricnoop.NewMeterProvider(),
			Resource:       pcommon.NewResource(),
		}}
		err, ended := within(ctx, func(ctx context.Context) error {
			created, err := listed.Factory.Create(ctx, settings, listed.Config)
			if err == nil {
				s.mutex.Lock()
				s.extensions[listed.ID] = created
				s.mutex.Unlock()
			}
			return err
		})
		s.note([]string{extensions, listed.ID.String()}, "it is not built", err, ended)
	}
}

func (s *starter) start(ctx context.Context) {
	s.mutex.Lock()
	created := maps.Clone(s.extensions) // one that has not ended in time may still come
	s.mutex.Unlock()
	for _, part := range s.built {
		if ctx.Err() != nil {
			break
		}
		host := &host{starter: s, part: part, extensions: created}
		err, ended := within(ctx, func(ctx context.Context) error { return part.component.Start(ctx, host) })
		s.note(part.path(), "it does not start", err, ended)
		if path := strings.Join(part.path(), "::"); !s.at[path] {
			s.at[path] = true
			s.result.Started = append(s.result.Started, path)
		}
	}
	time.Sleep(settling)
}

// within does some work of a component. It returns its error, a panic as well, or that it has not ended in time.
func within(ctx context.Context, work func(context.Context) error) (err error, ended bool) {
	ctx, cancel := context.WithTimeout(ctx, ofOne)
	done := make(chan error, 1)
	go func() { done <- validate.Guarded(func() error { return work(ctx) }) }()
	select {
	case err := <-done:
		cancel()
		return err, true
	case <-ctx.Done():
	}
	cancel()
	// It may end because its time is over.
	select {
	case err := <-done:
		return err, err == nil
	case <-time.After(settling):
		return nil, false
	}
}

// note adds what went wrong with the part of the text at a path.
func (s *starter) note(path []string, what string, err error, ended bool) {
	code, message := validate.StartFailed, ""
	switch {
	case validate.IsCrash(err):
		code, message = validate.Crash, err.Error()
	case err != nil && ended:
		message = err.Error()
		if onHost, depends := validate.OnHost(err); depends {
			code, message = validate.DependsOnHost, onHost
		} else {
			message = what + ": " + message
		}
	case !ended:
		code = validate.DependsOnHost
		message = fmt.Sprintf("it did not start within %.0f s here; this depends on the host, where what it waits for may answer",
			ofOne.Seconds())
	default:
		return
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.ended || len(s.result.Findings) >= maxFindings {
		return
	}
	finding := s.plan.Finding(code, path, message)
	for _, earlier := range s.result.Findings {
		if earlier.ComponentPath == finding.ComponentPath && earlier.Message == finding.Message {
			return
		}
	}
	s.result.Findings = append(s.result.Findings, finding)
}

// host is what a component sees of the collector.
type host struct {
	starter    *starter
	part       part
	extensions map[component.ID]component.Component
}

func (h *host) GetExtensions() map[component.ID]component.Component { return h.extensions }

// Report notes a status in which a component does not work.
func (h *host) Report(event *componentstatus.Event) {
	switch event.Status() {
	case componentstatus.StatusFatalError, componentstatus.StatusPermanentError:
		h.starter.note(h.part.path(), "it does not start", event.Err(), true)
	}
}
