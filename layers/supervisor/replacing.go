package main

import (
	"context"
	"errors"
	"log"
	"sync"

	"github.com/headgate/headgate/layers/supervisor/internal/host"
	"github.com/headgate/headgate/layers/supervisor/internal/launch"
	"github.com/headgate/headgate/layers/supervisor/internal/programs"
	"github.com/headgate/headgate/layers/supervisor/internal/relay"
	"github.com/headgate/headgate/layers/supervisor/internal/settings"
	"github.com/headgate/headgate/layers/supervisor/internal/takeover"
	"github.com/open-telemetry/opamp-go/protobufs"
)

// replacing is the host, and carries out the order to replace this program. `end` stops this supervisor.
type replacing struct {
	relay.Host
	ours      *settings.Settings
	installed string
	end       context.CancelCauseFunc
	known     *host.Host
	trial     *takeover.Trial

	proved sync.Once
	mutex  sync.Mutex
	order  string
}

// tellFailure lets the host tell of an order that was not carried out before this start.
func (r *replacing) tellFailure() {
	if !r.ours.Upgrades() {
		return
	}
	if failed := launch.Failed(r.ours.Storage); failed != nil {
		r.known.CouldNot(failed.Order, failed.Reason)
	}
}

// Answered also proves this program, if it is a new one: it reaches Headgate.
func (r *replacing) Answered(message *protobufs.AgentToServer, answer *protobufs.ServerToAgent) bool {
	r.trial.Answered(message)
	r.proved.Do(func() {
		if !r.ours.Upgrades() {
			return
		}
		if order := launch.Proved(r.ours.Storage); order != "" {
			r.known.CarriedOut(order)
		}
	})
	return r.Host.Answered(message, answer)
}

// start replaces this program, in the background. The order is repeated until it is carried out or has failed.
func (r *replacing) start(order string, target *programs.Target) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.order == order {
		return
	}
	r.order = order
	go func() {
		err := errors.New("the order names no program")
		if target != nil {
			err = launch.Replace(context.Background(), r.ours.Storage, r.installed, r.ours.Endpoint, order, *target)
		}
		if err != nil {
			log.Printf("the supervisor was not replaced: %v", err)
			r.known.CouldNot(order, err.Error())
			return
		}
		log.Printf("supervisor %s takes the place of this one", target.Version)
		r.end(launch.ErrRestart)
	}()
}
