package lint

import (
	"reflect"
	"slices"
	"testing"

	"github.com/headgate/headgate/layers/collector/generation"
	"go.opentelemetry.io/collector/component"
)

func TestListsOfConditionsOfTheFilterThatCameLater(t *testing.T) {
	factories, err := collector().Factories()
	if err != nil {
		t.Fatal(err)
	}
	filter := factories.Processors[component.MustNewType("filter")]
	result := lintYAML(t, `
processors:
  filter/groups:
    log_conditions:
      - context: resource
        conditions: ['attributes["a"] == 1', 'attributes[']
      - conditions: ['log.body == "x"']
  filter/flat:
    trace_conditions: ['span.name == "x"', 'span.nothing == 1']
`)
	if !declares(reflect.TypeOf(filter.CreateDefaultConfig()), "log_conditions") {
		if result.Checked != 0 {
			t.Error(asJSON(t, result))
		}
		return
	}

	var valid []bool
	for _, item := range result.Items {
		valid = append(valid, item.Error == nil)
	}
	if want := []bool{true, false, true, true, false}; !slices.Equal(valid, want) {
		t.Errorf("%v, not %v: %s", valid, want, asJSON(t, result))
	}
	if context := result.Items[3].Context; context == nil || *context != "span" {
		t.Error(asJSON(t, result.Items[3]))
	}
}

func TestContextsThatCameLater(t *testing.T) {
	for _, context := range generation.MoreContexts {
		result := ask(t, Request{Context: &context, Conditions: []string{"true", "nothing.at.all == 1"}})
		if result.Items[0].Error != nil || result.Items[1].Error == nil {
			t.Errorf("%s: %s", context, asJSON(t, result))
		}
	}
}
