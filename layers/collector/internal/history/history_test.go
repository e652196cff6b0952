package history

import (
	"strings"
	"testing"
)

func TestWordsAreForVersionsThatDoNotKnowSomething(t *testing.T) {
	for words, want := range map[string]string{
		Component("0.139.0", "exporters", "loki"):                                   "it was removed in 0.131.0: use otlphttp, to the endpoint /otlp of Loki 3",
		Component("0.139.0", "processors", "gen_ai_normalizer"):                     "collectors know it from 0.154.0 on",
		Component("0.130.0", "exporters", "loki"):                                   "",
		Component("0.139.0", "receivers", "systemd"):                                "collectors know it from 0.142.0 on",
		Function("0.139.0", "IsEmpty"):                                              "collectors know it from 0.157.0 on",
		Function("0.158.0", "IsEmpty"):                                              "",
		Setting("0.139.0", strings.Split("exporters/otlp/a/insecure", "/")):         "",
		Setting("0.139.0", []string{"exporters", "otlp/a", "insecure"}):             "it was removed in 0.36.0: use tls::insecure",
		Setting("0.139.0", []string{"service", "telemetry", "metrics", "address"}):  "it was removed in 0.128.0: use readers, with a pull reader whose exporter is prometheus",
		Setting("0.139.0", []string{"exporters", "otlp", "sending_queue", "block"}): "",
	} {
		if words != want {
			t.Errorf("%q, not %q", words, want)
		}
	}
}

func TestBehavioursAreThoseBetweenTheVersionsThatTheSettingsHave(t *testing.T) {
	both := []string{"invert_match", "latency"}
	if changed := Behaviours("processors", "tailsampling", both, "0.139.0", "0.158.0"); len(changed) != 2 || changed[0].Since() != "0.144.0" {
		t.Errorf("%+v", changed)
	}
	if changed := Behaviours("processors", "tailsampling", both[1:], "0.139.0", "0.158.0"); len(changed) != 1 || changed[0].Since() != "0.157.0" {
		t.Errorf("%+v", changed)
	}
	if changed := Behaviours("processors", "tail_sampling", both, "0.144.0", "0.150.0"); len(changed) != 0 {
		t.Errorf("%+v", changed)
	}
}
