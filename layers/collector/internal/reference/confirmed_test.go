package reference_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/headgate/headgate/layers/collector/internal/operation"
	"github.com/headgate/headgate/layers/collector/internal/reference"
	"github.com/headgate/headgate/layers/collector/version/distribution"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/otelcol"
)

type entry struct {
	Kind   string         `json:"kind"`
	Type   string         `json:"type"`
	Schema map[string]any `json:"schema"`
}

// whole is the reference of the build, made once: it takes a second.
var whole = sync.OnceValues(func() ([]byte, error) {
	settings := distribution.Settings()
	env := &operation.Environment{
		BuildInfo: settings.BuildInfo, Factories: distribution.Factories, Components: distribution.Components,
		Providers: settings.ProviderModules, Lacking: distribution.Lacking,
	}
	var written bytes.Buffer
	err := reference.Write(&written, env, reference.Components)
	return written.Bytes(), err
})

func entries(t *testing.T) []entry {
	t.Helper()
	written, err := whole()
	if err != nil {
		t.Fatal(err)
	}
	var read struct {
		Components []entry `json:"components"`
	}
	decoder := json.NewDecoder(bytes.NewReader(written))
	decoder.UseNumber()
	if err := decoder.Decode(&read); err != nil {
		t.Fatal(err)
	}
	for _, one := range read.Components {
		withNumbers(one.Schema)
	}
	return read.Components
}

// withNumbers makes whole numbers of those that are, as YAML does.
func withNumbers(value any) any {
	switch of := value.(type) {
	case map[string]any:
		for key, inner := range of {
			of[key] = withNumbers(inner)
		}
	case []any:
		for i, inner := range of {
			of[i] = withNumbers(inner)
		}
	case json.Number:
		if whole, err := of.Int64(); err == nil {
			return int(whole)
		}
		number, _ := of.Float64()
		return number
	}
	return value
}

func factory(all *otelcol.Factories, of entry) component.Factory {
	name := component.MustNewType(of.Type)
	switch of.Kind {
	case "receiver":
		return all.Receivers[name]
	case "processor":
		return all.Processors[name]
	case "exporter":
		return all.Exporters[name]
	case "connector":
		return all.Connectors[name]
	}
	return all.Extensions[name]
}

// TestTheDecoderConfirmsEverySchema asks the decoder of each component about every path of its schema.
func TestTheDecoderConfirmsEverySchema(t *testing.T) {
	factories, err := distribution.Factories()
	if err != nil {
		t.Fatal(err)
	}
	before := processorSeconds()
	version := distribution.Settings().BuildInfo.Version
	components := entries(t)
	paths, open, decoded := 0, 0, 0
	confirmed, covered := map[string]int{}, map[string]int{}
	ledger := newLedger(version)
	for _, one := range components {
		examined := &examination{name: one.Kind + "/" + one.Type, factory: factory(&factories, one), schema: one.Schema}
		examined.run()
		paths, open, decoded = paths+len(examined.places.values), open+examined.places.open(), decoded+examined.decoded
		for claim, number := range examined.confirmed {
			confirmed[claim] += number
		}
		for _, one := range examined.findings {
			if ledger.covers(one) {
				covered[one.claim]++
			} else {
				t.Error(one)
			}
		}
		ledger.examined(examined)
	}
	for _, one := range ledger.unneeded() {
		t.Errorf("no longer needed on %s, take it out of the exceptions: %s %s", version, one.claim, one.path)
	}
	total := 0
	for _, number := range covered {
		total += number
	}
	if most, known := excepted[version]; full && known && total != most {
		t.Errorf("%d differences are excepted on %s, not %d: fewer should be written down, more are not allowed", total, version, most)
	}
	t.Logf("%s: %d components, %d paths (%d of them open), %d decoded, %.1f s of processor time", version, len(components),
		paths, open, decoded, processorSeconds()-before)
	for _, claim := range slices.Sorted(maps.Keys(confirmed)) {
		t.Logf("%s: %d confirmed, %d excepted", claim, confirmed[claim], covered[claim])
	}
}

func processorSeconds() float64 {
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) != nil {
		return 0
	}
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e9
}

// ledger notes which exceptions are needed.
type ledger struct {
	exceptions []exception
	needed     []bool
	tried      []bool
}

func newLedger(version string) *ledger {
	on := slices.DeleteFunc(slices.Clone(exceptions), func(e exception) bool { return !e.isOn(version) })
	return &ledger{on, make([]bool, len(on)), make([]bool, len(on))}
}

func (l *ledger) covers(f finding) bool {
	is := false
	for i, one := range l.exceptions {
		if one.covers(f) {
			l.needed[i], is = true, true
		}
	}
	return is
}

func (l *ledger) examined(e *examination) {
	for i, one := range l.exceptions {
		l.tried[i] = l.tried[i] || slices.ContainsFunc(e.examined[one.claim], one.at)
	}
}

// unneeded are the exceptions without a difference. A small test need not come by every place of one, and a build that
// lacks components need not have one.
func (l *ledger) unneeded() []exception {
	var found []exception
	for i, one := range l.exceptions {
		isTried := full && (l.tried[i] || len(distribution.Lacking) == 0) || l.tried[i] && !strings.Contains(one.path, "*")
		if !l.needed[i] && isTried {
			found = append(found, one)
		}
	}
	return found
}

// TestTheOracleNoticesAWrongSchema breaks the schema of a component, each time in another way.
func TestTheOracleNoticesAWrongSchema(t *testing.T) {
	factories, err := distribution.Factories()
	if err != nil {
		t.Fatal(err)
	}
	for name, attempt := range map[string]struct {
		damage func(properties map[string]any, schema map[string]any)
		claim  string
	}{
		"a setting that is not there": {func(p, _ map[string]any) { p["no_such"] = map[string]any{"type": "string"} }, claimValue},
		"another type":                {func(p, _ map[string]any) { p["timeout"] = map[string]any{"type": "array"} }, claimValue},
		"a default that is another":   {func(p, _ map[string]any) { p["timeout"].(map[string]any)["default"] = "1h" }, claimDefault},
		"a default of another type":   {func(p, _ map[string]any) { p["timeout"].(map[string]any)["default"] = []any{} }, claimDefault},
		"no other text":               {func(p, _ map[string]any) { p["timeout"] = map[string]any{"enum": []any{"1s"}} }, claimType},
		"more keys":                   {func(_, s map[string]any) { delete(s, "additionalProperties") }, claimKey},
	} {
		t.Run(name, func(t *testing.T) {
			for _, one := range entries(t) {
				if one.Kind+"/"+one.Type != "processor/batch" {
					continue
				}
				attempt.damage(one.Schema["properties"].(map[string]any), one.Schema)
				examined := &examination{name: "processor/batch", factory: factory(&factories, one), schema: one.Schema}
				examined.isWhole = true
				examined.run()
				if !slices.ContainsFunc(examined.findings, func(f finding) bool { return f.claim == attempt.claim }) {
					t.Errorf("%v", examined.findings)
				}
			}
		})
	}
}

func TestTheOracleKnowsWhatASchemaTakes(t *testing.T) {
	for _, row := range []struct {
		schema, value string
		is            bool
	}{
		{`{"type": ["number", "null"]}`, `7`, true},
		{`{"type": "integer"}`, `7.5`, false},
		{`{"type": "integer"}`, `7.0`, true},
		{`{"type": "string", "pattern": "^a"}`, `"ba"`, false},
		{`{"type": ["object", "string"], "pattern": "a", "additionalProperties": false}`, `{}`, true},
		{`{"properties": {"a": {"type": "string"}}, "additionalProperties": false}`, `{"a": "b"}`, true},
		{`{"properties": {"a": {"type": "string"}}, "additionalProperties": false}`, `{"b": "b"}`, false},
		{`{"patternProperties": {"^a": {"type": "string"}}, "additionalProperties": false}`, `{"ab": 1}`, false},
		{`{"required": ["a"]}`, `{}`, false},
		{`{"items": {"const": 1}, "minItems": 1}`, `[1.0]`, true},
		{`{"items": {"const": 1}, "minItems": 1}`, `[]`, false},
		{`{"anyOf": [{"enum": ["a"]}, {"minimum": 2, "type": "number"}]}`, `1`, false},
		{`{"anyOf": [{"enum": ["a"]}, {"minimum": 2, "type": "number"}]}`, `2`, true},
		{`{"$ref": "#/$defs/a~1b"}`, `1`, false},
		{`false`, `1`, false},
	} {
		var schema, value any
		for text, into := range map[string]*any{row.schema: &schema, row.value: &value} {
			if err := json.Unmarshal([]byte(text), into); err != nil {
				t.Fatal(err)
			}
		}
		knows := judge{map[string]any{"#/$defs/a~1b": map[string]any{"type": "string"}}}
		if knows.takes(schema, value) != row.is {
			t.Errorf("%s, %s: not %v", row.schema, row.value, row.is)
		}
	}
}
