package steps

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/headgate/headgate/layers/collector/internal/lint"
	"github.com/headgate/headgate/layers/collector/internal/operation"
	"github.com/headgate/headgate/layers/collector/internal/prepare"
	"go.yaml.in/yaml/v3"
)

type request struct {
	Events string `json:"events"`
	YAML   string `json:"yaml"`
}

// Handle answers `steps {events, yaml}` with a Document: events is the trace of a run, yaml its configuration as the user
// wrote it. Its errors are too_costly, yaml_syntax, and not_a_trace.
func Handle(_ context.Context, env *operation.Environment, raw json.RawMessage) (any, error) {
	var asked request
	if err := json.Unmarshal(raw, &asked); err != nil {
		return nil, operation.BadRequest("steps takes events and yaml: %v", err)
	}
	source, err := readSource(asked.YAML, env)
	if err != nil {
		return nil, err
	}
	read, err := read(asked.Events)
	if err != nil {
		return nil, &operation.Error{Code: "not_a_trace", Message: err.Error()}
	}
	return follow(read).answer(source), nil
}

// source is the configuration of the run as the user wrote it.
type source struct {
	placed    []lint.Placed
	pipelines map[string]pipelineLists
	// connectors are their ids.
	connectors map[string]any
}

func readSource(text string, env *operation.Environment) (*source, error) {
	placed, err := lint.PlacedExpressions(text, env)
	if err != nil {
		// Too many expressions, or another fault that has nothing to do with the run: the steps are told without places.
		var fault *operation.Error
		if !errors.As(err, &fault) || fault.Code != "too_many_expressions" {
			return nil, err
		}
	}
	var written struct {
		Connectors map[string]any `yaml:"connectors"`
		Service    struct {
			Pipelines map[string]pipelineLists `yaml:"pipelines"`
		} `yaml:"service"`
	}
	// Lists may be variables; then nothing is known of what was replaced.
	_ = yaml.Unmarshal([]byte(text), &written)
	return &source{placed, written.Service.Pipelines, written.Connectors}, nil
}

// replaced are the components that the sample or the recorder stands for.
func (s *source) replaced(of *flow) []string {
	lists, found := s.pipelines[of.key.pipeline], []string{}
	switch of.own.kind {
	case "receiver":
		found = append(found, lists.Receivers...)
	case "exporter":
		found = append(found, lists.Exporters...)
	case "processor":
		if id, is := strings.CutPrefix(of.own.component, prepare.InsteadOf); is {
			return append(found, id)
		}
	}
	return slices.DeleteFunc(found, func(id string) bool {
		_, connects := s.connectors[id]
		return connects || id == of.own.component
	})
}
