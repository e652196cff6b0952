package host

import (
	"encoding/json"
	"log"

	"github.com/headgate/headgate/layers/supervisor/internal/programs"
	"github.com/open-telemetry/opamp-go/protobufs"
)

const serviceVersion = "service.version"

// takeOffer lets an upgrade hold back what the answer offers, or add what it held back. It reports whether it changed
// the answer.
func (h *Host) takeOffer(answer *protobufs.ServerToAgent) bool {
	if offered := answer.GetRemoteConfig(); offered != nil {
		answer.RemoteConfig = h.settings.Upgrades.Offered(offered, targetOf(answer.GetCustomMessage()))
		return answer.RemoteConfig != offered
	}
	if !isEmpty(answer) || h.configs.isApplying(h.now()) {
		return false
	}
	answer.RemoteConfig = h.settings.Upgrades.Waiting()
	return answer.RemoteConfig != nil
}

// targetOf is the collector for what an answer offers, nil if it names none.
func targetOf(custom *protobufs.CustomMessage) *programs.Target {
	var said struct {
		Collector *programs.Target `json:"collector"`
	}
	if custom.GetCapability() != Capability || custom.GetType() != orderType || len(custom.GetData()) > largestOrder {
		return nil
	}
	if err := json.Unmarshal(custom.GetData(), &said); err != nil {
		log.Printf("a collector that cannot be read is left out: %v", err)
		return nil
	}
	return said.Collector
}

// describe corrects the version that the supervisor learned of the collector at its own start.
func describe(description *protobufs.AgentDescription, version string) {
	for _, attribute := range description.GetIdentifyingAttributes() {
		if attribute.GetKey() == serviceVersion {
			attribute.Value = &protobufs.AnyValue{Value: &protobufs.AnyValue_StringValue{StringValue: version}}
		}
	}
}
