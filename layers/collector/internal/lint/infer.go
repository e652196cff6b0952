package lint

import (
	"fmt"
	"slices"
	"strings"

	"go.opentelemetry.io/collector/pipeline"
	"go.opentelemetry.io/collector/pipeline/xpipeline"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
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
func (l *linter) inferContexts(c ottlComponent, expressions []*expression) error {
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
		inferred, err := l.inferred(c, good, of.signal)
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

// inferred returns the contexts that the component infers when it is created for a signal, in its order.
func (l *linter) inferred(c ottlComponent, expressions []*expression, signal pipeline.Signal) ([]string, error) {
	factory := factoryOf(l.factories, c)
	config, err := decode(factory, configuration(c, expressions))
	if err != nil {
		return nil, err
	}
	log := &inferenceLog{}
	if _, err := create(l.ctx, factory, config, signal, zap.New(log)); err != nil {
		return nil, err
	}
	return log.contexts, nil
}

// inferenceLog is a logger's core that collects the contexts that OTTL logs as inferred.
type inferenceLog struct {
	contexts []string
}

func (*inferenceLog) Enabled(zapcore.Level) bool { return true }

func (o *inferenceLog) With([]zapcore.Field) zapcore.Core { return o }

func (o *inferenceLog) Check(entry zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	return checked.AddCore(entry, o)
}

func (o *inferenceLog) Write(entry zapcore.Entry, _ []zapcore.Field) error {
	if context, told := strings.CutPrefix(entry.Message, "Inferred OTTL context: "); told {
		o.contexts = append(o.contexts, strings.Trim(context, `"`))
	}
	return nil
}

func (*inferenceLog) Sync() error { return nil }
