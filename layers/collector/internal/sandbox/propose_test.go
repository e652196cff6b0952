package sandbox

import (
	"strings"
	"testing"
)

const enriching = `
extensions: {oauth2client/a: {}, file_storage: {}}
processors:
  k8sattributes/prod: {}
  resource_detection: {detectors: [eks]}
  schema: {}
  lookup: {source: {auth: {authenticator: oauth2client/a}}}
  batch: {}
`

// What the collectors 0.139.0 and 0.158.0 wrote without a network, shortened.
const (
	noCluster = "2026-11-22T13:48:20.103Z\terror\tk8sattributesprocessor@v0.139.0/processor.go:75\tCould not initialize kube client\t" +
		`{"resource": {"service.name": "otelcol-contrib"}, "otelcol.component.id": "k8sattributes/prod", "otelcol.component.kind": "processor", "error": "unable to load in-cluster configuration"}`
	noDetector = "Error: failed to build pipelines: failed to create \"resource_detection\" processor, in pipeline \"traces\": " +
		"failed creating detector type \"eks\": unable to load in-cluster configuration, KUBERNETES_SERVICE_HOST must be defined\n"
	noSchema = "2026-11-22T13:49:45.416Z\terror\tschema-manager\ttranslation/manager.go:130\tFailed to lookup schemaURL\t" +
		`{"otelcol.component.id": "schema", "otelcol.component.kind": "processor", "error": "dial tcp: lookup opentelemetry.io: no such host"}`
	noToken    = "Error: cannot start extensions: failed to start extension \"oauth2client/a\": dial tcp 127.0.0.1:80: connect: connection refused\n"
	wrongValue = "Error: failed to build pipelines: failed to create \"batch\" processor, in pipeline \"traces\": send_batch_size is too small\n"
)

func TestAFailureOfTheSandboxProposesHowToTestWithoutIt(t *testing.T) {
	for stderr, expected := range map[string]string{
		noCluster: `processors::k8sattributes/prod cannot work in a test run, which has no network, no host and no cluster: ` +
			`leave it out, "skip": ["k8sattributes/prod"] (--skip k8sattributes/prod), or say what it would add, ` +
			`"attributes": {"k8sattributes/prod":{"k8s.namespace.name":"...","k8s.pod.name":"..."}} ` +
			`(--attribute k8sattributes/prod:k8s.namespace.name=... --attribute k8sattributes/prod:k8s.pod.name=...)`,
		noDetector: `"attributes": {"resource_detection":{"host.name":"..."}} (--attribute resource_detection:host.name=...)`,
		noSchema:   `leave it out, "skip": ["schema"] (--skip schema)`,
		noToken:    `the extension oauth2client/a cannot work in a test run, which has no network and no host: leave out what uses it, "skip": ["lookup"] (--skip lookup)`,
		wrongValue: "",
		"":         "",
		"failed to create \"unknown\" processor: dial tcp": "",
	} {
		got := proposal([]byte(enriching), []byte(stderr))
		if !strings.HasSuffix(got, expected) || (expected == "") != (got == "") {
			t.Errorf("%.100s\nproposes %s,\nnot %s", stderr, got, expected)
		}
		if len(inOneLine(got)) != len(got) {
			t.Errorf("%s is cut", got)
		}
	}
	if got := proposal([]byte("processors: ["), []byte(noCluster)); got != "" {
		t.Error(got)
	}
}
