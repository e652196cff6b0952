// Package capture takes a bounded sample of what passes a component of the collector, for the service, without secrets.
//
// It stands between the relay and internal/host. For the time of a capture the supervisor runs the assigned configuration
// with a branch beside one of its pipelines, under a hash of its own; the service is told of the assigned one only. What
// the branch exports to this process is redacted here, and leaves the host with the messages to the service.
package capture

import (
	"crypto/sha256"
	"log"
	"slices"
	"sync"
	"time"

	"github.com/open-telemetry/opamp-go/protobufs"
	"google.golang.org/protobuf/proto"
)

const (
	// can is what the report of a host that captures lists.
	can = "capture"
	// messageType names the custom messages in which a host tells of a capture.
	messageType = "capture"
	// repeatAfter is when a configuration is offered again to a supervisor that has said nothing of it.
	repeatAfter = 30 * time.Second
	// longestStart is how long the supervisor may take until it calls the branch applied.
	longestStart = 2 * time.Minute
	longestError = 1_000
)

// Host is internal/host: it knows what the service has assigned.
type Host interface {
	OutgoingWith(message *protobufs.AgentToServer, instead *protobufs.CustomMessage)
	Answered(message *protobufs.AgentToServer, answer *protobufs.ServerToAgent) (changed bool)
	Unanswered(message *protobufs.AgentToServer) *protobufs.ServerToAgent
	Settled() *protobufs.AgentRemoteConfig
	Components() []string
	Exited()
}

// Settings are where the supervisor's files are, and how custom messages are called.
type Settings struct {
	Storage    string
	Capability string
}

// Why a capture ended. The service has the same list.
const (
	byRecords  = "records"
	byTime     = "time"
	byOrder    = "stopped"
	byVersion  = "new_version"
	byRestart  = "restarted"
	byFailure  = "failed"
	byCollapse = "collector_ended"
)

type phase int

const (
	none phase = iota
	// wanted waits until the collector runs what is assigned, and nothing is under way.
	wanted
	// adding until the supervisor calls the branch applied.
	adding
	running
	// removing until the supervisor calls the assigned configuration applied.
	removing
)

// Captures is a capture at a time. It is safe for concurrent use.
type Captures struct {
	host     Host
	settings Settings
	now      func() time.Time

	mutex sync.Mutex
	phase phase
	order *Order
	// known is what must survive this process: which configuration is a capture's, and what it stands for.
	known known
	// offered is when the configuration of this phase was offered last, began when it was first.
	offered, began time.Time
	until          time.Time
	reader         *reader
	// news is what the service is to be told, pending what the message on its way tells it.
	news, pending *news
	// done are the newest captures that ended here, which are not begun again.
	done []string
}

// New prepares the storage, before the supervisor starts: a capture does not outlive this program, whose start restarts
// the collector anyway.
func New(host Host, settings Settings) *Captures {
	c := &Captures{host: host, settings: settings, now: time.Now, known: readKnown(settings.Storage)}
	if c.known.Active {
		c.known.restore(settings.Storage)
		c.news = &news{V: 1, ID: c.known.ID, Status: "ended", Reason: byRestart}
		c.ended()
	}
	return c
}

// Exited notes that the collector ended by itself. A capture that runs then ends, and counts as the cause.
func (c *Captures) Exited() {
	c.mutex.Lock()
	active := c.phase == adding || c.phase == running
	if active {
		c.end(byCollapse, "the collector ended during the capture")
	}
	c.mutex.Unlock()
	if !active {
		c.host.Exited()
	}
}

// Outgoing takes what the supervisor says of a capture's configuration, and secrets in errors, out of its message, and
// tells the service of the capture.
func (c *Captures) Outgoing(message *protobufs.AgentToServer) {
	c.mutex.Lock()
	c.noteStatus(message)
	c.noteHealth(message.GetHealth())
	custom := c.tell(message)
	c.mutex.Unlock()
	c.host.OutgoingWith(message, custom)
	withoutSecrets(message)
}

// Answered takes an order of the service, and changes the answer so that the supervisor adds or removes the branch.
func (c *Captures) Answered(message *protobufs.AgentToServer, answer *protobufs.ServerToAgent) bool {
	order := c.orderIn(answer)
	changed := c.host.Answered(message, answer)
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.pending != nil {
		if c.news == c.pending {
			c.news = nil
		}
		c.pending = nil
	}
	c.take(order)
	if answer.RemoteConfig != nil {
		c.replaced()
		return changed
	}
	if answer.Command != nil || answer.ErrorResponse != nil || answer.AgentIdentification != nil {
		return changed
	}
	answer.RemoteConfig = c.next()
	return changed || answer.RemoteConfig != nil
}

// Unanswered returns what to answer the supervisor if the service does not: a capture ends without it, too.
func (c *Captures) Unanswered(message *protobufs.AgentToServer) *protobufs.ServerToAgent {
	answer := c.host.Unanswered(message)
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.pending = nil
	if answer != nil {
		c.replaced()
		return answer
	}
	if c.phase == none || c.phase == wanted {
		return nil
	}
	if config := c.next(); config != nil {
		return &protobufs.ServerToAgent{InstanceUid: message.InstanceUid, RemoteConfig: config}
	}
	return nil
}

func (c *Captures) orderIn(answer *protobufs.ServerToAgent) *Order {
	custom := answer.GetCustomMessage()
	if custom.GetCapability() != c.settings.Capability {
		return nil
	}
	order, err := readOrder(custom.GetData())
	if err != nil {
		log.Printf("the order of a capture is left out: %v", err)
	}
	return order
}

// take notes what the service asks for. It asks again with each answer until it knows that the capture has ended.
func (c *Captures) take(order *Order) {
	switch {
	case order == nil:
		if c.phase == wanted {
			c.phase, c.order = none, nil
		}
	case c.order != nil && c.order.ID == order.ID:
		if order.Stop && c.phase == wanted {
			c.fail(byOrder, "")
		} else if order.Stop {
			c.end(byOrder, "")
		}
	case order.Stop && c.news == nil:
		// It never began here, or ended so long ago that this is not known any more.
		c.news = &news{V: 1, ID: order.ID, Status: "ended", Reason: byOrder}
	case c.phase == none && c.news == nil && !order.Stop && !slices.Contains(c.done, order.ID):
		c.phase, c.order = wanted, order
	}
}

// next is the configuration to offer to the supervisor now, nil if there is none.
func (c *Captures) next() *protobufs.AgentRemoteConfig {
	now := c.now()
	switch c.phase {
	case wanted:
		return c.begin()
	case adding, running:
		switch {
		case c.reader.full():
			c.end(byRecords, "")
		case !now.Before(c.until):
			c.end(byTime, "")
		case c.phase == adding && now.Sub(c.began) > longestStart:
			c.end(byFailure, "the collector did not start with the branch in time")
		case c.phase == adding && now.Sub(c.offered) > repeatAfter:
			c.offered = now
			return c.known.branched()
		}
	}
	if c.phase == removing && now.Sub(c.offered) > repeatAfter {
		c.offered = now
		return c.known.assigned()
	}
	return nil
}

// begin makes the configuration with the branch, if what is assigned runs.
func (c *Captures) begin() *protobufs.AgentRemoteConfig {
	assigned := c.host.Settled()
	if assigned == nil {
		return nil
	}
	sample, err := newSample(c.order)
	if err != nil {
		c.fail(byFailure, err.Error())
		return nil
	}
	now := c.now()
	until := now.Add(time.Duration(c.order.Seconds) * time.Second)
	reader, err := listen(sample, until)
	if err != nil {
		c.fail(byFailure, err.Error())
		return nil
	}
	text := assigned.GetConfig().GetConfigMap()[""].GetBody()
	added, err := branch(text, c.order, c.host.Components(), reader.address(), reader.secret)
	if err == nil {
		c.known, err = newKnown(c.order.ID, assigned, added)
	}
	if err == nil {
		err = c.known.save(c.settings.Storage)
	}
	if err != nil {
		reader.close()
		c.fail(byFailure, err.Error())
		return nil
	}
	log.Printf("capture %s begins: the collector restarts with a branch of %s", c.order.ID, c.order.Pipeline)
	c.phase, c.reader, c.until, c.offered, c.began = adding, reader, until, now, now
	return c.known.branched()
}

// fail ends a capture that has changed nothing yet.
func (c *Captures) fail(reason, message string) {
	c.news = &news{V: 1, ID: c.order.ID, Status: "ended", Reason: reason, Error: c.harmless(message)}
	c.phase, c.order, c.done = none, nil, newest(append(c.done, c.order.ID))
}

// end takes what was read. The branch is removed with the next answer.
func (c *Captures) end(reason, message string) {
	if c.phase != adding && c.phase != running {
		return
	}
	log.Printf("capture %s ends (%s): the collector restarts without the branch", c.order.ID, reason)
	c.news = c.result(reason, message)
	c.phase, c.offered = removing, time.Time{}
}

// replaced notes that the supervisor gets another configuration of the service, which ends the capture with it.
func (c *Captures) replaced() {
	switch c.phase {
	case adding, running:
		c.news = c.result(byVersion, "")
		c.ended()
	case removing:
		c.ended()
	}
}

// ended notes that the supervisor runs no branch any more.
func (c *Captures) ended() {
	c.phase, c.order, c.reader = none, nil, nil
	c.done = newest(append(c.done, c.known.ID))
	c.known.Active = false
	if err := c.known.save(c.settings.Storage); err != nil {
		log.Printf("the end of a capture cannot be noted: %v", err)
	}
}

// noteStatus replaces what the supervisor says of a configuration with a branch by what is so for the service: the
// assigned one is applied, also while the branch is added and removed.
func (c *Captures) noteStatus(message *protobufs.AgentToServer) {
	status := message.GetRemoteConfigStatus()
	switch {
	case status == nil:
	case c.known.isBranched(status.LastRemoteConfigHash):
		c.noteBranch(status)
		message.RemoteConfigStatus = c.known.applied()
	case c.phase == removing && c.known.isAssigned(status.LastRemoteConfigHash):
		switch status.Status {
		case protobufs.RemoteConfigStatuses_RemoteConfigStatuses_APPLYING:
			message.RemoteConfigStatus = c.known.applied()
		case protobufs.RemoteConfigStatuses_RemoteConfigStatuses_APPLIED, protobufs.RemoteConfigStatuses_RemoteConfigStatuses_FAILED:
			c.ended()
		}
	}
}

func (c *Captures) noteBranch(status *protobufs.RemoteConfigStatus) {
	switch status.Status {
	case protobufs.RemoteConfigStatuses_RemoteConfigStatuses_APPLIED:
		if c.phase == adding {
			c.phase = running
			c.news = &news{V: 1, ID: c.order.ID, Status: "running"}
		}
	case protobufs.RemoteConfigStatuses_RemoteConfigStatuses_FAILED:
		c.end(byFailure, status.ErrorMessage)
	}
}

// noteHealth keeps a failure of the branch from counting against the version: the collector only starts again.
func (c *Captures) noteHealth(health *protobufs.ComponentHealth) {
	if health != nil && !health.Healthy && (c.phase == adding || c.phase == removing) {
		health.LastError = ""
	}
}

func hashOf(parts ...[]byte) []byte {
	sum := sha256.New()
	for _, part := range parts {
		sum.Write(part)
	}
	return sum.Sum(nil)
}

func marshal(message proto.Message) ([]byte, error) {
	return proto.MarshalOptions{Deterministic: true}.Marshal(message)
}
