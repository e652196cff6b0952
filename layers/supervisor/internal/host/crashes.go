package host

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/open-telemetry/opamp-go/protobufs"
)

const (
	// A configuration with which the collector ends that often within that time after it was applied has failed. Later
	// ends have other causes, such as load, and another configuration would not heal them.
	loopExits = 3
	loopTime  = 10 * time.Minute
)

// crashes are the ends of the collector since a configuration was applied.
type crashes struct {
	// applied is when, zero if a former process of this host applied it.
	applied time.Time
	count   int
	soon    int
	times   []time.Time
	// looped is the hash of the configuration that failed so, in the service's notation, ends how often it ended the
	// collector then; told whether the service has answered for it, wentBack whether the host went back without it.
	looped   []byte
	ends     int
	told     bool
	wentBack bool
	// before is the loop to report: of the running configuration, or of the one from which the host has gone back.
	before *crashLoop
}

func (c *crashes) exited(at time.Time) {
	c.count++
	if !c.applied.IsZero() && at.Sub(c.applied) <= loopTime {
		c.soon++
	}
	c.times = append(c.times, at.UTC())
	if len(c.times) > lastExits {
		c.times = c.times[len(c.times)-lastExits:]
	}
}

// begin forgets the ends of the configuration before. Its loop is still to be reported.
func (c *crashes) begin(at time.Time) {
	var before *crashLoop
	if c.looped != nil {
		before = c.before
	}
	*c = crashes{applied: at, before: before}
}

// loop returns a sentence if the collector ends again and again with the running configuration, else "".
func (c *crashes) loop(running []byte) string {
	if len(running) == 0 {
		return ""
	}
	if c.looped == nil {
		if c.soon < loopExits {
			return ""
		}
		c.looped, c.ends = bytes.Clone(running), c.soon
	}
	return fmt.Sprintf("The collector ended %d times in the %.0f minutes after this configuration was applied", c.ends, loopTime.Minutes())
}

func (c *crashes) report() *exits {
	times := c.times
	if times == nil {
		times = []time.Time{}
	}
	return &exits{SinceApply: c.count, Last: append([]time.Time{}, times...)}
}

// reportLoop is the loop to report.
func (c *crashes) reportLoop(known *configs) *crashLoop {
	if c.looped != nil {
		c.before = &crashLoop{Hash: known.textOf(c.looped), Exits: c.ends}
	}
	return c.before
}

func failedStatus(hash []byte, message string) *protobufs.RemoteConfigStatus {
	return &protobufs.RemoteConfigStatus{
		LastRemoteConfigHash: hash,
		Status:               protobufs.RemoteConfigStatuses_RemoteConfigStatuses_FAILED,
		// The relay adds why the collector ended.
		ErrorMessage: message + " (it exited unexpectedly)",
	}
}

func isOf(status *protobufs.RemoteConfigStatus, hash []byte) bool {
	return status != nil && len(hash) > 0 && bytes.Equal(status.LastRemoteConfigHash, hash)
}

func inHex(hash []byte) string { return hex.EncodeToString(hash) }
