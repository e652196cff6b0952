// Package logged notes what a component logs.
package logged

import (
	"slices"
	"sync"

	"go.uber.org/zap/zapcore"
)

// most is how many messages are noted.
const most = 1_000

// Messages is a logger's core that notes the messages of every level, without their fields.
type Messages struct {
	adding sync.Mutex
	texts  []string
}

// Texts returns the messages in their order.
func (m *Messages) Texts() []string {
	m.adding.Lock()
	defer m.adding.Unlock()
	return slices.Clone(m.texts)
}

// Enabled is true for every level.
func (*Messages) Enabled(zapcore.Level) bool { return true }

// With returns the same core.
func (m *Messages) With([]zapcore.Field) zapcore.Core { return m }

// Check adds this core to those that write the entry.
func (m *Messages) Check(entry zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	return checked.AddCore(entry, m)
}

// Write notes the entry's message.
func (m *Messages) Write(entry zapcore.Entry, _ []zapcore.Field) error {
	m.adding.Lock()
	defer m.adding.Unlock()
	if len(m.texts) < most {
		m.texts = append(m.texts, entry.Message)
	}
	return nil
}

// Sync has nothing to do.
func (*Messages) Sync() error { return nil }
