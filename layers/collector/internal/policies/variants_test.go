package policies

import (
	"slices"
	"strings"
	"testing"
)

func logsOf(receiver, processors string) string {
	names, name := "", receiver[:strings.IndexByte(receiver, ':')]
	if processors != "" {
		names = ", processors: [probabilistic_sampler]"
	}
	return "receivers: {" + receiver + "}\n" + processors + "exporters: {otlp: {endpoint: 'a.example.com:4317'}}\n" +
		"service: {pipelines: {logs: {receivers: [" + name + "]" + names + ", exporters: [otlp]}}}\n"
}

func grpcAt(endpoint string) string {
	return logsOf("otlp: {protocols: {grpc: {endpoint: '"+endpoint+"'}}}", "")
}

func filesOf(settings string) string { return logsOf("filelog: {"+settings+"}", "") }

func sampled(settings string) string {
	return logsOf("otlp: {protocols: {grpc: }}", "processors: {probabilistic_sampler: {"+settings+"}}\n")
}

// variants are texts of the same mistake, and right texts that look like it: whether the policy finds something.
var variants = map[string]map[string]bool{
	"address_without_port": {
		grpcAt("http://localhost:4317"):  true,
		grpcAt("https://0.0.0.0:4317"):   true,
		grpcAt("localhost:4317/"):        true,
		grpcAt("localhost:70000"):        true,
		grpcAt("localhost:4317:4317"):    true,
		grpcAt("[::1]:4317"):             false,
		grpcAt("localhost:"):             false,
		grpcAt("localhost:0"):            false,
		grpcAt(":4317"):                  false,
		grpcAt("${env:HOST}:4317"):       false,
		grpcAt("/run/collector.sock"):    false,
		grpcAt("unix:///run/otelc.sock"): false,
	},
	"files_never_read": {
		filesOf("include: ['~/a.log']"):                                 true,
		filesOf("include: [/var/log/]"):                                 true,
		filesOf("include: [/a/*.log], exclude: [/a/*.log]"):             true,
		filesOf("include: [/a/*.log], exclude: [debug.log]"):            true,
		filesOf("include: [/a/*], exclude: ['*.gz']"):                   true,
		filesOf("include: [/a/*], exclude: ['**/*.gz']"):                false,
		filesOf("include: [/a/*], exclude: ['*/*.gz']"):                 false,
		filesOf("include: ['*.log'], exclude: [debug.log]"):             false,
		filesOf("include: [/a/*.log], exclude: [/a/debug.log]"):         false,
		filesOf("include: ['${env:FILES}'], exclude: ['${env:FILES}']"): false,
	},
	"group_not_in_pattern": {
		filesOf("include: [/a], operators: [{type: regex_replace, field: body, regex: '(a)b', replace_with: $$1_x}]"):    true,
		filesOf("include: [/a], operators: [{type: regex_replace, field: body, regex: '(a)b', replace_with: '$${1}x'}]"): false,
		filesOf("include: [/a], operators: [{type: regex_replace, field: body, regex: 'ab', replace_with: '$$$$5'}]"):    false,
	},
	"sampler_drops_all": {
		sampled(""): true,
		sampled("sampling_percentage: 9, attribute_source: record"):                   true,
		sampled("sampling_percentage: 9, fail_closed: false"):                         false,
		sampled("sampling_percentage: 9, from_attribute: id"):                         false,
		sampled("sampling_percentage: 100"):                                           false,
		sampled("sampling_priority: priority"):                                        false,
		sampled("sampling_percentage: '${env:PERCENT}', sampling_priority: priority"): false,
	},
	"variable_not_replaced": {
		grpcAt("$(POD_IP):4317"):     true,
		grpcAt("$POD_IP:4317"):       true,
		grpcAt("${env:POD_IP}:4317"): false,
	},
	"duplicate_export": {
		"receivers: {otlp: {protocols: {grpc: }}}\nconnectors: {forward: }\nexporters: {otlp: {endpoint: 'a.example.com:4317'}}\n" +
			"service: {pipelines: {logs/in: {receivers: [otlp], exporters: [forward]}, logs/a: {receivers: [forward], exporters: [otlp]}, " +
			"logs/b: {receivers: [forward], exporters: [otlp]}}}\n": true,
		"receivers: {otlp: {protocols: {grpc: }}}\nconnectors: {roundrobin: }\nexporters: {otlp: {endpoint: 'a.example.com:4317'}}\n" +
			"service: {pipelines: {logs/in: {receivers: [otlp], exporters: [roundrobin]}, logs/a: {receivers: [roundrobin], exporters: [otlp]}, " +
			"logs/b: {receivers: [roundrobin], exporters: [otlp]}}}\n": false,
	},
}

func TestVariantsOfAMistakeAreFoundAndRightTextsAreNot(t *testing.T) {
	for code, texts := range variants {
		for text, fails := range texts {
			if found := slices.Contains(codesOf(judged(t, text)), code); found != fails {
				t.Errorf("%s found: %t\n%s", code, found, text)
			}
		}
	}
}
