package prepare

import (
	"fmt"
	"slices"
	"strings"
)

// NotRecordedID is the exporter of the pipelines of which nothing is recorded. A pipeline must have an exporter.
const NotRecordedID = "nop/headgate_not_recorded"

const mostOutputPipelines = 20

// Outputs is the part of a request that says what is recorded.
type Outputs struct {
	// OutputPipelines are those whose output is recorded; none means all.
	OutputPipelines []string `json:"output_pipelines"`
}

// recordOnly lets the run record only what these pipelines export, and returns notes; none of them means all. All
// pipelines of a signal share one recorder, so this is how a test sees what reached a pipeline.
func (l *lifted) recordOnly(wanted []string) ([]string, error) {
	if len(wanted) == 0 {
		return nil, nil
	}
	if len(wanted) > mostOutputPipelines {
		return nil, outputProblem("it names %d pipelines: use at most %d", len(wanted), mostOutputPipelines)
	}
	for place, id := range wanted {
		if slices.Contains(wanted[:place], id) {
			return nil, outputProblem("it names %s twice", shown(id))
		}
		at := slices.IndexFunc(l.pipelines, func(kept keptPipeline) bool { return kept.id == id })
		if at < 0 {
			return nil, outputProblem("the run does not reach a pipeline %s; it reaches %s", shown(id), l.reached())
		}
		if !l.pipelines[at].recorded {
			return nil, outputProblem("the pipeline %s exports to connectors only: name the pipelines that they feed", shown(id))
		}
	}
	for place := range l.pipelines {
		if kept := &l.pipelines[place]; kept.recorded && !slices.Contains(wanted, kept.id) {
			kept.recorded = false
			kept.exporters[len(kept.exporters)-1] = NotRecordedID
			l.unrecorded = true
		}
	}
	return []string{"output_pipelines: the output has only what " + strings.Join(wanted, ", ") + " put out"}, nil
}

// reached names the pipelines of the run that export something.
func (l *lifted) reached() string {
	const most = 20
	var ids []string
	for _, kept := range l.pipelines {
		if kept.recorded {
			ids = append(ids, shown(kept.id))
		}
	}
	if len(ids) == 0 {
		return "none that exports anything"
	}
	more := ""
	if len(ids) > most {
		more = fmt.Sprintf(" and %d more", len(ids)-most)
	}
	return strings.Join(ids[:min(most, len(ids))], ", ") + more
}

func outputProblem(format string, values ...any) *Problem {
	return &Problem{Field: "output_pipelines", Message: fmt.Sprintf(format, values...)}
}
