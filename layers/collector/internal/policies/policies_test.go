package policies

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/headgate/headgate/layers/collector/internal/operation"
	"github.com/headgate/headgate/layers/collector/internal/validate"
	"github.com/headgate/headgate/layers/collector/version/distribution"
)

// collector is that of the version that the tests are run for.
func collector() *operation.Environment {
	return &operation.Environment{
		BuildInfo: distribution.Settings().BuildInfo, Factories: distribution.Factories, Lacking: distribution.Lacking,
	}
}

const today = "2026-11-22"

func asked(t *testing.T, request Request) *Result {
	t.Helper()
	result, err := answer(request)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func answer(request Request) (*Result, error) {
	if request.Today == "" {
		request.Today = today
	}
	raw, err := json.Marshal(request)
	if err != nil {
		return nil, err
	}
	result, err := Handle(context.Background(), collector(), raw)
	if err != nil {
		return nil, err
	}
	return result.(*Result), nil
}

// judged returns the findings of a text.
func judged(t *testing.T, text string) []Finding {
	t.Helper()
	return asked(t, Request{Request: validate.Request{YAML: text}}).Findings
}

func codesOf(list []Finding) []string {
	found := []string{}
	for _, one := range list {
		if !slices.Contains(found, one.Code) {
			found = append(found, one.Code)
		}
	}
	slices.Sort(found)
	return found
}

// TestEveryExampleIsValidAndOnlyTheFailingOneHasTheFinding asks the collector itself whether the examples are valid. On a
// reduced build, the examples with a component that it lacks are judged, but not validated.
func TestEveryExampleIsValidAndOnlyTheFailingOneHasTheFinding(t *testing.T) {
	validated := 0
	factories, err := distribution.Factories()
	if err != nil {
		t.Fatal(err)
	}
	for _, policy := range all {
		if policy.has != nil && !policy.has(factories) || !policy.holds(collector().BuildInfo.Version) {
			continue // another release has what it is about
		}
		t.Run(policy.Code, func(t *testing.T) {
			for text, fails := range map[string]bool{policy.Failing: true, policy.Passing: false} {
				verdict, err := validate.Validate(context.Background(), collector(), validate.Request{YAML: text})
				var refused *operation.Error
				switch {
				case errors.As(err, &refused) && refused.Code == "component_not_in_build":
				case err != nil:
					t.Fatal(err)
				case !verdict.Valid:
					t.Errorf("the collector refuses it: %+v\n%s", verdict.Errors, text)
				default:
					validated++
				}
				findings := judged(t, text)
				if slices.Contains(codesOf(findings), policy.Code) != fails {
					t.Errorf("%+v\nfor\n%s", findings, text)
				}
				for _, one := range findings {
					if one.Code == policy.Code && (one.Severity != policy.Severity || one.WayOut != policy.WayOut ||
						one.Message == "" || one.ComponentPath == "" || one.Line < 1 || one.Column < 1) {
						t.Errorf("%+v", one)
					}
				}
			}
		})
	}
	if validated < len(all) {
		t.Errorf("only %d examples were validated", validated)
	}
}

func TestEveryPolicySaysEnough(t *testing.T) {
	seen := map[string]bool{}
	for _, policy := range all {
		if !regexp.MustCompile(`^[a-z][a-z0-9_]+$`).MatchString(policy.Code) || seen[policy.Code] {
			t.Errorf("the code %q", policy.Code)
		}
		seen[policy.Code] = true
		if policy.Title == "" || strings.HasSuffix(policy.Title, ".") || !strings.HasSuffix(policy.Why, ".") ||
			!strings.HasSuffix(policy.WayOut, ".") || policy.Failing == policy.Passing {
			t.Errorf("%s: %+v", policy.Code, policy)
		}
		if !slices.Contains([]Severity{Error, Warning, Information}, policy.Severity) {
			t.Errorf("%s: %s", policy.Code, policy.Severity)
		}
	}
}

// TestWhatIsRight has configurations that look like a mistake and are none.
func TestWhatIsRight(t *testing.T) {
	const end = "exporters: {otlp: {endpoint: 'backend.example.com:4317'}}\n"
	for name, row := range map[string]struct{ code, text string }{
		"servers that are switched off": {"port_conflict", "receivers: {github: , github/2: , prometheus: , prometheus/2: }\n" +
			end + "service: {pipelines: {metrics: {receivers: [github, github/2, prometheus, prometheus/2], exporters: [otlp]}}}\n"},
		"a port for UDP and for TCP": {"port_conflict", "receivers: {jaeger: {protocols: {thrift_compact: {endpoint: 'a:1'}, thrift_http: {endpoint: 'a:1'}}}}\n" +
			end + "service: {pipelines: {traces: {receivers: [jaeger], exporters: [otlp]}}}\n"},
		"a port from a variable": {"port_conflict", "receivers: {otlp: {protocols: {grpc: {endpoint: 'a:${env:P}'}, http: {endpoint: 'a:${env:P}'}}}}\n" +
			end + "service: {pipelines: {traces: {receivers: [otlp], exporters: [otlp]}}}\n"},
		"an unused component": {"insecure_tls", "receivers: {otlp: {protocols: {grpc: }}}\n" +
			"exporters: {otlp: {endpoint: 'a:1'}, otlp/old: {endpoint: 'a:1', tls: {insecure: true}}}\n" +
			"service: {pipelines: {traces: {receivers: [otlp], exporters: [otlp]}}}\n"},
		"without TLS on this machine": {"insecure_tls", "receivers: {otlp: {protocols: {grpc: }}}\n" +
			"exporters: {otlp: {endpoint: 'localhost:1', tls: {insecure: true}}, otlp/6: {endpoint: '[::1]:1', tls: {insecure: true}}}\n" +
			"service: {pipelines: {traces: {receivers: [otlp], exporters: [otlp, otlp/6]}}}\n"},
		"an unset variable": {"memory_limiter_unfit", "receivers: {otlp: {protocols: {grpc: }}}\nprocessors: {memory_limiter: {check_interval: 1s, limit_mib: '${env:L}'}}\n" +
			end + "service: {pipelines: {traces: {receivers: [otlp], processors: [memory_limiter], exporters: [otlp]}}}\n"},
		"an exporter to another pipeline's receiver": {"telemetry_loop", "receivers: {otlp/a: {protocols: {grpc: {endpoint: 'localhost:1'}}}, otlp/b: {protocols: {grpc: {endpoint: 'localhost:2'}}}}\n" +
			"exporters: {otlp: {endpoint: 'localhost:2'}, debug: }\n" +
			"service: {pipelines: {traces/a: {receivers: [otlp/a], exporters: [otlp]}, traces/b: {receivers: [otlp/b], exporters: [debug]}}}\n"},
		"a tap beside an export": {"debug_exporter_only", "receivers: {otlp: {protocols: {grpc: }}}\nconnectors: {forward: }\n" +
			"exporters: {otlp: {endpoint: 'a:1'}, debug: }\n" +
			"service: {pipelines: {traces: {receivers: [otlp], exporters: [otlp, forward]}, traces/tap: {receivers: [forward], exporters: [debug]}}}\n"},
		"two tenants": {"duplicate_export", "receivers: {otlp: {protocols: {grpc: }}}\nprocessors: {filter/a: {logs: {log_record: ['true']}}}\n" +
			end + "service: {pipelines: {logs/a: {receivers: [otlp], processors: [filter/a], exporters: [otlp]}, logs/b: {receivers: [otlp], exporters: [otlp]}}}\n"},
		"statements that say what fails, and a silent text": {"ottl_errors_hidden", "receivers: {otlp: {protocols: {grpc: }}}\nprocessors: {transform: {log_statements: [" +
			"{context: log, error_mode: ignore, statements: ['set(body, \"silent\")']}]}, attributes: {actions: [{key: mode, value: silent, action: insert}]}}\n" +
			end + "service: {pipelines: {logs: {receivers: [otlp], processors: [transform, attributes], exporters: [otlp]}}}\n"},
	} {
		if findings := judged(t, row.text); slices.Contains(codesOf(findings), row.code) {
			t.Errorf("%s: %+v", name, findings)
		}
	}
}

func TestBatchIsFoundWhereThePipelineNamesIt(t *testing.T) {
	const before = "receivers: {otlp: {protocols: {grpc: }}}\nprocessors: {batch: , filter: }\n" +
		"exporters: {debug: }\nservice:\n  pipelines:\n    logs:\n      receivers: [otlp]\n      exporters: [debug]\n"
	for list, want := range map[string]string{
		"      processors: [nowhere, batch, filter]\n":           "9:29",
		"      processors:\n        - batch\n        - filter\n": "10:11",
	} {
		for _, one := range judged(t, before+list) {
			if got := fmt.Sprintf("%d:%d", one.Line, one.Column); one.Code == batchBeforeDropping.Code && got != want {
				t.Errorf("%s, not %s, for\n%s", got, want, list)
			}
		}
		if !slices.Contains(codesOf(judged(t, before+list)), batchBeforeDropping.Code) {
			t.Errorf("nothing for\n%s", list)
		}
	}
}

func TestATextWithErrorsIsJudgedAsFarAsItCanBeRead(t *testing.T) {
	findings := judged(t, `receivers:
  nonsense: {a: 1}
  otlp: {protocols: {grpc: , ftp: }}
exporters:
  otlp: {endpoint: 'a:1', tls: {insecure: true}}
  otlp/wrong: {endpoint: [1], retry_on_failure: {enabled: false}, headers: {authorization: 'Basic dXNlcjpwYXNzd29yZA=='}}
service: {pipelines: {traces: {receivers: [otlp, nonsense, nowhere], exporters: [otlp, otlp/wrong]}}}
`)

	got := slices.DeleteFunc(codesOf(findings), func(code string) bool { return code == deprecatedName.Code })
	if !slices.Equal(got, []string{"insecure_tls", "memory_limiter_missing", "no_retry", "secret_in_text"}) {
		t.Errorf("%v", got)
	}
}
