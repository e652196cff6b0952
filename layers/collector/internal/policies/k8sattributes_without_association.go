package policies

var k8sAttributesWithoutAssociation = &Policy{
	Code:     "k8sattributes_without_association",
	Title:    "k8sattributes has no association for data without a connection",
	Severity: Warning,
	Why: "Without pod_association the processor knows a pod only by its IP address: that of the connection, or in " +
		"k8s.pod.ip. What a receiver reads from files or scrapes itself has neither, so that no attributes are added, and " +
		"nothing tells.",
	WayOut: "Add pod_association with a source that the data has, such as the resource attribute k8s.pod.uid, and connection " +
		"as the last.",
	Seen: []string{"https://github.com/open-telemetry/opentelemetry-collector-contrib/issues/35879"},
	examples: fixed(`receivers:
  filelog:
    include: [/var/log/pods/*/*/*.log]
    exclude: [/var/log/pods/*_otel-collector-*/*/*.log]
processors:
  memory_limiter:
    check_interval: 1s
    limit_percentage: 75
  k8sattributes:
    auth_type: none
`+exportingOTLP+`service:
  pipelines:
    logs:
      receivers: [filelog]
      processors: [memory_limiter, k8sattributes]
      exporters: [otlp]
`,
		"auth_type: none", `auth_type: none
    pod_association:
      - sources:
          - from: resource_attribute
            name: k8s.pod.uid`,
	),
	check: func(c *configuration, found *findings) {
		for _, one := range c.pipelines {
			at := first(one.receivers, hasNoConnection)
			if at < 0 {
				continue
			}
			for _, processor := range one.processors {
				if processor.is("k8sattributes") && len(processor.list("pod_association")) == 0 && !processor.on("passthrough") &&
					!processor.unknown("pod_association") {
					found.at(processor.path(), "%s has no pod_association, and %s gives it data without a connection",
						processor.id, one.receivers[at].id)
				}
			}
		}
	},
}

// hasNoConnection tells whether a receiver fetches its data itself.
func hasNoConnection(one *entry) bool {
	return one.section == "receivers" && one.read() != nil && len(one.servers()) == 0
}
