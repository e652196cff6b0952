// Package policies finds what is valid in a configuration and still wrong.
//
// A policy is a file of its own and a line in `all`. It judges what would run: the components that the service uses, as
// their own factories read them, with their defaults. What depends on a variable without a value is not judged.
package policies

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/headgate/headgate/layers/collector/internal/decoded"
	"github.com/headgate/headgate/layers/collector/internal/operation"
	"github.com/headgate/headgate/layers/collector/internal/validate"
)

const separator = "::"

// Request is a configuration, the variables that it may refer to, an organization's own rules, the codes that no comment
// suppresses, and the day by which suppressions expire, as 2026-11-22.
type Request struct {
	validate.Request
	Rules           []Rule   `json:"rules"`
	NotSuppressible []string `json:"not_suppressible"`
	Today           string   `json:"today"`
}

// Result is the answer. Suppressed findings are among the findings.
type Result struct {
	Findings     []Finding     `json:"findings"`
	Suppressions []Suppression `json:"suppressions"`
	FailedRules  []FailedRule  `json:"failed_rules"`
}

// List is the answer to `policy_list`.
type List struct {
	Policies []*Policy `json:"policies"`
}

// HandleList answers `policy_list` with a List.
func HandleList(context.Context, json.RawMessage) (any, error) {
	list := List{}
	for _, policy := range all {
		shown := *policy
		if shown.Seen == nil {
			shown.Seen = []string{}
		}
		list.Policies = append(list.Policies, &shown)
	}
	return list, nil
}

// Handle answers `policies` with a Result. Its errors are bad_request, yaml_syntax and too_costly: a text that is not a
// configuration at all is not judged, but one with errors in its components is.
func Handle(ctx context.Context, env *operation.Environment, raw json.RawMessage) (any, error) {
	var request Request
	if err := json.Unmarshal(raw, &request); err != nil {
		return nil, operation.BadRequest("policies takes yaml, env, rules, not_suppressible and today: %v", err)
	}
	return Judge(ctx, env, validate.NewReading(request.Request), request)
}

// Judge is Handle for a text that was read before.
func Judge(ctx context.Context, env *operation.Environment, reading *validate.Reading, request Request) (*Result, error) {
	today, err := time.Parse(time.DateOnly, request.Today)
	if err != nil {
		return nil, operation.BadRequest("today must be a day such as 2026-11-22")
	}
	if len(request.Rules) > maxRules {
		return nil, operation.BadRequest("at most %d rules are evaluated per request", maxRules)
	}
	c, err := read(ctx, env, reading)
	if err != nil {
		return nil, err
	}
	result := &Result{FailedRules: []FailedRule{}}
	var list []Finding
	for _, policy := range all {
		if !policy.holds(env.BuildInfo.Version) {
			continue
		}
		policy.check(c, &findings{
			document: c.document, code: policy.Code, severity: policy.Severity, wayOut: policy.WayOut,
			most: maxPerCode, list: &list,
		})
	}
	result.FailedRules = evaluate(ctx, c, request.Rules, &list)
	result.Suppressions = suppress(request, c.document, today, list)
	result.Findings = listed(list)
	return result, nil
}

// read resolves a text.
func read(ctx context.Context, env *operation.Environment, reading *validate.Reading) (*configuration, error) {
	if reading.NotYAML != nil {
		return nil, notAConfiguration(reading.NotYAML.Error())
	}
	conf, err := reading.Resolve(ctx)
	var refused *operation.Error
	if errors.As(err, &refused) {
		return nil, refused
	}
	if err != nil {
		return nil, notAConfiguration(reading.Document.Undecodable(err))
	}
	factories, err := reading.Factories(env)
	if err != nil {
		return nil, err
	}
	return newConfiguration(reading, conf, reading.Plain(ctx), factories), nil
}

func notAConfiguration(reason string) error {
	return &operation.Error{Code: "yaml_syntax", Message: decoded.Shortened(reason, maxMessage)}
}
