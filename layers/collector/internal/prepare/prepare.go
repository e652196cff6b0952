// Package prepare makes the collector configuration of a test run: a pipeline of a configuration and all that its
// connectors feed, with the sample in place of its receivers and a recorder in place of its exporters.
//
// Processors and connectors are moved as YAML nodes, with their tags, styles and `${...}`, so that each value means the
// same in the run as in the configuration.
package prepare

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/headgate/headgate/layers/collector/internal/validate"
	"go.yaml.in/yaml/v3"
)

// Files of the run's folder, which is the collector's working directory.
const (
	InputFile  = "sample"
	OutputFile = "output"
)

// RecorderID returns the exporter that records a signal. All pipelines of that signal share it, so that their documents
// are in the order of recording. Signals must not share one: the file exporter closes with the first of its signals,
// when a connector may still have to flush.
func RecorderID(signal string) string { return "file/headgate_" + signal }

// recorderFile is where the signal at that place of Prepared.Signals is recorded: `output`, `output.1`, …
func recorderFile(place int) string {
	if place == 0 {
		return OutputFile
	}
	return fmt.Sprintf("%s.%d", OutputFile, place)
}

// Problem is an error in a field of the request.
type Problem struct {
	Field   string `json:"field"`
	Message string `json:"message"`
	Line    int    `json:"line,omitempty"`
}

// Error makes a Problem an error.
func (p *Problem) Error() string { return p.Message }

// Refusal is the error for a valid configuration that must not be run.
type Refusal struct{ Reason string }

// Error makes a Refusal an error.
func (r *Refusal) Error() string { return r.Reason }

// Request asks for a run of one pipeline. Sample is nil when only the pipeline is asked about.
type Request struct {
	YAML           string  `json:"yaml"`
	TargetPipeline string  `json:"target_pipeline"`
	SignalType     string  `json:"signal_type"`
	Sample         *string `json:"sample"`
	// SampleIsOTLP is set when the sample came as a JSON value: then it cannot be raw log lines.
	SampleIsOTLP bool `json:"sample_is_otlp"`
	// SampleFormat is `raw` or `otlp`, or empty for what the sample looks like.
	SampleFormat string `json:"sample_format"`
	// SampleName is the path of the file with raw lines, or empty.
	SampleName string `json:"sample_name"`
	// FeatureGates are set for the run: `+one`, `-other`.
	FeatureGates []string `json:"feature_gates"`
	// DurationSeconds is 0 when only the pipeline is asked about.
	DurationSeconds int `json:"duration_seconds"`
	// Skip are processors that the run leaves out, Attributes those that give way to one that sets these attributes.
	Skip       []string                              `json:"skip"`
	Attributes map[string]map[string]json.RawMessage `json:"attributes"`
	// Env are the variables of the collector. Nothing that is returned has a value of one in it.
	Env map[string]string `json:"env"`
	Outputs
}

// Prepared is a run made ready. CollectorYAML and Input are empty when there was no sample.
type Prepared struct {
	// Signals are the signals that are recorded: the target pipeline's own, then those that its connectors turn it into.
	Signals       []string `json:"signals"`
	CollectorYAML string   `json:"collector_yaml"`
	Input         string   `json:"input"`
	// Records counts the sample's records, or its lines if it is text.
	Records int `json:"records"`
	// Notes tell what was done that a reader of the configuration would not expect.
	Notes []string `json:"notes"`
	// NothingOut tells why nothing may have come out, if nothing does; it may be empty.
	NothingOut string `json:"nothing_out"`
	// IdleMilliseconds is for how long a collector that has read the sample does nothing if it puts nothing more out; 0 if
	// only the end of the run tells.
	IdleMilliseconds int `json:"idle_milliseconds"`
	// FeatureGates are set for the run beside those of the request: a pipeline of profiles needs one.
	FeatureGates []string `json:"feature_gates"`
}

// Connects tells whether a connector (by its id) can take one signal and put out another.
type Connects func(id, from, to string) bool

// Collector is what a preparation has to know of the collector that runs it.
type Collector struct {
	Connects Connects
	Readers  Readers
	// Requires returns an error if this build lacks a component, which the run would need.
	Requires func(section, id string) error
	// Unknown tells that the collector would refuse a component's type, and what it says of it.
	Unknown func(section, id string) (reason string, is bool)
	// Changed returns the variables that it reads as another number where a text is as good.
	Changed func(text string, env map[string]string) []validate.ChangedVariable
	// TakesProfiles is set if a run can read and record profiles.
	TakesProfiles bool
	// Gates are its feature gates, Version its version.
	Gates   []Gate
	Version string
}

// Prepare makes a run ready. Its error is a *Problem, a *Refusal, a *source.Cost, that of Requires, or an internal error.
func Prepare(ctx context.Context, request Request, collector Collector) (*Prepared, error) {
	if problem := checkEnv(request.Env); problem != nil {
		return nil, problem
	}
	prepared, err := prepare(ctx, request, collector)
	return prepared.hiding(request.Env), hidden(err, request.Env)
}

func prepare(ctx context.Context, request Request, collector Collector) (*Prepared, error) {
	source, err := read(ctx, request.YAML, request.Env)
	if err != nil {
		return nil, err
	}
	target, found := source.pipelines[request.TargetPipeline]
	if !found {
		return nil, &Problem{Field: "target_pipeline", Message: fmt.Sprintf(
			"the configuration has no pipeline %q%s", request.TargetPipeline, source.whatThereIs())}
	}
	if own := signalOf(request.TargetPipeline); own != request.SignalType {
		return nil, &Problem{Field: "signal_type", Message: fmt.Sprintf(
			"the pipeline %q holds %s, not %s", request.TargetPipeline, own, request.SignalType)}
	}
	lifted := source.lift(request.TargetPipeline, collector.Connects)
	replaced, err := source.replace(lifted, request)
	if err != nil {
		return nil, err
	}
	limited, err := lifted.recordOnly(request.OutputPipelines)
	if err != nil {
		return nil, err
	}
	for _, id := range lifted.processors {
		if err := collector.Requires("processors", id); err != nil {
			return nil, err
		}
	}
	for _, id := range lifted.connectors {
		if err := collector.Requires("connectors", id); err != nil {
			return nil, err
		}
	}
	if problem := checkGates(request.FeatureGates, collector); problem != nil {
		return nil, problem
	}
	gates, problem := lifted.gates(request.FeatureGates, collector)
	if problem != nil {
		return nil, problem
	}
	prepared := &Prepared{
		Signals: lifted.signals(request.SignalType), FeatureGates: gates, Notes: append(append([]string{}, replaced...), limited...),
	}
	if request.Sample == nil {
		return prepared, nil
	}
	sample, err := readSample(request)
	if err != nil {
		return nil, err
	}
	prepared.Notes = append(prepared.Notes, source.refused(lifted, collector)...)
	receiver := source.receiverFor(sample, target, collector.Readers)
	prepared.Notes = append(prepared.Notes, receiver.notes...)
	prepared.Input, prepared.Records = sample.inputFor(receiver), sample.records
	if sample.guessed && sample.otlp && request.SignalType == "logs" {
		prepared.NothingOut = receiver.takenAsOTLP()
	}
	prepared.CollectorYAML, err = source.write(lifted, receiver, prepared)
	if err != nil {
		return nil, err
	}
	resolved, err := runnable(ctx, prepared.CollectorYAML, request.Env)
	if err != nil {
		return nil, err
	}
	prepared.Notes = append(prepared.Notes, waits(resolved, request.DurationSeconds)...)
	prepared.Notes = append(prepared.Notes, foundNothing(resolved, request.Env)...)
	prepared.Notes = append(prepared.Notes, numbers(collector.Changed(prepared.CollectorYAML, request.Env))...)
	prepared.Notes = append(prepared.Notes, drops(resolved, request.SignalType, collector.Version, prepared)...)
	prepared.IdleMilliseconds = idle(resolved)
	return prepared, nil
}

// refused returns a note on each replaced component that the collector would not take: the run does without it, so a run
// that succeeds says nothing of it.
func (s *source) refused(lifted *lifted, collector Collector) []string {
	var notes []string
	note := func(section, id string) {
		if s.connectors[id] {
			return
		}
		if reason, unknown := collector.Unknown(section, id); unknown {
			text := fmt.Sprintf("%s::%s is replaced in the run, but %s", section, id, reason)
			if !slices.Contains(notes, text) {
				notes = append(notes, text)
			}
		}
	}
	for _, kept := range lifted.pipelines {
		for _, id := range s.pipelines[kept.id].receivers {
			note("receivers", id)
		}
		for _, id := range s.pipelines[kept.id].exporters {
			note("exporters", id)
		}
	}
	return notes
}

// signalOf returns the signal of a pipeline's id: `logs` for `logs/audit`.
func signalOf(pipeline string) string {
	signal, _, _ := strings.Cut(pipeline, "/")
	return signal
}

func (s *source) whatThereIs() string {
	if len(s.pipelines) == 0 {
		return "; it has none"
	}
	names := make([]string, 0, len(s.pipelines))
	for name := range s.pipelines {
		names = append(names, fmt.Sprintf("%q", name))
	}
	slices.Sort(names)
	return "; it has " + strings.Join(names, ", ")
}

// write returns the run's configuration.
func (s *source) write(lifted *lifted, receiver sampleReceiver, prepared *Prepared) (string, error) {
	root := mapping()
	put(root, "receivers", pair(receiver.id, receiver.body))
	s.putProcessors(root, lifted)
	s.putComponents(root, "connectors", lifted.connectors)
	extensions, notes := s.extensionsFor(lifted)
	prepared.Notes = append(prepared.Notes, notes...)
	if len(extensions) > 0 {
		put(root, "extensions", mappingOf(extensions))
	}
	// With the default flush interval, a collector that is killed would lose the last second of its output.
	recorders := mapping()
	for place, signal := range prepared.Signals {
		if lifted.records(signal) {
			put(recorders, RecorderID(signal), texts("path", recorderFile(place), "flush_interval", "200ms"))
		}
	}
	if lifted.unrecorded {
		put(recorders, NotRecordedID, mapping())
	}
	put(root, "exporters", recorders)

	service := mapping()
	put(service, "telemetry", s.telemetry())
	if len(extensions) > 0 {
		put(service, "extensions", list(names(extensions)))
	}
	pipelines := mapping()
	for _, kept := range lifted.pipelines {
		body := mapping()
		receivers := kept.receivers
		if kept.id == lifted.target {
			receivers = append([]string{receiver.id}, receivers...)
		}
		put(body, "receivers", list(receivers))
		if len(kept.processors) > 0 {
			put(body, "processors", list(kept.processors))
		}
		put(body, "exporters", list(kept.exporters))
		put(pipelines, kept.id, body)
	}
	put(service, "pipelines", pipelines)
	put(root, "service", service)

	text, err := yaml.Marshal(root)
	if err != nil {
		return "", fmt.Errorf("writing the run's configuration: %w", err)
	}
	return string(text), nil
}

// putProcessors adds the processors, and those that stand in for others.
func (s *source) putProcessors(root *yaml.Node, lifted *lifted) {
	s.putComponents(root, "processors", lifted.processors)
	if len(lifted.standIns) == 0 {
		return
	}
	kept := at(root, "processors")
	if kept == nil {
		kept = mapping()
		put(root, "processors", kept)
	}
	kept.Content = append(kept.Content, mappingOf(lifted.standIns).Content...)
}

// putComponents adds a section with these components. An undeclared one is left out: the collector reports it.
func (s *source) putComponents(root *yaml.Node, section string, ids []string) {
	kept := mapping()
	for _, id := range ids {
		if body := s.component(section, id); body != nil {
			put(kept, id, body)
		}
	}
	if len(kept.Content) > 0 {
		put(root, section, kept)
	}
}

// telemetry makes the collector log at the level info, at which it logs that it is ready, or debug if the configuration
// asks for that. It keeps the configured resource, and opens no port and no log file.
func (s *source) telemetry() *yaml.Node {
	level := "info"
	if at(s.root, "service", "telemetry", "logs", "level") != nil &&
		strings.EqualFold(at(s.root, "service", "telemetry", "logs", "level").Value, "debug") {
		level = "debug"
	}
	telemetry := mapping()
	put(telemetry, "logs", texts("level", level, "encoding", "console"))
	put(telemetry, "metrics", texts("level", "none"))
	// Components read its attributes, as `service.instance.id`, which is random without one.
	if resource := at(s.root, "service", "telemetry", "resource"); resource != nil {
		put(telemetry, "resource", resource)
	}
	return telemetry
}
