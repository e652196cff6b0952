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

var statementSignals = map[string]pipeline.Signal{
	"trace_statements": pipeline.SignalTraces, "metric_statements": pipeline.SignalMetrics,
	"log_statements": pipeline.SignalLogs, "profile_statements": xpipeline.SignalProfiles,
}

// inferContexts asks the component which contexts it infers. It tells them only in its log.
func (j *judge) inferContexts(s speaker, expressions []*expression) error {
	for _, list := range []string{"trace_statements", "metric_statements", "log_statements", "profile_statements"} {
		var good []*expression
		var groups []string
		for _, e := range expressions {
			if e.steps[0].key == list && e.infers() && e.err == nil {
				good = append(good, e)
			}
		}
		if len(good) == 0 {
			continue
		}
		// In the order of the configuration: groups by their index, then what stands in the list by itself.
		slices.SortStableFunc(good, func(a, b *expression) int { return a.rank() - b.rank() })
		for _, e := range good {
			if group := e.group(); !slices.Contains(groups, group) {
				groups = append(groups, group)
			}
		}
		inferred, err := j.inferred(s, good, statementSignals[list])
		if err != nil {
			return err
		}
		if len(inferred) != len(groups) {
			continue // a release that tells otherwise; the verdicts do not hang on it
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

// rank orders expressions of one list as the component reads them.
func (e *expression) rank() int {
	if len(e.steps) > 2 {
		return e.steps[1].index
	}
	return 1 << 30
}

// inferred are the contexts that the component infers when it is created for a signal, in its order.
func (j *judge) inferred(s speaker, expressions []*expression, signal pipeline.Signal) ([]string, error) {
	factory := factoryOf(j.factories, s)
	config, err := decode(factory, configuration(s, expressions))
	if err != nil {
		return nil, err
	}
	overheard := &overhearing{}
	if _, err := create(j.ctx, factory, config, signal, zap.New(overheard)); err != nil {
		return nil, err
	}
	return overheard.contexts, nil
}

// overhearing is a logger's core that notes the contexts that OTTL says it has inferred.
type overhearing struct {
	contexts []string
}

func (*overhearing) Enabled(zapcore.Level) bool { return true }

func (o *overhearing) With([]zapcore.Field) zapcore.Core { return o }

func (o *overhearing) Check(entry zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	return checked.AddCore(entry, o)
}

func (o *overhearing) Write(entry zapcore.Entry, _ []zapcore.Field) error {
	if context, told := strings.CutPrefix(entry.Message, "Inferred OTTL context: "); told {
		o.contexts = append(o.contexts, strings.Trim(context, `"`))
	}
	return nil
}

func (*overhearing) Sync() error { return nil }
