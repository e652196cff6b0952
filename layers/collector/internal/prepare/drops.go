package prepare

import (
	"fmt"
	"strings"

	"github.com/headgate/headgate/layers/collector/internal/history"
)

// drops returns a note on each component of the run that loses records by its defaults, without a word in its log.
func drops(resolved map[string]any, signal, version string, prepared *Prepared) []string {
	var notes []string
	for _, id := range names(section(resolved, "connectors")) {
		settings, _ := section(resolved, "connectors")[id].(map[string]any)
		switch plainType(id) {
		case "count":
			// https://github.com/open-telemetry/opentelemetry-collector-contrib/issues/41769
			if len(settings) == 0 && history.IsBefore(version, "0.143.0") {
				notes = append(notes, fmt.Sprintf(
					"connectors::%s has no settings and puts out no metrics on collector %s: name the metrics, for example %s: {my.count: {}}",
					id, version, signal))
			}
		case "routing":
			if list, _ := settings["default_pipelines"].([]any); len(list) == 0 && settings["table"] != nil {
				notes = append(notes, fmt.Sprintf("connectors::%s drops what no condition of its table matches: it has no default_pipelines", id))
			}
		}
	}
	for _, id := range names(section(resolved, "processors")) {
		settings, _ := section(resolved, "processors")[id].(map[string]any)
		switch plainType(id) {
		case "probabilisticsampler":
			if signal == "logs" && settings["fail_closed"] != false && settings["attribute_source"] != "record" &&
				strings.Count(prepared.Input, `"traceId":"`) < prepared.Records {
				notes = append(notes, fmt.Sprintf(
					"processors::%s drops log records without a trace ID, and the sample has such: set fail_closed: false, or "+
						"attribute_source: record with from_attribute", id))
			}
		}
	}
	return notes
}
