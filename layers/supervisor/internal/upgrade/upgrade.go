// Package upgrade moves this host to another collector together with the configuration that the service offers for it,
// and back to both if that fails.
//
// The offer is held back until the collector is here, is the published one, runs on this host, and accepts the text.
// Then the supervisor gets the configuration and starts the new collector with it, as it applies any other one: what it
// says of it decides. Until then, and after a failure, the host runs what it ran.
package upgrade

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"sync"

	"github.com/headgate/headgate/layers/supervisor/internal/programs"
	"github.com/open-telemetry/opamp-go/protobufs"
	"google.golang.org/protobuf/proto"
)

// Name is that of the collector's file.
const Name = "otelcol-contrib"

const interrupted = "The supervisor was ended in the middle of the upgrade"

// Settings are those of a host. Able is whether this host replaces its collector; Try runs a collector on this host, and
// returns why it does not accept the configuration.
type Settings struct {
	Able             bool
	Endpoint         string
	Storage          string
	Installed        string
	InstalledVersion string
	Try              func(ctx context.Context, program string, target programs.Target, config *protobufs.AgentRemoteConfig) error
}

// Upgrades is safe for concurrent use; its methods do not wait for a download.
type Upgrades struct {
	settings Settings

	mutex sync.Mutex
	store *programs.Store
	// next is the offer that is held back.
	next *preparation
	// told is whether the service has answered for the status of `next` or of the failure. last is what the supervisor
	// said last, which it does not say again; owed what the service has to hear of that after the failure.
	told bool
	last *protobufs.RemoteConfigStatus
	owed *protobufs.RemoteConfigStatus
}

// preparation is an offer and its collector, on the way.
type preparation struct {
	config *protobufs.AgentRemoteConfig
	target programs.Target
	cancel context.CancelFunc
	done   bool
	known  programs.Known
	err    error
}

// Open reads which collector ran. A change that was under way when the last process ended is undone: then the hash of
// its configuration is returned, which the supervisor must not start from.
func Open(settings Settings) (*Upgrades, []byte, error) {
	u := &Upgrades{settings: settings}
	store, err := programs.Open(settings.Storage, Name)
	if err != nil {
		return nil, nil, err
	}
	u.store = store
	trial := store.State.Trial
	if trial == nil {
		return u, nil, nil
	}
	log.Printf("%s to collector %s: the one before runs again", interrupted, store.Version(store.State.Current))
	u.back(interrupted)
	return u, trial.ConfigHash, nil
}

// Able reports whether this host replaces its collector.
func (u *Upgrades) Able() bool { return u.store != nil && u.settings.Able }

// UnderWay reports whether a collector is prepared, or has not proved itself yet.
func (u *Upgrades) UnderWay() bool {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	return u.store != nil && (u.next != nil || u.store.State.Trial != nil)
}

// Current names the collector that is to run, "" for the installed one.
func (u *Upgrades) Current() string {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	if u.store == nil {
		return ""
	}
	return u.store.State.Current
}

// Program is the path of the collector that is to run.
func (u *Upgrades) Program() string {
	if u.store == nil {
		return u.settings.Installed
	}
	return programs.Start(u.settings.Storage, Name, u.settings.Installed)
}

// Offered takes what the service offers, with the collector for it, nil if it names none. It returns what the supervisor
// is to get now, nil for nothing.
func (u *Upgrades) Offered(config *protobufs.AgentRemoteConfig, target *programs.Target) *protobufs.AgentRemoteConfig {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	if u.store == nil {
		return config
	}
	if u.next != nil && target != nil && u.next.target.ID() == target.ID() && bytes.Equal(u.next.config.ConfigHash, config.ConfigHash) {
		// It is repeated until the service has heard of it.
		return u.ready()
	}
	if u.next != nil || u.store.State.Failure != nil {
		u.repeat(config.ConfigHash)
	}
	u.cancel()
	u.store.State.Failure = nil
	if !u.settings.Able || target == nil || len(config.GetConfig().GetConfigMap()) == 0 {
		return config
	}
	if err := target.Check(); err != nil {
		u.fail(config.ConfigHash, fmt.Sprintf("The offer of a collector cannot be read: %v", err))
		return nil
	}
	if target.ID() == u.store.State.Current && u.store.Has(target.ID()) {
		return config
	}
	if target.Installed || (target.ID() == u.store.State.Before && u.store.Has(target.ID())) {
		// It ran here, and is gone back to.
		return u.swap(config, target.ID(), nil)
	}
	u.prepare(config, *target)
	return nil
}

// Refuse notes why an offer is not applied, to be told. What runs goes on.
func (u *Upgrades) Refuse(configHash []byte, reason string) {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	if u.store == nil {
		return
	}
	if u.next != nil || u.store.State.Failure != nil {
		u.repeat(configHash)
	}
	u.fail(configHash, reason)
}

// repeat lets the supervisor's last status be said again, if it is of a configuration that is offered once more: to the
// supervisor that is nothing new, and the service has heard another one since.
func (u *Upgrades) repeat(configHash []byte) {
	if isOf(u.last, configHash) {
		u.owed = u.last
	}
}

// Waiting returns what was held back and can be given to the supervisor now, nil for nothing.
func (u *Upgrades) Waiting() *protobufs.AgentRemoteConfig {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	return u.ready()
}

// Outgoing returns the status to report: the supervisor's, or that of an upgrade that it does not know of.
func (u *Upgrades) Outgoing(status *protobufs.RemoteConfigStatus) *protobufs.RemoteConfigStatus {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	if u.store == nil {
		return status
	}
	if status != nil {
		u.last, u.owed = proto.Clone(status).(*protobufs.RemoteConfigStatus), nil
	}
	status = u.judged(status)
	if next := u.next; next != nil && next.done && next.err != nil {
		u.fail(next.config.ConfigHash, fmt.Sprintf("Collector %s cannot run here, so that nothing was changed: %v", next.target.Version, next.err))
	}
	if u.next != nil {
		if status == nil && u.told {
			return nil
		}
		return statusOf(u.next.config.ConfigHash, protobufs.RemoteConfigStatuses_RemoteConfigStatuses_APPLYING, "")
	}
	failure := u.store.State.Failure
	if failure == nil || (u.told && !isOf(status, failure.ConfigHash)) {
		if status == nil {
			status = u.owed
		}
		return status
	}
	if status != nil && !isOf(status, failure.ConfigHash) {
		u.owed = u.last
	}
	return statusOf(failure.ConfigHash, protobufs.RemoteConfigStatuses_RemoteConfigStatuses_FAILED, failure.Reason)
}

// Answered notes that the service has answered for a status.
func (u *Upgrades) Answered(status *protobufs.RemoteConfigStatus) {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	if u.store == nil || status == nil {
		return
	}
	if u.owed != nil && isOf(status, u.owed.LastRemoteConfigHash) {
		u.owed = nil
	}
	failure := u.store.State.Failure
	u.told = u.told || (u.next != nil && isOf(status, u.next.config.ConfigHash)) || (failure != nil && isOf(status, failure.ConfigHash))
}

// Failed reports whether an upgrade to this configuration was undone.
func (u *Upgrades) Failed(configHash []byte) bool {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	return u.store != nil && u.store.State.Failure != nil && bytes.Equal(u.store.State.Failure.ConfigHash, configHash)
}

// Back returns a configuration that ran with that collector, which runs again with it.
func (u *Upgrades) Back(config *protobufs.AgentRemoteConfig, id string) *protobufs.AgentRemoteConfig {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	if u.store == nil || !u.store.Has(id) {
		return config
	}
	return u.swap(config, id, nil)
}

// judged takes what the supervisor says of a configuration that came with a collector: it stays, or both go.
func (u *Upgrades) judged(status *protobufs.RemoteConfigStatus) *protobufs.RemoteConfigStatus {
	state := &u.store.State
	if state.Trial == nil || !isOf(status, state.Trial.ConfigHash) {
		return status
	}
	switch status.GetStatus() {
	case protobufs.RemoteConfigStatuses_RemoteConfigStatuses_APPLIED:
		state.Before, state.Trial = state.Trial.Before, nil
		u.prune()
		u.save()
	case protobufs.RemoteConfigStatuses_RemoteConfigStatuses_FAILED:
		u.back(fmt.Sprintf("%s; collector %s did not stay, and %s runs again", status.GetErrorMessage(), u.version(state.Current), u.version(state.Trial.Before)))
		// This message tells it. The relay adds why the collector ended to the supervisor's own words.
		u.told = true
	}
	return status
}

// back undoes the change under way.
func (u *Upgrades) back(reason string) {
	state := &u.store.State
	trial := state.Trial
	state.Current, state.Trial = trial.Before, nil
	if !u.store.Has(state.Current) {
		state.Current = ""
	}
	u.fail(trial.ConfigHash, reason)
	u.prune()
}

// fail notes why an offer is not applied, to be told. It ends what is under way.
func (u *Upgrades) fail(configHash []byte, reason string) {
	u.cancel()
	log.Printf("an offer is not applied: %s", reason)
	u.store.State.Failure, u.told = &programs.Failure{ConfigHash: configHash, Reason: reason}, false
	u.save()
}

// swap makes a collector the one that is started next, and returns the configuration for it.
func (u *Upgrades) swap(config *protobufs.AgentRemoteConfig, id string, trial *programs.Trial) *protobufs.AgentRemoteConfig {
	before := u.store.State
	u.store.State.Current, u.store.State.Trial = id, trial
	if trial == nil && before.Current != id {
		u.store.State.Before = before.Current
	}
	if err := u.store.Save(); err != nil {
		u.store.State = before
		u.fail(config.ConfigHash, fmt.Sprintf("The change cannot be written down: %v", err))
		return nil
	}
	return forCollector(config, u.version(id))
}

func (u *Upgrades) version(id string) string {
	if id == "" {
		return u.settings.InstalledVersion
	}
	return u.store.Version(id)
}

func (u *Upgrades) ready() *protobufs.AgentRemoteConfig {
	next := u.next
	if next == nil || !next.done || next.err != nil {
		return nil
	}
	u.next = nil
	u.store.State.Known[next.target.ID()] = next.known
	return u.swap(next.config, next.target.ID(), &programs.Trial{Before: u.store.State.Current, ConfigHash: next.config.ConfigHash})
}

// prepare fetches a collector and tries it, beside the one that runs.
func (u *Upgrades) prepare(config *protobufs.AgentRemoteConfig, target programs.Target) {
	ctx, cancel := context.WithCancel(context.Background())
	next := &preparation{config: proto.Clone(config).(*protobufs.AgentRemoteConfig), target: target, cancel: cancel}
	u.next, u.told = next, false
	before := u.store.State.Known[target.ID()]
	log.Printf("collector %s is fetched", target.Version)
	go func() {
		defer cancel()
		known, err := u.store.Fetch(ctx, u.settings.Endpoint, target, before)
		if err == nil {
			err = u.settings.Try(ctx, u.store.Path(target.ID()), target, next.config)
		}
		u.mutex.Lock()
		defer u.mutex.Unlock()
		next.done, next.known, next.err = true, known, err
		if err != nil || u.next != next {
			u.prune()
		}
	}()
}

// prune removes what is neither gone back to nor on the way.
func (u *Upgrades) prune() {
	if u.next != nil && u.next.err == nil {
		u.store.Prune(u.next.target.ID())
		return
	}
	u.store.Prune()
}

func (u *Upgrades) cancel() {
	if u.next != nil {
		u.next.cancel()
		u.next = nil
	}
}

func (u *Upgrades) save() {
	if err := u.store.Save(); err != nil {
		log.Printf("which collector runs cannot be written down: %v", err)
	}
}

func statusOf(hash []byte, status protobufs.RemoteConfigStatuses, message string) *protobufs.RemoteConfigStatus {
	return &protobufs.RemoteConfigStatus{LastRemoteConfigHash: hash, Status: status, ErrorMessage: message}
}

func isOf(status *protobufs.RemoteConfigStatus, hash []byte) bool {
	return status != nil && len(hash) > 0 && bytes.Equal(status.LastRemoteConfigHash, hash)
}
