// Package host knows what the official supervisor does not report of this host: its name and labels, the text that the
// collector runs and whether somebody changed it here, how often the collector ended, the collector's own counters, and
// its components. It carries out the service's orders.
//
// The relay adds it to the supervisor's messages as a custom message of OpAMP. It holds no configuration and no value of
// one: only hashes, names of top-level keys and components, counts and times.
package host

import (
	"bytes"
	"context"
	"log"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/headgate/headgate/layers/supervisor/internal/metrics"
	"github.com/headgate/headgate/layers/supervisor/internal/programs"
	"github.com/headgate/headgate/layers/supervisor/internal/upgrade"
	"github.com/headgate/headgate/layers/supervisor/internal/variables"
	"github.com/open-telemetry/opamp-go/protobufs"
)

const (
	// Capability names the custom messages, reportType those of this host, orderType those of the service.
	Capability = "io.headgate.host"
	reportType = "report"
	orderType  = "order"
)

// Settings are what this host is called, and where its files are.
type Settings struct {
	// Version is this program's.
	Version string
	Name    string
	Labels  map[string]string
	// Components are those of the collector at the start, none if they are not known. List asks another collector, as the
	// function Components does.
	Components []string
	List       func(ctx context.Context, program string) ([]string, error)
	// Can is what this host can do beside the orders of this package, with these components.
	Can func(components []string) []string
	// Storage is the supervisor's folder, Effective the file in it from which it starts the collector.
	Storage   string
	Effective string
	// Platform is how this host was installed. Upgrades replace its collector.
	Platform string
	Upgrades *upgrade.Upgrades
	// ReplaceSelf carries out the order to upgrade this program; it does not wait.
	ReplaceSelf func(orderID string, program *programs.Target)
	// RenewToken takes the token that was sealed for this host, to be used from the next message on; nil if this host takes
	// none.
	RenewToken func(sealed []byte) error
	// Variables are those that come with configurations.
	Variables variables.Store
}

// Host is safe for concurrent use. Its methods do not wait for the collector.
type Host struct {
	settings Settings
	now      func() time.Time
	// written tells Watch that the collector's file is another one.
	written chan struct{}

	mutex      sync.Mutex
	configs    *configs
	crashes    crashes
	file       file
	meter      meter
	components components
	// listed names the collector that has the components, "" for the installed one.
	listed string
	orders *orders
	// told is what the service has answered for; pending what the message on its way adds to it.
	told    report
	pending *report
}

// New reads what a former process of this host left in the storage.
func New(settings Settings) *Host {
	if settings.Upgrades == nil {
		settings.Upgrades = &upgrade.Upgrades{}
	}
	if settings.Can == nil {
		settings.Can = func([]string) []string { return nil }
	}
	return &Host{
		settings: settings,
		now:      time.Now,
		written:  make(chan struct{}, 1),
		configs:  readConfigs(settings.Storage),
		file:     file{values: os.LookupEnv},
		meter:    meter{since: time.Now(), flows: counting{began: time.Now()}},
		orders:   readOrders(settings.Storage),

		components: newComponents(settings.Components),
		listed:     settings.Upgrades.Current(),
	}
}

// Exited notes that the collector ended by itself.
func (h *Host) Exited() {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.crashes.exited(h.now())
}

// Started notes that the supervisor, at its own start, has written the collector's file: of what it was offered last,
// even if it had refused that.
func (h *Host) Started() {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.configs.startedWithOffered(h.now(), h.settings.Upgrades.Current())
	h.crashes.begin(h.configs.Running.Written)
	h.noteFile()
}

// Written notes that the supervisor has written the collector's file, and is about to start the collector from it.
func (h *Host) Written() {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.wroteOffered()
	h.noteFile()
}

func (h *Host) wroteOffered() {
	if h.configs.wroteOffered(h.now(), h.crashes.looped != nil, h.settings.Upgrades.Current()) {
		h.crashes.begin(h.now())
	}
}

// Undo keeps the supervisor from starting with a configuration that came with a collector which does not run.
func (h *Host) Undo(configHash []byte) error { return h.configs.undo(configHash) }

// CarriedOut notes an order that another part of this program has carried out.
func (h *Host) CarriedOut(orderID string) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.orders.carriedOut(orderID)
}

// CouldNot notes an order that could not be carried out, and why.
func (h *Host) CouldNot(orderID, reason string) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.orders.couldNot(orderID, reason)
}

// CollectorStarted notes that a process of the collector was started.
func (h *Host) CollectorStarted() {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.orders.restarted()
}

// noteFile reads the file at once, since it may be changed later. Watch parses it.
func (h *Host) noteFile() {
	h.file.wrote(h.settings.Effective)
	select {
	case h.written <- struct{}{}:
	default:
	}
}

// Outgoing adds this host's report to a message of the supervisor, and reports a configuration that ends the collector
// again and again as failed.
func (h *Host) Outgoing(message *protobufs.AgentToServer) { h.OutgoingWith(message, nil) }

// OutgoingWith does so with another custom message in place of the report, which goes out with the next message.
func (h *Host) OutgoingWith(message *protobufs.AgentToServer, instead *protobufs.CustomMessage) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.forgetTold()
	h.noteStatus(message.GetRemoteConfigStatus())
	message.RemoteConfigStatus = h.settings.Upgrades.Outgoing(message.RemoteConfigStatus)
	h.orders.askedAgain()
	// Only this host's own report tells it.
	message.AvailableComponents = nil
	running := h.configs.Running
	if loop := h.crashes.loop(running); loop != "" {
		untold := message.RemoteConfigStatus == nil && !h.crashes.told
		if untold || isOf(message.RemoteConfigStatus, running.ConfigHash) {
			message.RemoteConfigStatus = failedStatus(running.ConfigHash, loop)
		}
	}
	full := message.AgentDescription != nil
	if version := h.settings.Upgrades.Running(); full && version != "" {
		describe(message.AgentDescription, version)
	}
	// The supervisor forwards the collector's own custom messages. Whoever speaks to it as the collector, such as another
	// user of this machine while the collector restarts, must not speak as this host.
	message.CustomMessage, message.CustomCapabilities = instead, nil
	if instead != nil {
		h.pending = nil
		return
	}
	if full {
		message.CustomCapabilities = &protobufs.CustomCapabilities{Capabilities: []string{Capability}}
	}
	next := h.changed(full)
	data, err := next.encode()
	if err != nil {
		log.Printf("the report of this host is left out: %v", err)
		h.pending = nil
		return
	}
	h.pending = &next
	if data != nil {
		message.CustomMessage = &protobufs.CustomMessage{Capability: Capability, Type: reportType, Data: data}
	}
}

// Answered notes that the service has answered the message that went out last, and carries out its orders. It returns
// whether it changed the answer, which is the supervisor's.
func (h *Host) Answered(message *protobufs.AgentToServer, answer *protobufs.ServerToAgent) bool {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if h.pending != nil {
		h.noteTold(*h.pending)
		h.pending = nil
	}
	if message.GetRemoteConfigStatus().GetStatus() == protobufs.RemoteConfigStatuses_RemoteConfigStatuses_FAILED &&
		isOf(message.RemoteConfigStatus, h.crashes.looped) {
		h.crashes.told = true
	}
	h.settings.Upgrades.Answered(message.GetRemoteConfigStatus())
	changed := h.takeOffer(answer)
	if offered := answer.GetRemoteConfig(); offered != nil {
		h.configs.offered(offered)
	}
	return h.takeOrders(answer) || changed
}

// Unanswered notes that the service did not answer a message. It returns what to answer the supervisor: the
// configuration before, if the one that runs ends the collector again and again. Nil: there is nothing to do.
func (h *Host) Unanswered(message *protobufs.AgentToServer) *protobufs.ServerToAgent {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.forgetTold()
	failed := h.crashes.loop(h.configs.Running) != "" || h.settings.Upgrades.Failed(h.configs.Running.ConfigHash)
	if !failed || h.crashes.wentBack {
		return nil
	}
	before := h.configs.before()
	if before == nil {
		return nil
	}
	if before = h.settings.Upgrades.Back(before, h.configs.Before.Program); before == nil {
		return nil
	}
	h.crashes.wentBack = true
	h.configs.offered(before)
	log.Printf("Headgate does not answer, and what it offered last has failed: this host goes back to what ran before")
	return &protobufs.ServerToAgent{InstanceUid: message.InstanceUid, RemoteConfig: before}
}

// Settled returns the configuration that the service assigned, if the collector runs it and nothing is under way.
func (h *Host) Settled() *protobufs.AgentRemoteConfig {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if h.configs.isApplying(h.now()) || h.crashes.looped != nil || h.settings.Upgrades.UnderWay() {
		return nil
	}
	return h.configs.settled()
}

// takeOrders carries out what the answer orders, and removes the orders from it.
func (h *Host) takeOrders(answer *protobufs.ServerToAgent) bool {
	custom := answer.GetCustomMessage()
	if custom.GetCapability() != Capability {
		return false
	}
	answer.CustomMessage = nil
	if custom.GetType() != orderType {
		return true
	}
	h.takeToken(custom.GetData())
	var restarts []string
	for _, one := range h.orders.new(custom.GetData(), h.can()) {
		switch one.Do {
		case doComponents:
			h.orderList(one.ID)
		case doUpgrade:
			h.settings.ReplaceSelf(one.ID, one.Program)
		case doRetry:
			h.crashes.begin(h.now())
			h.orders.carriedOut(one.ID)
		case doRestart:
			if h.configs.Running.TextHash == "" {
				// Nothing runs. The official command would start a collector with an empty configuration.
				h.orders.carriedOut(one.ID)
			} else {
				restarts = append(restarts, one.ID)
			}
		}
	}
	// If the supervisor cannot take it now, the service orders it again with its next answer.
	if len(restarts) > 0 && isEmpty(answer) && !h.configs.isApplying(h.now()) {
		h.orders.hand(restarts)
		answer.Command = &protobufs.ServerToAgentCommand{Type: protobufs.CommandType_CommandType_Restart}
	}
	return true
}

// isEmpty reports whether the answer asks nothing of the supervisor, which ignores everything beside a command.
func isEmpty(answer *protobufs.ServerToAgent) bool {
	return answer.RemoteConfig == nil && answer.ConnectionSettings == nil && answer.AgentIdentification == nil &&
		answer.Flags == 0 && answer.ErrorResponse == nil && answer.Command == nil
}

// noteStatus notes what the supervisor says of a configuration.
func (h *Host) noteStatus(status *protobufs.RemoteConfigStatus) {
	hash := status.GetLastRemoteConfigHash()
	switch status.GetStatus() {
	case protobufs.RemoteConfigStatuses_RemoteConfigStatuses_APPLYING:
		h.configs.applying = h.now()
	case protobufs.RemoteConfigStatuses_RemoteConfigStatuses_FAILED:
		h.configs.applying = time.Time{}
		h.configs.failed(hash)
	case protobufs.RemoteConfigStatuses_RemoteConfigStatuses_APPLIED:
		h.configs.applying = time.Time{}
		// The supervisor does not write the file again if a configuration only says the same in another way.
		if !bytes.Equal(hash, h.configs.Running.ConfigHash) {
			h.wroteOffered()
		}
		h.configs.applied(hash)
		h.pruneVariables()
	}
}

// Watch looks after the collector's file, metrics and components until the context ends.
func (h *Host) Watch(ctx context.Context) {
	scraper := newScraper()
	ticker := time.NewTicker(watchEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		case <-h.written:
		}
		h.look(ctx, scraper)
		h.list(ctx)
	}
}

// look reads the file and the metrics, without the mutex, so that no message waits for it.
func (h *Host) look(ctx context.Context, scraper *scraper) {
	h.mutex.Lock()
	seen := h.file
	h.mutex.Unlock()
	seen.look(h.settings.Effective, h.settings.Variables)
	address := seen.metricsAddress
	if address == "" {
		address = metrics.Added(filepath.Join(h.settings.Storage, metrics.Name), seen.values)
	}
	read, at := scraper.read(ctx, address, seen.instance), h.now()

	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.configs.again()
	if h.file.generation == seen.generation {
		h.file = seen
	}
	if read != nil {
		h.meter.add(*read, seen.discards, seen.pipelines, at)
	}
}
