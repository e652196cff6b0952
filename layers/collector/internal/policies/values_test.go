package policies

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/headgate/headgate/layers/collector/internal/source"
)

func TestAnAddressIsReadAsComponentsWriteIt(t *testing.T) {
	for written, read := range map[string]address{
		"Backend:4317":                       {host: "backend", port: "4317"},
		":4317":                              {port: "4317"},
		"backend":                            {host: "backend"},
		"[::1]:4317":                         {host: "::1", port: "4317"},
		"[::1]":                              {host: "::1"},
		"HTTPS://user:a@b@backend/v1/traces": {scheme: "https", host: "backend", port: "443", path: "/v1/traces"},
		"http://backend":                     {scheme: "http", host: "backend", port: "80"},
		"dns://8.8.8.8/backend:4317":         {scheme: "dns", host: "backend", port: "4317"},
		"passthrough:///backend:4317":        {scheme: "passthrough", host: "backend", port: "4317"},
	} {
		if seen := addressOf(written); seen != read {
			t.Errorf("%s: %+v", written, seen)
		}
	}
}

func TestBoundsAreSortedNumbersOrTimesOfSettingsThatSayTheyAreBounds(t *testing.T) {
	for key, is := range map[string]bool{
		"buckets": true, "explicit_buckets": true, "boundaries": true, "bounds": true, "bucket": false, "names": false, "": false,
	} {
		if isBoundsKey(key) != is {
			t.Error(key)
		}
	}
	for _, row := range []struct {
		bounds []any
		at     int
	}{
		{[]any{}, -1}, {[]any{5}, -1}, {[]any{1, 2.5, 3}, -1}, {[]any{1, 3, 2}, 1}, {[]any{1, 1}, 0},
		{[]any{"5ms", "1s"}, -1}, {[]any{"5s", "1s"}, 0}, {[]any{5, "x"}, -1}, {[]any{"x", -5}, -1},
	} {
		if at, unsorted := firstUnsorted(row.bounds); unsorted != (row.at >= 0) || unsorted && at != row.at {
			t.Errorf("%v: %d, %v", row.bounds, at, unsorted)
		}
	}
}

func TestASecretInACommentHasItsPlace(t *testing.T) {
	places := []string{}
	for _, one := range judged(t, "receivers: {nop: }\n# é: ghp_zQ7wK2pX9vB4nM8rT5yL1cF6hJ3dG0sAabcd\n") {
		if one.Code == "secret_in_text" {
			places = append(places, fmt.Sprint(one.Line, ":", one.Column))
		}
	}
	if !slices.Equal(places, []string{"2:6"}) {
		t.Error(places)
	}
}

func TestStructuresAreFollowedByTheirKeysAndAsFarAsTheLimits(t *testing.T) {
	type leaf struct{ Port int }
	type inner struct {
		Leaf    *leaf `mapstructure:"leaf"`
		Plain   leaf
		Skipped leaf           `mapstructure:"-"`
		Rest    map[string]any `mapstructure:",remain"`
		hidden  leaf
	}
	type Squashed struct{ Own leaf }
	type outer struct {
		Squashed `mapstructure:",squash"`
		Inner    inner           `mapstructure:"inner"`
		List     []leaf          `mapstructure:"list"`
		ByName   map[string]leaf `mapstructure:"by_name"`
		None     *leaf           `mapstructure:"none"`
	}
	built := &outer{
		Inner: inner{Leaf: &leaf{}}, List: make([]leaf, maxEntries+1), ByName: map[string]leaf{"a": {}},
	}
	visited := func(depth int) []string {
		var paths []string
		seek(reflect.ValueOf(built), nil, depth, func(path []string, _ reflect.Value) bool {
			paths = append(paths, strings.Join(path, "::"))
			return true
		})
		return paths
	}
	paths := visited(maxDepth)
	if n := len(paths); n != 6+maxEntries+1 || paths[n-1] != "by_name::a" || paths[n-2] != fmt.Sprint("list::", maxEntries-1) {
		t.Errorf("%d, the last are %q", n, paths[n-2:])
	}
	if want := []string{"", "", "own", "inner", "inner::leaf", "inner::plain", "list::0"}; !slices.Equal(paths[:7], want) {
		t.Errorf("%q", paths[:7])
	}
	if paths := visited(1); !slices.Equal(paths, []string{""}) {
		t.Errorf("one level: %q", paths)
	}
	if paths := visited(0); len(paths) > 0 {
		t.Errorf("no level: %q", paths)
	}
}

func TestAValueHasTheNameOfThePairThatItIsIn(t *testing.T) {
	long := strings.Repeat("n", maxName)
	document, err := source.Parse("a:\n  - {name: api-key, value: 1}\n  - {key: token, value: 1}\n  - {header: x-auth, value: 1}\n" +
		"  - {names: no, value: 1}\n  - {name: " + long + ", value: 1}\n  - {name: " + long + "n, value: 1}\nname: top\nvalue: 1\n")
	if err != nil {
		t.Fatal(err)
	}
	pairs := namesIn(document)
	for path, want := range map[string]string{
		"a::0::value": "api-key", "a::1::value": "token", "a::2::value": "x-auth", "a::3::value": "3_value", "a::4::value": long,
		"a::5::value": "5_value", "a::0::other": "other", "value": "value",
	} {
		if name := pairs.of(strings.Split(path, "::")); name != want {
			t.Errorf("%s: %q", path, name)
		}
	}
}

func TestTargetsAreThoseOfRunningPrometheusReceiversOnceEach(t *testing.T) {
	loop := func(config string) bool {
		findings := judged(t, "receivers: {prometheus: {config: {scrape_configs: [{job_name: a, "+config+"}]}}}\nexporters:\n"+
			"  prometheus: {endpoint: 'localhost:9464'}\nservice: {pipelines: {metrics: {receivers: [prometheus], exporters: [prometheus]}}}\n")
		return slices.Contains(codesOf(findings), "telemetry_loop")
	}
	for config, is := range map[string]bool{
		"static_configs: [{targets: ['localhost:9464']}]":                               true,
		"static_configs: [{targets: ['localhost:9465']}]":                               false,
		"static_configs: [{targets: ['localhost:1'], labels: {where: localhost:9464}}]": false,
	} {
		if loop(config) != is {
			t.Error(config)
		}
	}
}
