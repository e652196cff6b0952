package reference

// words are all the texts that a type takes which takes only some. A word that a release's type refuses is left out,
// and a type that is not here takes any text: a word that is missing would make the schema refuse what the collector
// accepts.
var words = map[string][]string{
	core + "config/configcompression.Type":                      {"", "gzip", "zlib", "deflate", "snappy", "x-snappy-framed", "zstd", "lz4", "none"},
	core + "config/confignet.TransportType":                     {"", "tcp", "tcp4", "tcp6", "udp", "udp4", "udp6", "ip", "ip4", "ip6", "unix", "unixgram", "unixpacket"},
	core + "config/configtelemetry.Level":                       {"none", "basic", "normal", "detailed"},
	core + "exporter/exporterhelper/internal/request.SizerType": {"bytes", "items", "requests"},
	core + "exporter/otlphttpexporter.EncodingType":             {"proto", "json"},

	contrib + "connector/spanmetricsconnector/internal/metrics.Unit":                {"ms", "s"},
	contrib + "exporter/logicmonitorexporter.MappingOperation":                      {"and", "or"},
	contrib + "exporter/pulsarexporter.BatchBuilderType":                            {"default", "key_based"},
	contrib + "exporter/pulsarexporter.CompressionLevel":                            {"default", "faster", "better"},
	contrib + "exporter/pulsarexporter.CompressionType":                             {"none", "lz4", "zlib", "zstd"},
	contrib + "exporter/pulsarexporter.HashingScheme":                               {"java_string_hash", "murmur3_32hash"},
	contrib + "pkg/datadog/config.CumulativeMonotonicSumMode":                       {"to_delta", "raw_value"},
	contrib + "pkg/datadog/config.HistogramMode":                                    {"nobuckets", "counters", "distributions"},
	contrib + "pkg/datadog/config.HostnameSource":                                   {"first_resource", "config_or_system"},
	contrib + "pkg/datadog/config.InitialValueMode":                                 {"auto", "drop", "keep"},
	contrib + "pkg/datadog/config.SummaryMode":                                      {"noquantiles", "gauges"},
	contrib + "pkg/ottl.ErrorMode":                                                  {"ignore", "propagate", "silent"},
	contrib + "pkg/ottl.LogicOperation":                                             {"and", "or"},
	contrib + "processor/cumulativetodeltaprocessor/internal/tracking.InitialValue": {"auto", "keep", "drop"},
	contrib + "processor/geoipprocessor.ContextID":                                  {"resource", "record"},
	contrib + "processor/probabilisticsamplerprocessor.SamplerMode":                 {"", "hash_seed", "equalizing", "proportional"},
	contrib + "processor/filterprocessor/internal/condition.ContextID": {
		"resource", "scope", "span", "spanevent", "metric", "datapoint", "log", "profile", "profilesample", "exemplar", "otelcol",
	},
	contrib + "processor/redactionprocessor.HashFunction": {"", "sha1", "sha3", "md5", "hmac-sha256", "hmac-sha512"},
	contrib + "receiver/azureblobreceiver.AuthType":       {"service_principal", "connection_string", "default"},
	contrib + "receiver/azureblobreceiver.CloudType":      {"AzureCloud", "AzureUSGovernment"},

	contrib + "processor/transformprocessor/internal/common.ContextID": {
		"resource", "scope", "span", "spanevent", "metric", "datapoint", "log", "profile", "profilesample", "exemplar", "otelcol",
	},
	"go.uber.org/zap/zapcore.Level": {"", "debug", "info", "warn", "warning", "error", "dpanic", "panic", "fatal"},
}
