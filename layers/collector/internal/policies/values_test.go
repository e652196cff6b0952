package policies

import (
	"fmt"
	"slices"
	"testing"
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
