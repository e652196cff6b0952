package policies

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

var histogramBoundsUnsorted = &Policy{
	Code:     "histogram_bounds_unsorted",
	Title:    "The bounds of a histogram are not in ascending order",
	Severity: Error,
	Why:      "A bound that is larger than the next one, often by a wrong unit, puts values into the wrong buckets: quantiles are wrong, and backends drop the histogram.",
	WayOut:   "Put the bounds in ascending order, each once.",
	Seen:     []string{"https://github.com/open-telemetry/opentelemetry-collector-contrib/issues/50183"},
	examples: fixed(receivingOTLP+`connectors:
  spanmetrics:
    metrics_expiration: 5m
    histogram:
      explicit:
        buckets: [1ms, 2ms, 5m, 10ms]
`+exportingOTLP+`service:
  pipelines:
    traces:
      receivers: [otlp]
      exporters: [spanmetrics, otlp]
    metrics:
      receivers: [spanmetrics]
      exporters: [otlp]
`,
		"buckets: [1ms, 2ms, 5m, 10ms]", "buckets: [1ms, 2ms, 5ms, 10ms]",
	),
	check: func(c *configuration, found *findings) {
		for _, one := range c.running("connectors", "processors", "receivers", "exporters") {
			visitBounds(one.written, nil, func(path []string, wrong string) {
				found.atSetting(one, path, "%s stands before a smaller or equal bound in %s", wrong, path[len(path)-2])
			})
		}
		visitBounds(valueAt(c.plain, "service", "telemetry"), nil, func(path []string, wrong string) {
			found.at(append([]string{"service", "telemetry"}, path...), "%s stands before a smaller or equal bound", wrong)
		})
	},
}

// visitBounds calls what for each list of bounds that is not in ascending order, with the path and text of the bound that is
// too large.
func visitBounds(value any, path []string, what func(path []string, wrong string)) {
	switch content := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(content)) {
			visitBounds(content[key], append(slices.Clone(path), key), what)
		}
	case []any:
		if len(path) > 0 && isBoundsKey(path[len(path)-1]) {
			if at, unsorted := firstUnsorted(content); unsorted {
				what(append(slices.Clone(path), strconv.Itoa(at)), fmt.Sprint(content[at]))
			}
			return
		}
		for i, inner := range content {
			visitBounds(inner, append(slices.Clone(path), strconv.Itoa(i)), what)
		}
	}
}

func isBoundsKey(key string) bool {
	return strings.HasSuffix(key, "buckets") || key == "boundaries" || key == "bounds"
}

// firstUnsorted returns the index of the first bound that is not below the next one.
func firstUnsorted(bounds []any) (int, bool) {
	for i := range len(bounds) - 1 {
		low, isNumber := bound(bounds[i])
		high, isNumberToo := bound(bounds[i+1])
		if !isNumber || !isNumberToo {
			return 0, false
		}
		if low >= high {
			return i, true
		}
	}
	return 0, false
}

func bound(value any) (float64, bool) {
	switch number := value.(type) {
	case int:
		return float64(number), true
	case float64:
		return number, true
	case string:
		if duration, err := time.ParseDuration(number); err == nil {
			return duration.Seconds(), true
		}
	}
	return 0, false
}
