package policies

import (
	"github.com/headgate/headgate/layers/collector/internal/decoded"
)

var noSendingQueue = &Policy{
	Code:     "no_sending_queue",
	Title:    "An exporter has no sending queue",
	Severity: Information,
	Why: "Without a queue, data waits in the pipeline while the backend is slow or is tried again: receivers refuse new " +
		"data meanwhile, and other exporters of the pipeline wait as well.",
	WayOut: "Remove sending_queue, which is on by default for most exporters, or set its enabled to true.",
	examples: fixed(receivingOTLP+`exporters:
  otlp:
    endpoint: backend.example.com:4317
    sending_queue:
      enabled: false
`+tracesThroughOTLP,
		"enabled: false", "queue_size: 5000",
	),
	check: func(c *configuration, found *findings) {
		for _, one := range c.running("exporters") {
			if one.read() == nil || one.lacks("sending_queue") || retriesElsewhere(one) || one.unknown("sending_queue", "enabled") {
				continue
			}
			if one.number("sending_queue", "num_consumers") > 0 && one.setting("sending_queue", "enabled") != false {
				continue
			}
			queue, hasQueue := one.allSettings()["sending_queue"]
			isOff := queue == nil
			if settings, isMapping := decoded.Simple(queue).(map[string]any); isMapping {
				isOff = settings["enabled"] == false
			}
			if hasQueue && isOff && !c.comesFromQueue(one) {
				found.at(one.path("sending_queue", "enabled"), "%s has no queue: while it waits, the pipeline waits", one.id)
			}
		}
	},
}

// comesFromQueue tells whether an exporter gets data only from receivers whose source keeps it until the exporter has
// answered. A queue would tell the source too early that the data has arrived.
func (c *configuration) comesFromQueue(exporter *entry) bool {
	isQueue := func(e *entry) bool {
		return e.is("kafka", "pulsar", "googlecloudpubsub", "solace", "azureeventhub", "azure_event_hub")
	}
	for _, one := range c.pipelines {
		others := func(e *entry) bool { return !isQueue(e) }
		if first(one.exporters, func(e *entry) bool { return e == exporter }) >= 0 && first(one.receivers, others) >= 0 {
			return false
		}
	}
	return true
}
