package upgrade

import (
	"fmt"

	"github.com/open-telemetry/opamp-go/protobufs"
	"go.yaml.in/yaml/v3"
	"google.golang.org/protobuf/proto"
)

const (
	// The entry of the configuration that this package adds: the supervisor merges entries by their names, and the
	// assigned text, "", last.
	entry = "headgate-collector"
	// ofCollector is what the supervisor tells the collector of its own version, which it learned from the one before.
	ofCollector = "service.version"
	// ofOurs takes its place if the text says another one.
	ofOurs = "headgate.collector.version"
)

// forCollector is the configuration for a collector of that version: the resource of its own telemetry says so. Thereby
// the supervisor starts it anew, also if the text is the one that runs.
func forCollector(config *protobufs.AgentRemoteConfig, version string) *protobufs.AgentRemoteConfig {
	changed := proto.Clone(config).(*protobufs.AgentRemoteConfig)
	key := ofCollector
	if saysVersion(changed.GetConfig().GetConfigMap()[""].GetBody()) {
		key = ofOurs
	}
	// Quoted as YAML by the form of versions: letters, digits, and . + -
	body := fmt.Sprintf("service: {telemetry: {resource: {%s: %q}}}\n", key, version)
	changed.Config.ConfigMap[entry] = &protobufs.AgentConfigFile{Body: []byte(body), ContentType: "text/yaml"}
	return changed
}

func saysVersion(text []byte) bool {
	var said struct {
		Service struct {
			Telemetry struct {
				Resource map[string]any `yaml:"resource"`
			} `yaml:"telemetry"`
		} `yaml:"service"`
	}
	if err := yaml.Unmarshal(text, &said); err != nil {
		return false
	}
	_, there := said.Service.Telemetry.Resource[ofCollector]
	return there
}
