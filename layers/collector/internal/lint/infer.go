package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/headgate/headgate/layers/collector/internal/logged"
	"go.opentelemetry.io/collector/pipeline"
	"go.opentelemetry.io/collector/pipeline/xpipeline"
	"go.uber.org/zap"
)

// inferring are the lists of expressions for which a component infers a context, with their signals.
var inferring = []struct {
	list   string
	signal pipeline.Signal
}{
	{"trace_statements", pipeline.SignalTraces}, {"metric_statements", pipeline.SignalMetrics},
	{"log_statements", pipeline.SignalLogs}, {"profile_statements", xpipeline.SignalProfiles},
	{"trace_conditions", pipeline.SignalTraces}, {"metric_conditions", pipeline.SignalMetrics},
	{"log_conditions", pipeline.SignalLogs}, {"profile_conditions", xpipeline.SignalProfiles},
}

// inferContexts finds the contexts that the component infers. The component names them only in its log.
func (l *linter) inferContexts(d *declaration, expressions []*expression) error {
	for _, of := range inferring {
		var good []*expression
		var groups []string
		for _, e := range expressions {
			if e.steps[0].key == of.list && e.infers() && e.err == nil {
				good = append(good, e)
			}
		}
		if len(good) == 0 {
			continue
		}
		// In the order of the configuration: groups by index, then statements outside of groups.
		slices.SortStableFunc(good, func(a, b *expression) int { return a.rank() - b.rank() })
		for _, e := range good {
			if group := e.group(); !slices.Contains(groups, group) {
				groups = append(groups, group)
			}
		}
		inferred, err := l.inferred(d, good, of.signal)
		if err != nil {
			return err
		}
		if len(inferred) != len(groups) {
			continue // another release may log otherwise; the verdicts do not depend on it
		}
		for _, e := range expressions {
			if index := slices.Index(groups, e.group()); index >= 0 && e.infers() {
				e.context = inferred[index]
				e.note = append(e.note, fmt.Sprintf("context %q is inferred from the paths", e.context))
			}
		}
	}
	return nil
}

// rank orders the expressions of one list as the component reads them.
func (e *expression) rank() int {
	if len(e.steps) > 2 {
		return e.steps[1].index
	}
	return 1 << 30
}

// inferred returns the contexts that the component infers when it is created for a signal, in its order. The collector has
// created most components already.
func (l *linter) inferred(d *declaration, expressions []*expression, signal pipeline.Signal) ([]string, error) {
	if l.read != nil && l.whole && len(d.affordable) == len(d.expressions) {
		if messages := l.read.Logged(d.component.section, d.name, signal); messages != nil {
			return inferredIn(messages), nil
		}
	}
	factory := factoryOf(l.factories, d.component)
	config, err := decode(factory, configuration(d.component, expressions))
	if err != nil {
		return nil, err
	}
	log := &logged.Messages{}
	if _, err := create(l.ctx, factory, config, signal, zap.New(log)); err != nil {
		return nil, err
	}
	return inferredIn(log.Texts()), nil
}

// inferredIn returns the contexts that OTTL has logged as inferred.
func inferredIn(messages []string) []string {
	var inferred []string
	for _, message := range messages {
		if context, told := strings.CutPrefix(message, "Inferred OTTL context: "); told {
			inferred = append(inferred, strings.Trim(context, `"`))
		}
	}
	return inferred
}
