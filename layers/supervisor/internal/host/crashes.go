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

// crashes are the ends of the collector since a configuration was written.
type crashes struct {
	// applied is when, zero if that is not known.
	applied time.Time
	count   int
	soon    int
	times   []time.Time
	// looped is the hash of the configuration that failed so, in the service's notation; told whether the service has
	// answered for it, wentBack whether the host went back without it.
	looped   []byte
	told     bool
	wentBack bool
	// last is the loop to report: of the running configuration, or of the one from which the host has gone back.
	last *crashLoop
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
	var last *crashLoop
	if c.looped != nil {
		last = c.last
	}
	*c = crashes{applied: at, last: last}
}

// loop returns a sentence if the collector ends again and again with the running configuration, else "".
func (c *crashes) loop(running config) string {
	if len(running.ConfigHash) == 0 {
		return ""
	}
	if c.looped == nil {
		if c.soon < loopExits {
			return ""
		}
		c.looped, c.last = bytes.Clone(running.ConfigHash), &crashLoop{Hash: running.TextHash, Exits: c.soon}
	}
	return fmt.Sprintf("The collector ended %d times in the %.0f minutes after this configuration was applied", c.last.Exits, loopTime.Minutes())
}

func (c *crashes) report() *exits {
	times := c.times
	if times == nil {
		times = []time.Time{}
	}
	return &exits{SinceApply: c.count, Last: append([]time.Time{}, times...)}
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
