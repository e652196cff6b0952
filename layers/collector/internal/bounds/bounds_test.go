package bounds

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/headgate/headgate/layers/collector/internal/source"
	"go.opentelemetry.io/collector/confmap"
	"go.yaml.in/yaml/v3"
)

func resolved(t *testing.T, text string) *confmap.Conf {
	t.Helper()
	var plain map[string]any
	if err := yaml.Unmarshal([]byte(text), &plain); err != nil {
		t.Fatal(err)
	}
	return confmap.NewFromStringMap(plain)
}

func doubling(levels int) string {
	definitions := []string{`"A0=a"`}
	for i := 1; i <= levels; i++ {
		definitions = append(definitions, fmt.Sprintf(`"A%d=%%{A%d}%%{A%d}"`, i, i-1, i-1))
	}
	return fmt.Sprintf(`ExtractGrokPatterns(log.body, "%%{A%d:a}", true, [%s]) != nil`, levels, strings.Join(definitions, ", "))
}

func numbered(count int, line string) string {
	var text strings.Builder
	for i := range count {
		text.WriteString(strings.ReplaceAll(line, "N", fmt.Sprint(i)) + "\n")
	}
	return text.String()
}

func TestWhatIsTooCostlyAsTheComponentsGetItIsRefused(t *testing.T) {
	repeating := "(" + strings.Repeat("a", 190) + "){1000}"
	for name, row := range map[string]struct{ text, refused string }{
		"grok definitions that double":      {"processors: {filter: {logs: {log_record: ['" + doubling(24) + "']}}}", "processors::filter::logs::log_record::0: the patterns"},
		"the same as a single text":         {"processors: {filter: {logs: {log_record: '" + doubling(24) + "'}}}", "the patterns"},
		"the same in a transform":           {"processors: {transform/x: {log_statements: ['set(body, 1) where " + doubling(24) + "']}}", "the patterns"},
		"the same for a route":              {"connectors: {routing: {table: [{condition: '" + doubling(24) + "'}]}}", "the patterns"},
		"a few that double":                 {"processors: {filter: {logs: {log_record: ['" + doubling(4) + "']}}}", ""},
		"too many components":               {"receivers:\n" + numbered(2_001, "  otlp/N: {}"), "2001 components"},
		"as many as may be":                 {"receivers:\n" + numbered(2_000, "  otlp/N: {}"), ""},
		"components by another separator":   {numbered(2_001, "receivers::otlp/N: {}"), "2001 components"},
		"too many pipelines":                {"service:\n  pipelines:\n" + numbered(1_001, "    logs/N: {}"), "1001 pipelines"},
		"a pipeline that lists too many":    {"service: {pipelines: {logs: {processors: [" + strings.Repeat("batch,", 5_001) + "]}}}", "5001 components listed"},
		"expressions that repeat":           {"receivers: {filelog: {operators: [" + strings.Repeat("{regex: '"+repeating+"'},", 30) + "]}}", "receivers::filelog::operators"},
		"one that repeats":                  {"receivers: {filelog: {operators: [{regex: '" + repeating + "'}]}}", ""},
		"one that many pipelines build":     {"processors: {redaction: {blocked_values: ['" + repeating + "']}}\nservice:\n  pipelines:\n" + numbered(100, "    logs/N: {processors: [redaction]}"), "it reads them again for each pipeline"},
		"many small expressions":            {"processors: {filter: {logs: {log_record: [" + strings.Repeat("'log.body == 1',", 50_000) + "]}}}", "up to here"},
		"ranges beyond ASCII in both cases": {"processors: {redaction: {blocked_values: ['(?i)" + strings.Repeat(`[a-\x{1e943}]`, 2_000) + "']}}", "patterns up to here"},
	} {
		t.Run(name, func(t *testing.T) {
			var cost *source.Cost
			err := Configuration(resolved(t, row.text).ToStringMap())
			switch {
			case row.refused == "" && err != nil:
				t.Error(err)
			case row.refused != "" && (!errors.As(err, &cost) || !strings.Contains(cost.Message, row.refused)):
				t.Errorf("%v, not %s", err, row.refused)
			}
		})
	}
}
