// Package official follows the official supervisor by the lines that it logs, most of them at the level debug.
package official

import (
	"log"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap/zapcore"
)

const (
	exited  = "Agent process exited unexpectedly. Will restart in a bit..."
	initial = "Effective config found, starting agent initial time"
	written = "Agent is not running, starting new instance"
	started = "Agent process started"
	// The supervisor logs these if it could not write the collector's file, at its start and later, and starts the collector
	// from what it could write.
	notWritten      = "Failed to write agent config."
	notWrittenLater = "Failed to write agent config"
	// The supervisor logs it before it begins to count the time to apply, and then stops the collector.
	applying = "agent has new config"

	restarting = "Received restart command"
	stopping   = "sending shutdown signal to agent process"
	starting   = "Starting agent"
	restarted  = "Agent restarted"

	// The supervisor logs it after every message.
	connected = "Connected to the server."

	// What the supervisor logs of the collector's output has this at the end of its logger's name.
	ofCollector = ".collector"
)

const (
	// restartPatience is how long the notice of a collector that was stopped for a restart may take.
	restartPatience = time.Second
	// applyPause is more than a busy machine takes to go on with the supervisor's next step.
	applyPause = 20 * time.Millisecond
)

// Events are called before the supervisor goes on.
type Events struct {
	// Exited is called when the collector has ended by itself.
	Exited func()
	// Initial is called when the supervisor, at its own start, has written the collector's file.
	Initial func()
	// Written is called when it has written the file later, and is about to start the collector from it.
	Written func()
	// NotWritten is called when it could not write all of the file, and is about to start the collector from it.
	NotWritten func()
	// Started is called when a process of the collector was started.
	Started func()
	// Line is called with each line of the collector's output, if the supervisor logs them.
	Line func(text string)
}

// Listen returns a core that calls the events, and that drops the line which the supervisor logs after every message.
//
// The supervisor learns in two steps that a collector which it has stopped has ended: the first lets it start the next
// one, the second tells that a collector has ended. If the second is late, it takes the new collector for the one that
// ended: it reports an unexpected exit, or that the configuration failed. The core holds the start back until then.
//
// It also ends the collector before a configuration is applied, by force if that takes longer than `stopWithin`.
func Listen(core zapcore.Core, events Events, stopWithin time.Duration) zapcore.Core {
	return &listening{core, events, &restart{ended: make(chan struct{}, 1)}, &ending{within: stopWithin}}
}

type listening struct {
	zapcore.Core
	events  Events
	restart *restart
	ending  *ending
}

func (l *listening) With(fields []zapcore.Field) zapcore.Core {
	return &listening{l.Core.With(fields), l.events, l.restart, l.ending}
}

// Enabled is true for all levels, so that Check sees every line.
func (l *listening) Enabled(zapcore.Level) bool { return true }

func (l *listening) Check(entry zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if strings.HasSuffix(entry.LoggerName, ofCollector) {
		// As it is, and never heard as an event: a collector may print anything.
		if l.events.Line != nil {
			l.events.Line(entry.Message)
		}
		return checked
	}
	l.hear(entry.Message)
	if entry.Message == started {
		checked = checked.AddCore(entry, processes{l.Core, l.ending})
	}
	if entry.Message == connected || !l.Core.Enabled(entry.Level) {
		return checked
	}
	return l.Core.Check(entry, checked)
}

// processes reads the number of a process that was started from the fields of its line.
type processes struct {
	zapcore.Core
	ending *ending
}

func (p processes) Write(_ zapcore.Entry, fields []zapcore.Field) error {
	for _, field := range fields {
		if field.Key == "pid" {
			p.ending.started(int(field.Integer))
		}
	}
	return nil
}

func (l *listening) hear(message string) {
	switch message {
	case applying:
		l.ending.end()
	case exited:
		l.ending.take()
		l.events.Exited()
	case initial:
		l.events.Initial()
	case written:
		l.restart.forget()
		// No line tells that the second step was made.
		time.Sleep(applyPause)
		l.events.Written()
	case notWritten, notWrittenLater:
		l.events.NotWritten()
	case started:
		l.events.Started()
	case restarting:
		l.restart.ordered()
	case stopping:
		l.restart.stops()
	case restarted:
		l.restart.hasEnded()
	case starting:
		l.restart.wait()
	}
}

// restart is a restart that was ordered, until its collector is started.
type restart struct {
	mutex    sync.Mutex
	underWay bool
	// awaited: a collector was running, so that its end will be told.
	awaited bool
	ended   chan struct{}
}

func (r *restart) ordered() {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.underWay, r.awaited = true, false
	select {
	case <-r.ended:
	default:
	}
}

func (r *restart) stops() {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.awaited = r.underWay
}

// forget ends a restart that did not come to its start, which the start of an apply must not wait for.
func (r *restart) forget() {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.underWay, r.awaited = false, false
}

func (r *restart) hasEnded() {
	select {
	case r.ended <- struct{}{}:
	default:
	}
}

func (r *restart) wait() {
	r.mutex.Lock()
	awaited := r.awaited
	r.underWay, r.awaited = false, false
	r.mutex.Unlock()
	if !awaited {
		return
	}
	select {
	case <-r.ended:
	case <-time.After(restartPatience):
		log.Printf("the supervisor did not notice within %v that the collector ended for a restart", restartPatience)
	}
}
