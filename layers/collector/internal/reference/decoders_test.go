package reference

import (
	"slices"
	"strings"
	"testing"

	"github.com/headgate/headgate/layers/collector/internal/comments"
	"github.com/headgate/headgate/layers/collector/version/distribution"
)

// asTheirFieldsSay are types that decode themselves and accept what their fields say all the same, with what else their
// decoder does.
var asTheirFieldsSay = map[string]string{
	core + "exporter/exporterhelper/internal/queuebatch.Config": "the sizer of a batch is that of the queue by default",

	contrib + "connector/countconnector.Config":                  "sets defaults of sections that are not written; ignores unknown keys",
	contrib + "connector/signaltometricsconnector/config.Config": "sets defaults of list entries",
	contrib + "exporter/coralogixexporter.Config":                "sets endpoints by the domain",
	contrib + "exporter/datasetexporter.Config":                  "words an error",
	contrib + "exporter/elasticsearchexporter.Config":            "carries deprecated settings over",
	contrib + "exporter/faroexporter.Config":                     "nothing",
	contrib + "exporter/fileexporter.Config":                     "sets a default, and leaves out a section that is not written",
	contrib + "exporter/kafkaexporter.Config":                    "carries deprecated settings over",
	contrib + "exporter/kafkaexporter.RecordPartitionerConfig":   "drops the default if another one is written",
	contrib + "exporter/signalfxexporter.Config":                 "adds to a list; ignores unknown keys",
	contrib + "exporter/splunkhecexporter.Config":                "carries deprecated settings over",
	contrib + "extension/observer/dockerobserver.Config":         "makes an empty list none",
	contrib + "pkg/datadog/config.Config":                        "refuses removed settings, and sets endpoints by the site",
	contrib + "pkg/stanza/operator/helper.TimeParser":            "sets a default; ignores unknown keys",
	contrib + "pkg/stanza/operator/parser/time.Config":           "ignores unknown keys",
	contrib + "pkg/stanza/operator/parser/timeparser.Config":     "ignores unknown keys",
	contrib + "receiver/awscloudwatchreceiver.Config":            "leaves out a section that is not written",
	contrib + "receiver/dockerstatsreceiver.Config":              "makes an empty list none",
	contrib + "receiver/faroreceiver.Config":                     "nothing",
	contrib + "receiver/gitlabreceiver.Config":                   "carries settings over; ignores unknown keys",
	contrib + "receiver/kafkametricsreceiver.Config":             "carries deprecated settings over",
	contrib + "receiver/kafkareceiver.Config":                    "carries deprecated settings over",
	contrib + "receiver/kubeletstatsreceiver.Config":             "sets a default",
	contrib + "receiver/libhoneyreceiver.Config":                 "cleans paths",
	contrib + "receiver/lokireceiver.Config":                     "leaves out sections that are not written",
	contrib + "receiver/mysqlreceiver.Config":                    "sets a default",
	contrib + "receiver/otelarrowreceiver.Config":                "carries deprecated settings over",
	contrib + "receiver/skywalkingreceiver.Config":               "leaves out sections that are not written",
}

// anyText are types that read themselves from texts of no fixed list.
var anyText = []string{
	core + "receiver/otlpreceiver.SanitizedURLPath",
	contrib + "exporter/signalfxexporter/internal/translation/dpfilters.StringFilter",
	contrib + "pkg/stanza/entry.Field",
	contrib + "pkg/stanza/entry.RootableField",
	contrib + "pkg/stanza/operator/helper.ByteSize",
	contrib + "pkg/stanza/operator/transformer/remove.rootableField",
	core + "pipeline.ID",
	"github.com/alecthomas/units.Base2Bytes",
	"github.com/prometheus/common/model.Duration",
	"github.com/prometheus/prometheus/model/relabel.Regexp",
}

// walked is a walker that has described every component, and the collector's own telemetry.
func walked(t *testing.T) *walker {
	t.Helper()
	factories, err := distribution.Components()
	if err != nil {
		t.Fatal(err)
	}
	w := newWalker(&comments.Texts{})
	for _, one := range all(&factories, w.texts) {
		w.configuration(one.factory)
	}
	if _, err := w.telemetry(build()); err != nil {
		t.Fatal(err)
	}
	return w
}

func TestEveryTypeThatDecodesItselfIsKnown(t *testing.T) {
	w := walked(t)
	if len(w.seen.closed) < 20 {
		t.Errorf("only %d types decode themselves", len(w.seen.closed))
	}

	for one := range w.seen.closed {
		name := fullName(one)
		isGenerated := strings.HasSuffix(one.PkgPath(), "/internal/metadata") && strings.HasSuffix(one.Name(), "Config")
		isOwnTelemetry := strings.HasPrefix(name, core+"service/telemetry/")
		if cases[name] == nil && asTheirFieldsSay[name] == "" && !isGenerated && !isOwnTelemetry {
			t.Errorf("%s decodes itself: add it to the cases, or to the types that accept what their fields say", name)
		}
	}
	for one, reason := range w.seen.undecided {
		t.Errorf("%s does not tell whether it refuses unknown keys: %s", fullName(one), reason)
	}
}

func TestEveryTypeThatReadsATextIsKnown(t *testing.T) {
	w := walked(t)
	if len(w.seen.texts) < 10 {
		t.Errorf("only %d types read texts", len(w.seen.texts))
	}

	for one := range w.seen.texts {
		if name := fullName(one); words[name] == nil && !slices.Contains(anyText, name) {
			t.Errorf("%s takes some texts and no others, perhaps: add its words, or list it as one that takes any", name)
		}
	}
}

func TestATypeTakesItsWordsAndNoOthers(t *testing.T) {
	for one := range walked(t).seen.texts {
		listed := words[fullName(one)]
		if listed == nil {
			continue
		}
		taken := enumeration(one)
		if len(taken) < 2 {
			t.Errorf("%s takes %v", fullName(one), taken)
		}
		if slices.ContainsFunc([]string{"headgate", "!", " "}, func(word string) bool { return takes(one, word) }) {
			t.Errorf("%s takes any text", fullName(one))
		}
	}
}

func TestEveryOpenPlaceHasAReason(t *testing.T) {
	factories, err := distribution.Components()
	if err != nil {
		t.Fatal(err)
	}
	w := newWalker(&comments.Texts{})
	reasons := map[string]int{}
	for _, one := range all(&factories, w.texts) {
		described := w.configuration(one.factory)
		described.opened(func(reason string) {
			reasons[reason]++
			t.Logf("%s %s: %s", one.Kind, one.Type, reason)
		})
	}

	// These numbers may only fall.
	known := map[string]int{prometheusReads: 3, readLater: 1, noDefault: 1}
	for reason, count := range reasons {
		if count > known[reason] {
			t.Errorf("%d places are open because %q, not %d", count, reason, known[reason])
		}
	}
}

// opened calls visit with the reason of every open place.
func (s *Schema) opened(visit func(string)) {
	if s.Open != "" {
		visit(s.Open)
	}
	s.children(func(inner *Schema) { inner.opened(visit) })
}
