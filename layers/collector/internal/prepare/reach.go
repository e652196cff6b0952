package prepare

import (
	"context"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/connector"
)

// Reach is what a run of a target pipeline starts.
type Reach struct {
	// Pipelines are the target and those that its connectors feed, with their processors.
	Pipelines map[string][]string
	// Receivers are the target's own, one of which may read the sample.
	Receivers  []string
	Connectors []string
}

// Reaches returns what a run of each of these pipelines starts, if the configuration has it, and the names of all its
// pipelines. Its errors are a *Problem, a *Refusal, a *source.Cost, and internal ones.
func Reaches(
	ctx context.Context, text string, env map[string]string, targets []string,
	connectors map[component.Type]connector.Factory,
) (reaches map[string]Reach, all []string, err error) {
	source, err := read(ctx, text, env)
	if err != nil {
		return nil, nil, err
	}
	reaches = make(map[string]Reach, len(targets))
	for _, target := range targets {
		given, known := source.pipelines[target]
		if _, done := reaches[target]; !known || done {
			continue
		}
		lifted := source.lift(target, ByFactories(connectors))
		reach := Reach{Pipelines: map[string][]string{}, Receivers: given.receivers, Connectors: lifted.connectors}
		for _, kept := range lifted.pipelines {
			reach.Pipelines[kept.id] = kept.processors
		}
		reaches[target] = reach
	}
	return reaches, names(source.pipelines), nil
}
