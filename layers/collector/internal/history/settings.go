package history

// settings are keys that came or went.
//
// Source: CHANGELOG.md (the numbers are its issues) and the structures' tags at each release of
// https://github.com/open-telemetry/opentelemetry-collector (Apache-2.0).
var settings = []setting{
	{under: "service::telemetry::metrics", key: "address", Lifetime: Lifetime{Until: "0.128.0", Instead: "readers, with a pull reader whose exporter is prometheus"}}, // 11205, 13152
	{under: "sending_queue", key: "blocking", Lifetime: Lifetime{Until: "0.129.0", Instead: "block_on_overflow"}},                                                     // 13211
	{under: "exporters::otlp", key: "batcher", Lifetime: Lifetime{Until: "0.130.0", Instead: "sending_queue::batch"}},                                                 // 13339
	{under: "sending_queue::batch", key: "min_size_items", Lifetime: Lifetime{Until: "0.123.0", Instead: "min_size"}},                                                 // 12684
	{under: "sending_queue::batch", key: "max_size_items", Lifetime: Lifetime{Until: "0.123.0", Instead: "max_size"}},                                                 // 12684
	{under: "exporters::*", key: "insecure", Lifetime: Lifetime{Until: "0.36.0", Instead: "tls::insecure"}},                                                           // 4063
	{under: "exporters::*", key: "insecure_skip_verify", Lifetime: Lifetime{Until: "0.36.0", Instead: "tls::insecure_skip_verify"}},                                   // 4063
	{under: "exporters::*", key: "ca_file", Lifetime: Lifetime{Until: "0.36.0", Instead: "tls::ca_file"}},                                                             // 4063
	{under: "exporters::*", key: "cert_file", Lifetime: Lifetime{Until: "0.36.0", Instead: "tls::cert_file"}},                                                         // 4063
	{under: "exporters::*", key: "key_file", Lifetime: Lifetime{Until: "0.36.0", Instead: "tls::key_file"}},                                                           // 4063
	{under: "http", key: "cors_allowed_origins", Lifetime: Lifetime{Until: "0.41.0", Instead: "cors::allowed_origins"}},                                               // 4492
	{under: "http", key: "cors_allowed_headers", Lifetime: Lifetime{Until: "0.41.0", Instead: "cors::allowed_headers"}},                                               // 4492
	{under: "processors::memory_limiter", key: "ballast_size_mib", Lifetime: Lifetime{Until: "0.39.0"}},                                                               // 4365
	{under: "exporters::splunk_hec", key: "max_connections", Lifetime: Lifetime{Until: "0.88.0", Instead: "max_idle_conns and max_idle_conns_per_host"}},              // contrib 27610
	{under: "exporters::signalfx", key: "max_connections", Lifetime: Lifetime{Until: "0.88.0", Instead: "max_idle_conns and max_idle_conns_per_host"}},                // contrib 27610
	{under: "service::telemetry::resource", key: "attributes", Lifetime: Lifetime{Since: "0.151.0", Instead: "a mapping of names to texts as resource"}},              // 14411
	{under: "service::telemetry::resource", key: "detection/development", Lifetime: Lifetime{Since: "0.157.0"}},                                                       // 14311
	{under: "keepalive", key: "enabled", Lifetime: Lifetime{Since: "0.140.0", Instead: "no such section to turn it off"}},                                             // 14021
	{under: "protocols::*", key: "enabled", Lifetime: Lifetime{Since: "0.140.0", Instead: "no such section to turn it off"}},                                          // 14021
	{under: "exporters::debug", key: "loglevel", Lifetime: Lifetime{Instead: "verbosity"}},                                                                            // 5878
	{under: "extensions::health_check", key: "port", Lifetime: Lifetime{Instead: "endpoint"}},                                                                         // contrib 10853
	{under: "service::telemetry::logs", key: "disable_zap_resource", Lifetime: Lifetime{Since: "0.142.0"}},
	{under: "cors", key: "exposed_headers", Lifetime: Lifetime{Since: "0.154.0"}},
	{under: "tls", key: "include_insecure_cipher_suites", Lifetime: Lifetime{Since: "0.154.0"}}, // 13829
	{under: "sending_queue::batch", key: "partition", Lifetime: Lifetime{Since: "0.147.0"}},
	{under: "exporters::*", key: "user_agent", Lifetime: Lifetime{Since: "0.151.0"}},
	{under: "exporters::prometheusremotewrite", key: "sending_queue", Lifetime: Lifetime{Instead: "remote_write_queue"}}, // contrib exporter/prometheusremotewriteexporter
	{under: "exporters::kafka", key: "topic", Lifetime: Lifetime{Instead: "topic under logs, metrics or traces"}},
	{under: "exporters::kafka", key: "encoding", Lifetime: Lifetime{Instead: "encoding under logs, metrics or traces"}},
	{under: "receivers::kafka", key: "topic", Lifetime: Lifetime{Instead: "topics under logs, metrics or traces"}},
	{under: "receivers::kafka", key: "encoding", Lifetime: Lifetime{Instead: "encoding under logs, metrics or traces"}},
}
