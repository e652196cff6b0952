package capture

import (
	"github.com/headgate/headgate/layers/collector/secrets"
	"github.com/open-telemetry/opamp-go/protobufs"
)

// mostNested bounds how deep the health of components is read.
const mostNested = 8

// withoutSecrets takes secrets out of the errors of a message: a collector quotes what it was given, such as an address
// with a password. Everybody who may see the host sees them.
func withoutSecrets(message *protobufs.AgentToServer) {
	if status := message.GetRemoteConfigStatus(); status != nil {
		status.ErrorMessage = secrets.RedactError(status.ErrorMessage)
	}
	healthWithoutSecrets(message.GetHealth(), mostNested)
}

func healthWithoutSecrets(health *protobufs.ComponentHealth, depth int) {
	if health == nil || depth == 0 {
		return
	}
	health.LastError, health.Status = secrets.RedactError(health.LastError), secrets.RedactError(health.Status)
	for _, one := range health.ComponentHealthMap {
		healthWithoutSecrets(one, depth-1)
	}
}
