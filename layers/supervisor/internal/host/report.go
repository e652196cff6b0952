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
	parts
	Platform string        `json:"platform,omitempty"`
	Done     []string      `json:"done,omitempty"`
	Failed   []failedOrder `json:"failed,omitempty"`
	Counters *Counters     `json:"counters,omitempty"`
	Totals   *Totals       `json:"totals,omitempty"`
}

// parts are what a report has only if it differs from what the service knows.
type parts struct {
	Config     *running          `json:"config,omitempty"`
	Exits      *exits            `json:"exits,omitempty"`
	CrashLoop  *crashLoop        `json:"crash_loop,omitempty"`
	Components *componentList    `json:"components,omitempty"`
	Can        []string          `json:"can,omitempty"`
	Collector  *program          `json:"collector,omitempty"`
	Variables  *runningVariables `json:"variables,omitempty"`
}

// eachBeside calls a function with each part and the same part of another report.
func (p *parts) eachBeside(known *parts, call func(part, known reflect.Value)) {
	all, beside := reflect.ValueOf(p).Elem(), reflect.ValueOf(known).Elem()
	for i := range all.NumField() {
		call(all.Field(i), beside.Field(i))
	}
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
		parts: parts{
			Exits:      h.crashes.report(),
			CrashLoop:  h.crashes.last,
			Components: h.components.report(),
			Can:        h.can(),
		},
		Platform: h.settings.Platform,
		Failed:   h.orders.failed(),
		Done:     append(h.orders.untold(), h.components.ordered...),
		Counters: h.meter.counters(),
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
	now.eachBeside(&h.told.parts, func(part, known reflect.Value) {
		if reflect.DeepEqual(part.Interface(), known.Interface()) {
			part.SetZero()
		}
	})
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
	sent.eachBeside(&h.told.parts, func(part, known reflect.Value) {
		if !part.IsZero() {
			known.SetZero()
		}
	})
}

// noteTold keeps what the service knows after a report that it has answered.
func (h *Host) noteTold(next report) {
	if next.Supervisor != nil {
		h.told.Supervisor, h.told.Name, h.told.Labels = next.Supervisor, next.Name, maps.Clone(next.Labels)
		h.told.CrashLoop = next.CrashLoop
	}
	next.eachBeside(&h.told.parts, func(part, known reflect.Value) {
		if !part.IsZero() {
			known.Set(part)
		}
	})
	if next.Components != nil {
		h.told.Components = &componentList{Hash: next.Components.Hash}
		h.orders.remember(h.components.listed(next.Components.List != nil))
	}
	h.orders.told(next.Done)
	h.orders.toldFailed(next.Failed)
	h.meter.told()
}
