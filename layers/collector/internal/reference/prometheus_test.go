package reference

import (
	"strings"
	"testing"

	"github.com/headgate/headgate/layers/collector/internal/comments"
	"github.com/headgate/headgate/layers/collector/version/distribution"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
)

// What Prometheus reads is open, so that nothing is refused there. Its strict decoder tells whether it has a key: its
// error for one that it has not names it and the type.
func TestPrometheusKnowsTheSettingsThatAreNamed(t *testing.T) {
	factories, err := distribution.Components()
	if err != nil {
		t.Fatal(err)
	}
	factory, is := factories.Receivers[component.MustNewType("prometheus")]
	if !is {
		t.Fatal("the build has no Prometheus receiver")
	}
	config := newWalker(&comments.Texts{}).configuration(factory).Properties["config"]
	unknown := func(content any) string {
		err := confmap.NewFromStringMap(map[string]any{"config": content}).Unmarshal(factory.CreateDefaultConfig())
		if err == nil || !strings.Contains(err.Error(), "not found in type") {
			return ""
		}
		return err.Error()
	}

	named := 0
	config.eachSetting(func(content any) any { return content }, func(path string, content any) {
		named++
		if reason := unknown(content); reason != "" {
			t.Errorf("%s: %s", path, reason)
		}
	}, "")

	if named < 100 {
		t.Errorf("only %d settings are named", named)
	}
	if unknown(map[string]any{"scrape_configs": []any{map[string]any{"jobname": "a"}}}) == "" {
		t.Error("a misspelt setting is not noticed")
	}
}

// eachSetting calls visit with a configuration for every setting that is named, in which only that one stands.
func (s *Schema) eachSetting(around func(any) any, visit func(string, any), path string) {
	for _, key := range sortedKeys(s.Properties) {
		inner, at := s.Properties[key], path+"."+key
		with := func(value any) any { return around(map[string]any{key: value}) }
		visit(at, with(nil))
		inner.eachSetting(with, visit, at)
		if inner.Items != nil {
			inner.Items.eachSetting(func(value any) any { return with([]any{value}) }, visit, at+"[]")
		}
	}
}
