package prepare

import (
	"slices"
	"strings"
	"time"
)

// atOnce are the components that pass on what they are given before they return, and hold nothing for later, by the name
// of their type without underscores. One that is not listed counts as waiting for time.
var atOnce = map[string][]string{
	"processors": {
		"attributes", "coralogix", "cumulativetodelta", "deltatocumulative", "deltatorate", "filter", "geoip", "groupbyattrs",
		"k8sattributes", "logstransform", "memorylimiter", "metricsgeneration", "metricstarttime", "metricstransform",
		"probabilisticsampler", "redaction", "resource", "resourcedetection", "schema", "span", "sumologic", "transform", "unroll",
	},
	"connectors": {"count", "exceptions", "failover", "forward", "otlpjson", "roundrobin", "routing", "signaltometrics", "sum"},
}

// Receivers of files hold a batch of records for the next component, and those of log lines the end of a record that may
// go on.
const (
	batchHeld     = 120 * time.Millisecond
	multilineHeld = 500 * time.Millisecond
	recombineHeld = 5 * time.Second
)

// idle returns after how many milliseconds without any activity nothing more comes out of a run that has read its sample,
// or 0 if that depends on the time for which it runs.
func idle(resolved map[string]any) int {
	held := batchHeld
	for _, id := range names(section(resolved, "receivers")) {
		settings, _ := section(resolved, "receivers")[id].(map[string]any)
		if enabled(settings["retry_on_failure"]) {
			return 0
		}
		if settings["multiline"] != nil {
			held += settingOr(settings, "force_flush_period", multilineHeld)
		}
		waits, known := ofOperators(settings)
		if !known {
			return 0
		}
		held += waits
	}
	for _, kind := range []string{"processors", "connectors"} {
		for _, id := range names(section(resolved, kind)) {
			settings, _ := section(resolved, kind)[id].(map[string]any)
			if kind == "processors" && plainType(id) == "batch" {
				held += max(0, settingOr(settings, "timeout", 200*time.Millisecond))
				continue
			}
			waits, known := ofOperators(settings)
			if !known || !slices.Contains(atOnce[kind], plainType(id)) {
				return 0
			}
			held += waits
		}
	}
	if held > longestRun {
		return 0
	}
	return int(held.Milliseconds())
}

// ofOperators returns for how long the operators of a component hold records. It is not known if a setting that decides
// it is none that the collector takes.
func ofOperators(settings map[string]any) (held time.Duration, known bool) {
	operators, _ := settings["operators"].([]any)
	for _, entry := range operators {
		operator, isMapping := entry.(map[string]any)
		kind, _ := operator["type"].(string)
		if !isMapping {
			return 0, false
		}
		if strings.EqualFold(kind, "recombine") || strings.EqualFold(kind, "container") {
			// `container` recombines the lines of a record that the runtime has split.
			period := settingOr(operator, "force_flush_period", recombineHeld)
			if period < 0 {
				return 0, false
			}
			held += period
		}
	}
	return held, true
}

// settingOr returns a duration of a component's settings, usual if it is not set, and -1 if the collector will not take it.
func settingOr(settings map[string]any, key string, usual time.Duration) time.Duration {
	held, ok := wait{key: key, usual: usual}.of(settings)
	if !ok {
		return -1
	}
	return held
}

func enabled(setting any) bool {
	settings, isMapping := setting.(map[string]any)
	return isMapping && settings["enabled"] == true
}
