package host

import (
	"encoding/json"
	"fmt"
	"log"

	"github.com/headgate/headgate/layers/supervisor/internal/programs"
	"github.com/headgate/headgate/layers/supervisor/internal/variables"
	"github.com/open-telemetry/opamp-go/protobufs"
)

const serviceVersion = "service.version"

// takeOffer lets an upgrade hold back what the answer offers, or add what it held back. It reports whether it changed
// the answer.
func (h *Host) takeOffer(answer *protobufs.ServerToAgent) bool {
	if offered := answer.GetRemoteConfig(); offered != nil {
		beside := besideOffer(answer.GetCustomMessage())
		config, err := h.settings.Variables.Take(offered, beside.Variables)
		if err != nil {
			answer.RemoteConfig = nil
			h.settings.Upgrades.Refuse(offered.ConfigHash, fmt.Sprintf("The variables of this version are not on this host: %v", err))
			return true
		}
		answer.RemoteConfig = h.settings.Upgrades.Offered(config, beside.Collector)
		return answer.RemoteConfig != offered
	}
	if !isEmpty(answer) || h.configs.isApplying(h.now()) {
		return false
	}
	answer.RemoteConfig = h.settings.Upgrades.Waiting()
	return answer.RemoteConfig != nil
}

// beside is what belongs to an offer: the collector for it, and its variables; nil for what the answer does not name.
type beside struct {
	Collector *programs.Target `json:"collector"`
	Variables *variables.Offer `json:"variables"`
}

func besideOffer(custom *protobufs.CustomMessage) beside {
	var said beside
	if custom.GetCapability() != Capability || custom.GetType() != orderType || len(custom.GetData()) > largestOrder {
		return beside{}
	}
	if err := json.Unmarshal(custom.GetData(), &said); err != nil {
		// Without what it says, which may be secret.
		log.Print("what belongs to an offer cannot be read, and is left out")
		return beside{}
	}
	return said
}

// pruneVariables removes the variables to which nothing goes back.
func (h *Host) pruneVariables() {
	if h.settings.Upgrades.UnderWay() {
		return
	}
	h.settings.Variables.Prune(h.configs.known()...)
}

// describe corrects the version that the supervisor learned of the collector at its own start.
func describe(description *protobufs.AgentDescription, version string) {
	for _, attribute := range description.GetIdentifyingAttributes() {
		if attribute.GetKey() == serviceVersion {
			attribute.Value = &protobufs.AnyValue{Value: &protobufs.AnyValue_StringValue{StringValue: version}}
		}
	}
}
