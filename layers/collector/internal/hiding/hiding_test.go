package hiding

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"testing"
)

func TestAValueIsReplacedByItsReference(t *testing.T) {
	multiline := "-----BEGIN KEY-----\n  c2VjcmV0IG9uZQ\nc2VjcmV0IHR3bw\n"
	long := strings.Repeat("0123456789abcdefghijklmnopqrstuvwxyz", 2_900)
	hider := New(map[string]string{
		"TOKEN": "s3cret-t0ken", "PIN": "4711", "LEVEL": "error", "ON": "1", "KEY": multiline,
		"QUOTED": "a \"b\" c\td", "MAP": "{user: somebody, keys: [first-key]}", "LONG": long, "PATH": "a/path with spaces",
	})
	for text, expected := range map[string]string{
		"the token s3cret-t0ken.":            "the token ${env:TOKEN}.",
		"xs3cret-t0kens3cret-t0keny":         "x${env:TOKEN}y",
		"port 4711, not 14711":               "port ${env:PIN}, not 14711",
		"1\terror\t1":                        "1\terror\t1",
		"a line c2VjcmV0IG9uZQ of it":        "a line${env:KEY}of it",
		strconv.Quote(multiline):             `"${env:KEY}"`,
		strconv.Quote("a \"b\" c\td"):        `"${env:QUOTED}"`,
		"map[user:somebody] first-key":       "map[${env:MAP}:${env:MAP}] ${env:MAP}",
		long[:40_000]:                        "${env:LONG}",
		"cut: " + long[50:80] + "...":        "cut: ${env:LONG}...",
		url.PathEscape("a/path with spaces"): "${env:PATH}",
		"nothing of it":                      "nothing of it",
		"":                                   "",
	} {
		if got := hider.Text(text); got != expected {
			t.Errorf("%.80q became %.80q, not %.80q", text, got, expected)
		}
	}
}

func TestWithoutVariablesNothingChanges(t *testing.T) {
	for _, hider := range []*Hider{{}, New(nil), New(map[string]string{"EMPTY": ""})} {
		if got := hider.Text("some text"); got != "some text" {
			t.Error(got)
		}
	}
}

func TestAHostileValueIsHiddenInBoundedWork(t *testing.T) {
	env := map[string]string{"A": strings.Repeat("a", 130_000), "LINES": strings.Repeat("line \x00\n", 10_000)}
	for i := range 90 {
		env[fmt.Sprint("V", i)] = strings.Repeat("[", 1_000)
	}
	if got := New(env).Text(strings.Repeat("a", 66_000)); got != "${env:A}" {
		t.Errorf("%.80q", got)
	}
}
