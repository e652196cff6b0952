package reference

import (
	"reflect"
	"strings"
)

// earlierForms is why readers and processors of the collector's own telemetry are open.
const earlierForms = "the form of an earlier release is read as well"

// ownTelemetry describes the sections of the collector's own telemetry, whose types are internal to it: nil for another
// type.
func (w *walker) ownTelemetry(v reflect.Value, at place) *Schema {
	t := v.Type()
	if !reflect.PointerTo(t).Implements(unmarshaler) || !strings.HasPrefix(t.PkgPath(), core+"service/telemetry/") || !strings.HasSuffix(t.PkgPath(), "/internal/migration") {
		return nil
	}
	at = w.entered(v, at)
	found := w.structure(v, at)
	for _, key := range []string{"readers", "processors"} {
		if list, is := found.Properties[key]; is && list.Items != nil {
			list.Items = &Schema{AnyOf: []*Schema{list.Items, {Type: Types{"object"}, Open: earlierForms}}}
		}
	}
	return found
}
