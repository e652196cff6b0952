package trace

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/headgate/headgate/layers/collector/generation"
)

// Messages of OTTL, at the level debug but for those of errors.
const (
	beginning      = "initial TransformContext before executing StatementSequence"
	statementDone  = "TransformContext after statement execution"
	conditionDone  = "condition evaluation result"
	statementError = "failed to execute statement"
	conditionError = "failed to eval condition"
)

// listening is the end of a component's logger. It passes everything on, and listens to OTTL: with a listener, OTTL logs
// what it does although the collector's level is higher.
type listening struct {
	zapcore.Core
	step *step
}

func (l listening) Enabled(level zapcore.Level) bool {
	return l.Core.Enabled(level) || (level == zapcore.DebugLevel || level == zapcore.WarnLevel) && l.step.listens()
}

func (l listening) With(fields []zapcore.Field) zapcore.Core {
	return listening{l.Core.With(fields), l.step}
}

// DropInjectedAttributes is what the collector asks of a core for components that many pipelines share.
func (l listening) DropInjectedAttributes(dropped ...string) zapcore.Core {
	if injecting, is := l.Core.(interface{ DropInjectedAttributes(...string) zapcore.Core }); is {
		return listening{injecting.DropInjectedAttributes(dropped...), l.step}
	}
	return l
}

func (l listening) Check(entry zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	checked = l.Core.Check(entry, checked)
	switch entry.Message {
	case beginning, statementDone, conditionDone, statementError, conditionError:
		return checked.AddCore(entry, ear{l.step})
	}
	return checked
}

// ear takes OTTL's messages.
type ear struct{ step *step }

func (ear) Enabled(zapcore.Level) bool          { return true }
func (e ear) With([]zapcore.Field) zapcore.Core { return e }
func (ear) Sync() error                         { return nil }

func (e ear) Check(entry zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	return checked.AddCore(entry, e)
}

func (e ear) Write(entry zapcore.Entry, fields []zapcore.Field) error {
	var kind, text, message string
	var matched bool
	var on thing
	for _, field := range fields {
		switch field.Key {
		case "statement", "condition":
			kind, text = field.Key, field.String
		case "condition matched", "match":
			matched = field.Integer == 1
		case "error":
			if err, is := field.Interface.(error); is {
				message = err.Error()
			}
		default:
			if found, is := thingOf(generation.Evaluated(field)); is {
				on = found
			}
		}
	}
	switch entry.Message {
	case beginning:
		e.step.began(on)
	case statementDone, conditionDone:
		e.step.evaluated(kind, text, matched, on)
	default:
		e.step.failed(kind, text, message)
	}
	return nil
}

func (s *step) listens() bool {
	return !s.recorder.cutStatements.Load()
}

// thingOf tells what a context of OTTL stands for, of what it stands for most closely.
func thingOf(context any) (thing, bool) {
	switch on := context.(type) {
	case interface{ GetDataPoint() any }:
		return thing{levelRecord, "datapoint", identityOf(on.GetDataPoint())}, true
	case interface {
		GetSpanEvent() ptrace.SpanEvent
		GetSpan() ptrace.Span
	}:
		return thing{levelRecord, "spanevent", identityOf(on.GetSpan())}, true
	case interface{ GetSpan() ptrace.Span }:
		return thing{levelRecord, "span", identityOf(on.GetSpan())}, true
	case interface{ GetLogRecord() plog.LogRecord }:
		return thing{levelRecord, "log", identityOf(on.GetLogRecord())}, true
	case interface{ GetMetric() pmetric.Metric }:
		return thing{levelMetric, "metric", identityOf(on.GetMetric())}, true
	case interface {
		GetInstrumentationScope() pcommon.InstrumentationScope
	}:
		return thing{levelScope, "scope", identityOf(on.GetInstrumentationScope())}, true
	case interface{ GetResource() pcommon.Resource }:
		return thing{levelResource, "resource", identityOf(on.GetResource())}, true
	}
	return thing{}, false
}

// listen gives a component a logger that listens to OTTL.
func (s *step) listen(logger *zap.Logger) *zap.Logger {
	return logger.WithOptions(zap.WrapCore(func(core zapcore.Core) zapcore.Core { return listening{core, s} }))
}
