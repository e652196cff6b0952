package history

import "testing"

func TestAComponentOfAnotherDistributionIsNamedWithIt(t *testing.T) {
	if words := Other("smartagent"); words != "it is a component of the Splunk Distribution, and otelcol-contrib has none of that name" {
		t.Error(words)
	}
	if words := Other("otlp"); words != "" {
		t.Error(words)
	}
}

func TestALaterNameIsTaughtWithTheOneUntilThen(t *testing.T) {
	if words := Component("0.139.0", "exporters", "otlp_http"); words != "collectors know it from 0.144.0 on, and before that use otlphttp" {
		t.Error(words)
	}
	if words := Component("0.158.0", "exporters", "otlp_http"); words != "" {
		t.Error(words)
	}
}
