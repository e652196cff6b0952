package reference_test

import (
	"slices"
	"strconv"
	"strings"
)

// exception is a place, or several with a `*` in the path, where a schema and the decoder differ, and stay so. It fails
// the test where they no longer do.
type exception struct {
	claim, path string
	// values are those that the decoder takes, all if there are none.
	values []string
	// from is the first version that has such a place, empty for all.
	from   string
	reason string
}

var (
	mapping  = []string{`{}`}
	mappings = []string{`{}`, `{"headgate wrong":7}`, `[{"headgate wrong":7}]`}
)

const (
	text    = "the decoder reads an empty mapping where a type reads itself from a text, and leaves it empty; nobody means it"
	lenient = "no key is refused here, so the decoder reads any mapping where a type reads itself from a text; nobody means it"
)

// exceptions may only become fewer.
var exceptions = []exception{
	// Former keys of settings that moved.
	{claim: claimDefault, path: "exporter/elasticsearch::flush::*", reason: "writing it, even with what it is, sets sending_queue::batch"},
	{claim: claimDefault, path: "exporter/elasticsearch::num_workers", reason: "writing it, even with what it is, sets sending_queue::num_consumers"},
	{claim: claimDefault, path: "receiver/kafkametrics::refresh_frequency", reason: "writing it, even with what it is, sets metadata::refresh_interval"},
	{claim: claimDefault, path: "exporter/kafka::record_partitioner::sticky_key::hasher", from: "0.158.0", reason: "writing anything in record_partitioner empties it first"},
	// What Prometheus's decoder reads.
	{claim: claimValue, path: "receiver/prometheus::config::remote_write[]::azuread::cloud", reason: "one of several ways to sign in has to stand beside it"},
	{claim: claimValue, path: "receiver/prometheus::config::remote_write[]::azuread::scope", from: "0.158.0", reason: "one of several ways to sign in has to stand beside it"},
	// Templates for other receivers.
	{claim: claimValue, path: "receiver/receiver_creator::resource_attributes::headgate*", reason: "the keys are types of endpoints: the oracle's is none"},
	{claim: claimType, path: "receiver/receiver_creator::receivers::headgate::config", reason: "what is not a mapping is read as an empty one; nobody means it"},
	// Ids of other components.
	{claim: claimType, path: "*::authenticator", values: mapping, reason: text},
	{claim: claimType, path: "*::id", values: mappings, reason: text},
	{claim: claimType, path: "*::storage", values: mapping, reason: text},
	{claim: claimType, path: "*::k8s_leader_elector", values: mapping, reason: text},
	{claim: claimType, path: "*::extension", values: mapping, reason: text},
	{claim: claimType, path: "exporter/*::encoding", values: mapping, reason: text},
	{claim: claimType, path: "exporter/azureblob::encodings::*", values: mapping, reason: text},
	{claim: claimType, path: "exporter/rabbitmq::encoding_extension", values: mapping, reason: text},
	{claim: claimType, path: "exporter/awsxray::telemetry::contributors[]", values: mapping, reason: text},
	{claim: claimType, path: "extension/headers_setter::additional_auth", values: mapping, from: "0.158.0", reason: text},
	{claim: claimType, path: "*::oauthbearer_token_source", values: mapping, from: "0.158.0", reason: text},
	{claim: claimType, path: "processor/tail_sampling::tail_storage", values: mapping, from: "0.158.0", reason: text},
	{claim: claimType, path: "extension/opamp::server::*::auth", values: mapping, reason: text},
	{claim: claimType, path: "receiver/awss3::notifications::opampextension", values: mapping, reason: text},
	{claim: claimType, path: "receiver/receiver_creator::watch_observers*", values: mappings, reason: lenient},
	// Names of pipelines.
	{claim: claimType, path: "connector/failover::priority_levels[][]", values: mapping, reason: text},
	{claim: claimType, path: "connector/routing::default_pipelines[]", values: mapping, reason: text},
	{claim: claimType, path: "connector/routing::table[]::pipelines[]", values: mapping, reason: text},
	// Words and patterns.
	{claim: claimType, path: "*::sizer", values: mapping, reason: text},
	{claim: claimType, path: "exporter/signalfx::exclude_properties[]::*", values: mappings, reason: lenient},
	// Fields of a log record, in operators.
	{claim: claimType, path: "*operators[]<*::parse_from", values: mappings, reason: lenient},
	{claim: claimType, path: "*operators[]<*::parse_to", values: mappings, reason: lenient},
	{claim: claimType, path: "*operators[]<*::body", values: mappings, reason: lenient},
	{claim: claimType, path: "*operators[]<*::field", values: mappings, reason: lenient},
	{claim: claimType, path: "*operators[]<*::fields*", values: mappings, reason: lenient},
	{claim: claimType, path: "*operators[]<*::from", values: mappings, reason: lenient},
	{claim: claimType, path: "*operators[]<*::to", values: mappings, reason: lenient},
	{claim: claimType, path: "*operators[]<*::source_identifier", values: mappings, reason: lenient},
	{claim: claimType, path: "*operators[]<*::combine_field", values: mappings, reason: lenient},
}

// excepted is how many differences the exceptions stand for on a version. It may only become smaller.
var excepted = map[string]int{"0.139.0": 2040, "0.158.0": 1259}

func (e exception) isOn(version string) bool {
	return slices.Compare(numbers(e.from), numbers(version)) <= 0
}

func numbers(version string) []int {
	var all []int
	for part := range strings.SplitSeq(version, ".") {
		number, _ := strconv.Atoi(part)
		all = append(all, number)
	}
	return all
}

func (e exception) covers(f finding) bool {
	return e.claim == f.claim && e.at(f.path) && (len(e.values) == 0 || slices.Contains(e.values, f.value))
}

// at tells whether a path is one of the exception. A `*` stands for any characters.
func (e exception) at(path string) bool {
	parts := strings.Split(e.path, "*")
	last := parts[len(parts)-1]
	if len(parts) == 1 {
		return e.path == path
	}
	rest, is := strings.CutPrefix(path, parts[0])
	for _, part := range parts[1 : len(parts)-1] {
		_, after, found := strings.Cut(rest, part)
		is, rest = is && found, after
	}
	return is && strings.HasSuffix(rest, last)
}
