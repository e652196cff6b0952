package validate

import "strings"

// choices are the values of settings of the collector's own telemetry whose errors name only the one that it does not take.
//
// Source: go.opentelemetry.io/contrib/otelconf v0.18.0 to v0.24.0, and service/telemetry/otelconftelemetry of the collector
// 0.139.0 to 0.158.0 (Apache-2.0).
var choices = []struct{ words, values string }{
	{"unsupported protocol ", "grpc or http/protobuf"},
	{"unsupported compression ", "gzip or none"},
	{"unsupported temporality preference ", "cumulative, delta or lowmemory"},
	{"unsupported trace propagator", "tracecontext or b3"},
	{"unrecognized level: ", "debug, info, warn or error"},
	{"unknown metrics level ", "none, basic, normal or detailed"},
	{"no encoder registered for name ", "console or json"},
}

// choicesOfComponents are the same of components.
//
// Source: config/configcompression of the collector, pkg/stanza/fileconsumer, internal/coreinternal/attraction and
// processor/probabilisticsamplerprocessor of the collector's contrib repository 0.139.0 (Apache-2.0).
var choicesOfComponents = []struct{ words, values string }{
	{"invalid start_at location ", "beginning or end"},
	{"unsupported sampler mode ", "hash_seed, proportional or equalizing"},
	{"unsupported compression type ", "gzip, zstd, snappy or none, over HTTP also zlib, deflate or lz4"},
	{"error creating AttrProc due to unsupported action ", "insert, update, upsert, delete, hash, extract or convert"},
}

// withChoices adds to a message about a setting the values that there are.
func withChoices(path []string, message string) string {
	of := choicesOfComponents
	if isWithin(path, []string{"service", "telemetry"}) {
		of = choices
	}
	for _, choice := range of {
		if strings.Contains(message, choice.words) {
			return message + "; use " + choice.values
		}
	}
	return message
}
