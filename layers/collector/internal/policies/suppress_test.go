package policies

import (
	"slices"
	"strings"
	"testing"

	"github.com/headgate/headgate/layers/collector/internal/validate"
)

const insecure = `receivers:
  otlp:
    protocols:
      grpc:
processors:
  memory_limiter: {check_interval: 1s, limit_percentage: 75}
exporters:
  otlp:
    endpoint: backend.example.com:4317
    tls:
      # above
      insecure: true # beside
service:
  pipelines:
    traces:
      receivers: [otlp]
      processors: [memory_limiter]
      exporters: [otlp]
`

// askedOfAnyRelease returns the answer without what only some releases find.
func askedOfAnyRelease(t *testing.T, request Request) *Result {
	t.Helper()
	result := asked(t, request)
	result.Findings = slices.DeleteFunc(result.Findings, func(one Finding) bool { return one.Code == deprecatedName.Code })
	return result
}

func TestACommentSuppressesWhatIsOnItsLineOrBelowIt(t *testing.T) {
	for name, row := range map[string]struct {
		above, beside string
		reason, until string // of the suppressed finding
		problem       string // of the only suppression
	}{
		"none":              {},
		"beside":            {beside: "headgate: allow insecure_tls because it is a test", reason: "it is a test"},
		"above":             {above: "headgate: allow insecure_tls because it is a test", reason: "it is a test"},
		"several codes":     {above: "headgate: allow plain_http, insecure_tls because both", reason: "both"},
		"this month":        {beside: "headgate: allow insecure_tls until 2026-11 because soon", reason: "soon", until: "2026-11"},
		"today":             {beside: "headgate: allow insecure_tls until 2026-11-22 because soon", reason: "soon", until: "2026-11-22"},
		"little space":      {beside: "headgate:allow insecure_tls because x", reason: "x"},
		"expired":           {beside: "headgate: allow insecure_tls until 2026-11-21 because soon", problem: "expired on 2026-11-21"},
		"expired month":     {beside: "headgate: allow insecure_tls until 2026-10 because soon", problem: "expired on 2026-10-31"},
		"no reason":         {beside: "headgate: allow insecure_tls", problem: "has no reason"},
		"an empty reason":   {beside: "headgate: allow insecure_tls because  ", problem: "has no reason"},
		"no code":           {beside: "headgate: allow", problem: "names no code"},
		"an unknown code":   {beside: "headgate: allow insecure because x", problem: `no policy or rule "insecure"`},
		"not a date":        {beside: "headgate: allow insecure_tls until tomorrow because x", problem: "takes a month or a day"},
		"no date":           {beside: "headgate: allow insecure_tls until because x", problem: "takes a month or a day"},
		"other words":       {beside: "headgate: allow insecure_tls for it is a test", problem: "cannot be read after the code"},
		"unused":            {beside: "headgate: allow plain_http because x", problem: "line 12 has no finding of plain_http"},
		"not a suppression": {beside: "headgate: disallow insecure_tls because x"},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.NewReplacer("# above", "# "+row.above, "# beside", "# "+row.beside).Replace(insecure)

			result := askedOfAnyRelease(t, Request{Request: validate.Request{YAML: text}})

			if len(result.Findings) != 1 || result.Findings[0].Code != "insecure_tls" || result.Findings[0].Line != 12 {
				t.Fatalf("%+v", result.Findings)
			}
			got := result.Findings[0].Suppressed
			if (got != nil) != (row.reason != "") || got != nil && (got.Reason != row.reason || got.Until != row.until) {
				t.Errorf("suppressed by %+v", got)
			}
			if row.problem == "" {
				return
			}
			one := result.Suppressions[0]
			if one.Used || one.Problem == nil || !strings.Contains(*one.Problem, row.problem) || one.Line != 12 {
				t.Errorf("%+v", one)
			}
		})
	}
}

func TestSeveralCommentsAboveALineAllSuppress(t *testing.T) {
	text := strings.Replace(insecure, "# above", "# headgate: allow insecure_tls because x\n      # a word between\n      # headgate: allow plain_http because y", 1)

	result := askedOfAnyRelease(t, Request{Request: validate.Request{YAML: text}})

	if result.Findings[0].Suppressed == nil || len(result.Suppressions) != 2 || !result.Suppressions[0].Used ||
		result.Suppressions[1].Used || result.Suppressions[1].Problem == nil {
		t.Errorf("%+v %+v", result.Findings, result.Suppressions)
	}
}

func TestTextThatOnlyLooksLikeAComment(t *testing.T) {
	const words = "# headgate: allow insecure_tls because x"
	for name, text := range map[string]string{
		"a block":      "receivers:\n  otlp:\n    protocols: |\n      " + words + "\n",
		"a quoted key": "receivers:\n  \"" + words + "\":\n",
		"within words": "receivers:\n  otlp:\n    protocols: a" + strings.ReplaceAll(words, ": ", ":") + "\n",
	} {
		if result := askedOfAnyRelease(t, Request{Request: validate.Request{YAML: text}}); len(result.Suppressions) != 0 {
			t.Errorf("%s: %+v", name, result.Suppressions)
		}
	}
	if result := askedOfAnyRelease(t, Request{Request: validate.Request{YAML: "receivers: | " + words + "\n  text\n"}}); len(result.Suppressions) != 1 {
		t.Errorf("the comment behind a block's header: %+v", result.Suppressions)
	}
}

func TestAnOrganizationSaysWhatCommentsMaySuppress(t *testing.T) {
	text := strings.Replace(insecure, "# beside", "# headgate: allow insecure_tls, own because x", 1)
	rule := Rule{Name: "own", Expression: `["exporters::otlp::tls::insecure"]`, Message: "m", Severity: Error}
	for _, row := range []struct {
		notSuppressible []string
		suppressible    bool
		want            []bool
	}{
		{nil, true, []bool{true, true}},
		{[]string{"insecure_tls"}, true, []bool{false, true}},
		{[]string{"own"}, true, []bool{true, false}},
		{nil, false, []bool{true, false}},
	} {
		rule.Suppressible = row.suppressible

		result := askedOfAnyRelease(t, Request{
			Request: validate.Request{YAML: text}, Rules: []Rule{rule}, NotSuppressible: row.notSuppressible,
		})

		for i, code := range []string{"insecure_tls", "own"} {
			if one := result.Findings[i]; one.Code != code || (one.Suppressed != nil) != row.want[i] {
				t.Errorf("%+v: %+v", row, one)
			}
			if one := result.Suppressions[i]; one.Used != row.want[i] || (one.Problem == nil) != row.want[i] {
				t.Errorf("%+v: %+v", row, one)
			}
		}
	}
}
