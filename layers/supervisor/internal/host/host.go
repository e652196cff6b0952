// Package host knows what the official supervisor does not report of this host: its name and labels, the text that the
// collector runs and whether somebody changed it here, how often the collector ended, and the collector's own counters.
//
// The relay adds it to the supervisor's messages as a custom message of OpAMP. It holds no configuration and no value of
// one: only hashes, names of top-level keys, counts and times.
package host

import (
	"encoding/json"
	"log"
	"maps"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/open-telemetry/opamp-go/protobufs"
)

const (
	// Capability and Type name the custom message.
	Capability = "io.headgate.host"
	Type       = "report"
	// largest bounds a report without counters of single exporters, in bytes.
	largest = 8 << 10
	// lastExits is how many times of exits are reported.
	lastExits = 5
)

// Settings are what this host is called, and where its files are.
type Settings struct {
	// Version is this program's.
	Version string
	Name    string
	Labels  map[string]string
	// Storage is the supervisor's folder, Effective the file in it from which it starts the collector.
	Storage   string
	Effective string
}

// report is the custom message's data. What has not changed since an answered report is left out, but for full reports.
type report struct {
	V          int               `json:"v"`
	Supervisor *program          `json:"supervisor,omitempty"`
	Name       string            `json:"name,omitempty"`
	Labels     map[string]string `json:"labels,omitempty"`
	Config     *running          `json:"config,omitempty"`
	Exits      *exits            `json:"exits,omitempty"`
	CrashLoop  *crashLoop        `json:"crash_loop,omitempty"`
	Counters   *Counters         `json:"counters,omitempty"`
}

type program struct {
	Version string `json:"version"`
}

// running is the text that the collector was last started with.
type running struct {
	// Hash is the SHA-256 in hex of the assigned text, before variables are filled in; empty for nothing.
	Hash string `json:"hash"`
	// Drifted are the top-level keys in which the file of the collector differs from what the supervisor wrote.
	Drifted []string `json:"drifted"`
}

type exits struct {
	SinceApply int         `json:"since_apply"`
	Last       []time.Time `json:"last"`
}

type crashLoop struct {
	Hash  string `json:"hash"`
	Exits int    `json:"exits"`
}

// Host is safe for concurrent use.
type Host struct {
	settings Settings
	scraper  *scraper
	now      func() time.Time

	mutex   sync.Mutex
	configs *configs
	crashes crashes
	file    fileState
	// told is what the service has answered for; pending what the message on its way adds to it.
	told    report
	pending *report
}

// New reads what a former process of this host left in the storage.
func New(settings Settings) *Host {
	return &Host{
		settings: settings,
		scraper:  newScraper(),
		now:      time.Now,
		configs:  readConfigs(settings.Storage),
	}
}

// Exited notes that the collector ended by itself.
func (h *Host) Exited() {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.crashes.exited(h.now())
}

// Outgoing adds this host's report to a message of the supervisor, and reports a configuration that ends the collector
// again and again as failed.
func (h *Host) Outgoing(message *protobufs.AgentToServer) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.noteStatus(message.GetRemoteConfigStatus())
	running := h.configs.Running.ConfigHash
	if loop := h.crashes.loop(running); loop != "" {
		untold := message.RemoteConfigStatus == nil && !h.crashes.told
		if untold || isOf(message.RemoteConfigStatus, running) {
			message.RemoteConfigStatus = failedStatus(running, loop)
		}
	}
	full := message.AgentDescription != nil
	next := h.changed(full)
	data, err := json.Marshal(next)
	if err != nil || len(data) > largest {
		log.Printf("the report of this host is left out: %d bytes, %v", len(data), err)
		return
	}
	h.pending = &next
	if reflect.DeepEqual(next, report{V: 1}) {
		return
	}
	if full {
		message.CustomCapabilities = withCapability(message.CustomCapabilities)
	}
	if message.CustomMessage == nil {
		message.CustomMessage = &protobufs.CustomMessage{Capability: Capability, Type: Type, Data: data}
	}
}

// Answered notes that the service has answered the message that went out last, and what it offers.
func (h *Host) Answered(message *protobufs.AgentToServer, answer *protobufs.ServerToAgent) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if h.pending != nil && carries(message) {
		h.told = merged(h.told, *h.pending)
		h.scraper.commit()
	}
	h.pending = nil
	if message.GetRemoteConfigStatus().GetStatus() == protobufs.RemoteConfigStatuses_RemoteConfigStatuses_FAILED &&
		isOf(message.RemoteConfigStatus, h.crashes.looped) {
		h.crashes.told = true
	}
	if offered := answer.GetRemoteConfig(); offered != nil {
		h.configs.offered(offered)
	}
}

// WithoutService is the answer to the supervisor when the service cannot be reached: the configuration before, if the
// one that runs ends the collector again and again. Nil: there is nothing to do.
func (h *Host) WithoutService(message *protobufs.AgentToServer) *protobufs.ServerToAgent {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.pending = nil
	if h.crashes.loop(h.configs.Running.ConfigHash) == "" || h.crashes.wentBack {
		return nil
	}
	before := h.configs.before()
	if before == nil {
		return nil
	}
	h.crashes.wentBack = true
	log.Printf("Headgate cannot be reached, and the collector keeps ending: it goes back to the configuration before")
	return &protobufs.ServerToAgent{InstanceUid: message.InstanceUid, RemoteConfig: before}
}

// noteStatus notes what the supervisor says of a configuration. A configuration that is applied begins anew.
func (h *Host) noteStatus(status *protobufs.RemoteConfigStatus) {
	if status.GetStatus() != protobufs.RemoteConfigStatuses_RemoteConfigStatuses_APPLIED {
		return
	}
	h.crashes.reportLoop(h.configs)
	if h.configs.applied(status.GetLastRemoteConfigHash(), h.crashes.looped != nil) {
		h.crashes.begin(h.now())
		h.file = fileState{}
	}
}

// changed is what the service does not know yet; all of it for a full report.
func (h *Host) changed(full bool) report {
	now := report{
		V:          1,
		Supervisor: &program{h.settings.Version},
		Name:       h.settings.Name,
		Labels:     h.settings.Labels,
		Config:     &running{h.configs.Running.TextHash, h.file.drifted(h.settings.Effective)},
		Exits:      h.crashes.report(),
		CrashLoop:  h.crashes.reportLoop(h.configs),
	}
	now.Counters = h.scraper.since(h.file.metricsAddress, h.now())
	if full {
		return now
	}
	if h.told.Supervisor != nil {
		now.Supervisor, now.Name, now.Labels = nil, "", nil
	}
	if reflect.DeepEqual(now.Config, h.told.Config) {
		now.Config = nil
	}
	if reflect.DeepEqual(now.Exits, h.told.Exits) {
		now.Exits = nil
	}
	if reflect.DeepEqual(now.CrashLoop, h.told.CrashLoop) {
		now.CrashLoop = nil
	}
	return now
}

// merged is what the service knows after a report.
func merged(told, next report) report {
	if next.Supervisor != nil {
		told.Supervisor, told.Name, told.Labels = next.Supervisor, next.Name, maps.Clone(next.Labels)
		told.CrashLoop = next.CrashLoop
	}
	if next.Config != nil {
		told.Config = next.Config
	}
	if next.Exits != nil {
		told.Exits = next.Exits
	}
	if next.CrashLoop != nil {
		told.CrashLoop = next.CrashLoop
	}
	return told
}

func carries(message *protobufs.AgentToServer) bool {
	return message.GetCustomMessage().GetCapability() == Capability
}

func withCapability(capabilities *protobufs.CustomCapabilities) *protobufs.CustomCapabilities {
	if capabilities == nil {
		capabilities = &protobufs.CustomCapabilities{}
	}
	if !slices.Contains(capabilities.Capabilities, Capability) {
		capabilities.Capabilities = append(capabilities.Capabilities, Capability)
	}
	return capabilities
}
