package history

// functions are the OTTL functions that came after 0.139.0, with the first release that has them.
//
// Source: the functions that pkg/ottl/ottlfuncs and processor/transformprocessor register, v0.139.0 to v0.158.0 of
// https://github.com/open-telemetry/opentelemetry-collector-contrib (Apache-2.0).
var functions = map[string]string{
	"CommunityID":   "0.141.0",
	"ParseSeverity": "0.141.0",
	"TrimPrefix":    "0.141.0",
	"TrimSuffix":    "0.141.0",
	"Bool":          "0.143.0",
	"delete_index":  "0.145.0",
	"IsInCIDR":      "0.146.0",
	"Base64Encode":  "0.147.0",
	"Coalesce":      "0.150.0",
	"stringify_all": "0.155.0",
	"All":           "0.157.0",
	"Any":           "0.157.0",
	"Filter":        "0.157.0",
	"Find":          "0.157.0",
	"IsEmpty":       "0.157.0",
	"MapEach":       "0.157.0",
	"MapKeys":       "0.157.0",
	"Reduce":        "0.157.0",
	"When":          "0.157.0",

	"set_semconv_span_name":     "0.142.0",
	"extract_percentile_metric": "0.151.0",
	"ParseCLF":                  "0.155.0",
	"ParseLEEF":                 "0.155.0",
	"ParseCEF":                  "0.157.0",
	"ParseELF":                  "0.158.0",
}
