package policies

import (
	"context"
	"encoding/json"
	"errors"
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
		if policy.has != nil && !policy.has(factories) {
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
