package compare

import (
	"fmt"
	"strings"
	"testing"
)

// TestSeriesWhoseAttributesChangedAreOneChangeEach has what renaming, dropping and adding attributes does to metrics and
// spans, also where most values are equal.
func TestSeriesWhoseAttributesChangedAreOneChangeEach(t *testing.T) {
	point := func(pod, zone string, at, value int, key string) string {
		return fmt.Sprintf(`{"timeUnixNano":"17000000000000000%02d","asInt":"%d","attributes":[{"key":"%s","value":{"stringValue":"%s"}},{"key":"zone","value":{"stringValue":"%s"}}]}`,
			at, value, key, pod, zone)
	}
	series := func(name, key string, value func(int) int, backwards bool) string {
		var points []string
		for i := range 60 {
			one := point(fmt.Sprint("pod-", i), fmt.Sprint("zone-", i%3), i%2, value(i), key)
			if points = append(points, one); backwards {
				points = append([]string{one}, points[:len(points)-1]...)
			}
		}
		return metrics(`{"name":"` + name + `","gauge":{"dataPoints":[` + strings.Join(points, ",") + `]}}`)
	}
	equal := func(int) int { return 1 }
	for name, one := range map[string]struct {
		left, right string
		fields      int
	}{
		"an attribute renamed":                           {series("m", "pod", equal, false), series("m", "k8s.pod.name", equal, true), 2},
		"a metric renamed, in another order":             {series("m", "pod", equal, false), series("n", "pod", equal, true), 1},
		"every value changed, in another order":          {series("m", "pod", func(i int) int { return i }, false), series("m", "pod", func(i int) int { return i * 2 }, true), 1},
		"a metric renamed and every value made a double": {series("m", "pod", equal, false), strings.ReplaceAll(series("n", "pod", equal, true), `"asInt":"1"`, `"asDouble":1`), 3},
	} {
		t.Run(name, func(t *testing.T) {
			result := outcome(t, Request{Left: one.left, Right: one.right})
			summary := result.Signals["metrics"]
			if summary.Added+summary.Missing > 0 {
				t.Errorf("%+v", summary)
			}
			wrong := 0
			for _, difference := range result.Differences {
				if len(difference.Fields) > one.fields || name == "an attribute renamed" && string(difference.Fields[0].Left) != string(difference.Fields[1].Right) {
					wrong++
				}
			}
			if wrong > 0 {
				t.Errorf("%d of %d records were paired with another one: %s", wrong, len(result.Differences), told(result)[:600])
			}
		})
	}
}
