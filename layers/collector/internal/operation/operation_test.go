package operation

import (
	"testing"

	"go.opentelemetry.io/collector/component"
)

func TestAnAbsentComponentIsKnownByEveryNameThatReleasesGiveIt(t *testing.T) {
	env := &Environment{Lacking: []Absent{
		{"receiver", "icmpcheck", "github.com/x/receiver/icmpcheckreceiver"}, {"exporter", "kafka_x", "github.com/x/y"},
	}}
	for _, row := range []struct {
		section, kind string
		lacks         bool
	}{
		{"receivers", "icmpcheck", true}, {"receivers", "icmp_check", true}, {"receivers", "icmpcheckreceiver", true},
		{"exporters", "kafkax", true}, {"exporters", "kafka", false}, {"processors", "icmpcheck", false},
	} {
		if _, lacks := env.Lacks(row.section, component.MustNewType(row.kind)); lacks != row.lacks {
			t.Errorf("%s %s: %t", row.section, row.kind, lacks)
		}
	}
}
