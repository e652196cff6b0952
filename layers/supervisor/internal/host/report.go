package host

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/headgate/headgate/layers/supervisor/internal/variables"
)

const (
	// largest bounds a report, largestWithList one with the list of components, in bytes.
	largest         = 8 << 10
	largestWithList = 64 << 10
	// lastExits is how many times of exits are reported.
	lastExits = 5
)

// can are the orders that every host carries out; upgrades are for those that replace their programs.
var (
	can      = []string{doRestart, doRetry, doComponents}
	upgrades = []string{doUpgrade, "upgrade_collector"}
)

func (h *Host) can() []string {
	more := h.settings.Can(h.components.list)
	if h.settings.RenewToken != nil {
		more = append(slices.Clone(more), renewToken)
	}
	if h.settings.Variables.Able() {
		more = append(slices.Clone(more), takeVariables)
	}
	if h.settings.Upgrades.Able() {
		return slices.Concat(can, more, upgrades)
	}
	return slices.Concat(can, more)
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
	Components *componentList    `json:"components,omitempty"`
	Can        []string          `json:"can,omitempty"`
	Platform   string            `json:"platform,omitempty"`
	Collector  *program          `json:"collector,omitempty"`
	Variables  *runningVariables `json:"variables,omitempty"`
	Done       []string          `json:"done,omitempty"`
	Failed     []failedOrder     `json:"failed,omitempty"`
	Counters   *Counters         `json:"counters,omitempty"`
	Totals     *Totals           `json:"totals,omitempty"`
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

// runningVariables are those in the environment of the collector's process, "" for those of the install.
type runningVariables struct {
	Digest string `json:"digest"`
}

type exits struct {
	SinceApply int         `json:"since_apply"`
	Last       []time.Time `json:"last"`
}

type crashLoop struct {
	Hash  string `json:"hash"`
	Exits int    `json:"exits"`
}

// componentList is what the collector was built with. Hash is the SHA-256 in hex of the sorted names, joined by line
// feeds; List is sent only when it was ordered.
type componentList struct {
	Hash string   `json:"hash"`
	List []string `json:"list,omitempty"`
}

// encode returns the report as JSON, nil if it says nothing.
func (r report) encode() ([]byte, error) {
	if reflect.DeepEqual(r, report{V: 1}) {
		return nil, nil
	}
	data, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	most := largest
	if r.Components != nil && r.Components.List != nil {
		most = largestWithList
	}
	if len(data) > most && r.Totals != nil {
		// The next one has them.
		r.Totals = nil
		return r.encode()
	}
	if len(data) > most {
		return nil, fmt.Errorf("it has %d bytes", len(data))
	}
	return data, nil
}

// changed is what the service does not know yet; all of it for a full report.
func (h *Host) changed(full bool) report {
	now := report{
		V:          1,
		Supervisor: &program{h.settings.Version},
		Name:       h.settings.Name,
		Labels:     h.settings.Labels,
		Exits:      h.crashes.report(),
		CrashLoop:  h.crashes.last,
		Components: h.components.report(),
		Can:        h.can(),
		Platform:   h.settings.Platform,
		Failed:     h.orders.failed(),
		Done:       append(h.orders.untold(), h.components.ordered...),
		Counters:   h.meter.counters(),
	}
	if h.file.known {
		now.Config = &running{h.configs.Running.TextHash, h.file.changed}
	}
	if version := h.settings.Upgrades.Running(); version != "" {
		now.Collector = &program{version}
	}
	now.Variables = h.told.Variables
	if digest, seen := h.settings.Upgrades.Environment(variables.Marker); seen && h.settings.Variables.Able() {
		now.Variables = &runningVariables{digest}
	}
	// A process that counts from zero says so with its first message.
	if full || now.Counters != nil {
		now.Totals = h.meter.flows.totals()
	}
	if full {
		return now
	}
	if h.told.Supervisor != nil {
		now.Supervisor, now.Name, now.Labels, now.Platform = nil, "", nil, ""
	}
	if slices.Equal(now.Can, h.told.Can) {
		now.Can = nil
	}
	if reflect.DeepEqual(now.Collector, h.told.Collector) {
		now.Collector = nil
	}
	if reflect.DeepEqual(now.Variables, h.told.Variables) {
		now.Variables = nil
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
	if reflect.DeepEqual(now.Components, h.told.Components) {
		now.Components = nil
	}
	return now
}

// forgetTold forgets what the service was told with the message before, if no answer to that came: the service may have
// stored it, or not, so that the next message says it again.
func (h *Host) forgetTold() {
	sent := h.pending
	h.pending = nil
	if sent == nil {
		return
	}
	if sent.Can != nil {
		h.told.Can = nil
	}
	if sent.Collector != nil {
		h.told.Collector = nil
	}
	if sent.Variables != nil {
		h.told.Variables = nil
	}
	if sent.Config != nil {
		h.told.Config = nil
	}
	if sent.Exits != nil {
		h.told.Exits = nil
	}
	if sent.CrashLoop != nil {
		h.told.CrashLoop = nil
	}
	if sent.Components != nil {
		h.told.Components = nil
	}
}

// noteTold keeps what the service knows after a report that it has answered.
func (h *Host) noteTold(next report) {
	if next.Supervisor != nil {
		h.told.Supervisor, h.told.Name, h.told.Labels = next.Supervisor, next.Name, maps.Clone(next.Labels)
		h.told.CrashLoop = next.CrashLoop
	}
	if next.Can != nil {
		h.told.Can = next.Can
	}
	if next.Collector != nil {
		h.told.Collector = next.Collector
	}
	if next.Variables != nil {
		h.told.Variables = next.Variables
	}
	if next.Config != nil {
		h.told.Config = next.Config
	}
	if next.Exits != nil {
		h.told.Exits = next.Exits
	}
	if next.CrashLoop != nil {
		h.told.CrashLoop = next.CrashLoop
	}
	if next.Components != nil {
		h.told.Components = &componentList{Hash: next.Components.Hash}
		h.orders.remember(h.components.listed(next.Components.List != nil))
	}
	h.orders.told(next.Done)
	h.orders.toldFailed(next.Failed)
	h.meter.told()
}
