// Package upgrade tells what differs between two versions' answers about the same text. No component, gate or default
// is known here by name, and no collector is needed.
//
// Positions are those of the same text, so they need no matching. Component paths are the text's own, also where the
// target calls a type by another name; only the words of messages follow the renames.
package upgrade

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/headgate/headgate/layers/collector/internal/history"
	"github.com/headgate/headgate/layers/collector/internal/operation"
)

// What people read; room bounds the bytes.
const (
	maxDefaults = 2_000
	maxFindings = 100
)

// Request holds what the two versions answered. From may be the same version as To. Without Rename, nothing is renamed;
// RenameRefused is why the target did not rename, and then the names are known all the same.
type Request struct {
	From          Version `json:"from"`
	To            Version `json:"to"`
	Rename        *Rename `json:"rename"`
	RenameRefused string  `json:"rename_refused"`
}

// Version is a collector version with its answers to `inspect` and `describe`.
type Version struct {
	Version     string      `json:"version"`
	Inspection  Inspection  `json:"inspection"`
	Description Description `json:"description"`
}

// Inspection is an answer to `inspect`: the parts of it that matter here.
type Inspection struct {
	Valid      *bool       `json:"valid"`
	Errors     []Finding   `json:"errors"`
	Warnings   []Finding   `json:"warnings"`
	Components []Component `json:"components"`
	NotInBuild []Lacking   `json:"not_in_build"`
	Incomplete bool        `json:"incomplete"`
}

// Finding is one of `validate`.
type Finding struct {
	Message       string `json:"message"`
	ComponentPath string `json:"component_path"`
	Code          string `json:"code"`
	Line          *int   `json:"line"`
	Column        *int   `json:"column"`
}

// Component is one of the text. RenamedTo is empty unless Type is deprecated.
type Component struct {
	ComponentPath string                     `json:"component_path"`
	Type          string                     `json:"type"`
	Line          int                        `json:"line"`
	Column        int                        `json:"column"`
	RenamedTo     string                     `json:"renamed_to"`
	Words         []string                   `json:"words"`
	Defaults      map[string]json.RawMessage `json:"defaults"`
	Logs          []struct {
		Level   string `json:"level"`
		Message string `json:"message"`
	} `json:"logs"`
}

// Lacking is a component of the text that the build lacks.
type Lacking struct {
	ComponentPath string `json:"component_path"`
	Line          int    `json:"line"`
	Column        int    `json:"column"`
	Kind          string `json:"kind"`
	Type          string `json:"type"`
}

// Description is an answer to `describe`: the parts of it that matter here.
type Description struct {
	Reduced      bool            `json:"reduced"`
	Lacks        []ComponentType `json:"lacks"`
	Components   []ComponentType `json:"components"`
	FeatureGates []Gate          `json:"feature_gates"`
}

// ComponentType is one of a distribution. Module may have the module's version.
type ComponentType struct {
	Kind           string `json:"kind"`
	Type           string `json:"type"`
	DeprecatedType string `json:"deprecated_type"`
	Module         string `json:"module"`
}

// Gate is a registered feature gate.
type Gate struct {
	ID          string `json:"id"`
	Stage       string `json:"stage"`
	Description string `json:"description"`
}

// Rename is the target's answer to `rename`.
type Rename struct {
	YAML       string       `json:"yaml"`
	Renames    []Renamed    `json:"renames"`
	NotRenamed []NotRenamed `json:"not_renamed"`
}

// Renamed is an occurrence of a deprecated type.
type Renamed struct {
	ComponentPath string `json:"component_path"`
	Line          int    `json:"line"`
	Column        int    `json:"column"`
	From          string `json:"from"`
	To            string `json:"to"`
}

// NotRenamed is an occurrence that stays, with the reason.
type NotRenamed struct {
	Renamed
	Reason string `json:"reason"`
}

// Verdict is what one version says of the text; Valid is nil if a component is not in the build.
type Verdict struct {
	Valid    *bool     `json:"valid"`
	Errors   []Finding `json:"errors"`
	Warnings []Finding `json:"warnings"`
}

// Verdicts are those of both versions.
type Verdicts struct {
	From Verdict `json:"from"`
	To   Verdict `json:"to"`
}

// Deprecation is a warning of the target; New unless the source logs it, too.
type Deprecation struct {
	ComponentPath string `json:"component_path"`
	Line          int    `json:"line"`
	Column        int    `json:"column"`
	Message       string `json:"message"`
	New           bool   `json:"new"`
}

// FeatureGate is a gate whose stage changes; nil where the version has no such gate. Components are those of the text
// that its id names.
type FeatureGate struct {
	ID          string   `json:"id"`
	StageBefore *string  `json:"stage_before"`
	StageAfter  *string  `json:"stage_after"`
	Description string   `json:"description"`
	Components  []string `json:"components"`
}

// ChangedDefault is a setting that the text does not write, with another value on each side.
type ChangedDefault struct {
	ComponentPath string          `json:"component_path"`
	Line          int             `json:"line"`
	Column        int             `json:"column"`
	Key           string          `json:"key"`
	Before        json.RawMessage `json:"before"`
	After         json.RawMessage `json:"after"`
}

// ChangedBehaviour is what a component does otherwise from a version on with the same settings. It is from the releases'
// notes: neither collector tells it.
type ChangedBehaviour struct {
	ComponentPath string `json:"component_path"`
	Line          int    `json:"line"`
	Column        int    `json:"column"`
	Since         string `json:"since"`
	Message       string `json:"message"`
	Source        string `json:"source"`
}

// NotChecked is a component that Version's build lacks.
type NotChecked struct {
	Lacking
	Version string `json:"version"`
}

// Report is the answer, in the form of the API. Incomplete is set if a list was cut. ProposedYAML is the text with
// every rename, nil without one.
type Report struct {
	From         string             `json:"from"`
	To           string             `json:"to"`
	Verdict      Verdicts           `json:"verdict"`
	NewErrors    []Finding          `json:"new_errors"`
	NewWarnings  []Finding          `json:"new_warnings"`
	Renames      []Renamed          `json:"renames"`
	NotRenamed   []NotRenamed       `json:"not_renamed"`
	Deprecations []Deprecation      `json:"deprecations"`
	FeatureGates []FeatureGate      `json:"feature_gates"`
	Defaults     []ChangedDefault   `json:"defaults"`
	Behaviours   []ChangedBehaviour `json:"behaviours"`
	NotChecked   []NotChecked       `json:"not_checked"`
	Incomplete   bool               `json:"incomplete"`
	Outputs      *struct{}          `json:"outputs"`
	ProposedYAML *string            `json:"proposed_yaml"`
}

// Handle answers `upgrade {from, to, rename, rename_refused}` with a Report that fits into a function's answer.
func Handle(_ context.Context, raw json.RawMessage) (any, error) {
	var request Request
	if err := json.Unmarshal(raw, &request); err != nil {
		return nil, operation.BadRequest("upgrade takes the answers of two versions, from and to: %v", err)
	}
	report := compare(&request)
	report.fit()
	return report, nil
}

func compare(request *Request) *Report {
	from, to := &request.From, &request.To
	before, after := &from.Inspection, &to.Inspection
	words := oldWords(before.Components, after.Components)
	report := &Report{
		From: from.Version, To: to.Version,
		Verdict:      Verdicts{From: before.verdict(), To: after.verdict()},
		NewErrors:    first(newErrors(before.Errors, after.Errors, words), maxFindings),
		NewWarnings:  first(newFindings(before.Warnings, after.Warnings, words), maxFindings),
		Renames:      []Renamed{},
		NotRenamed:   []NotRenamed{},
		Deprecations: deprecations(before.Components, after.Components, words),
		FeatureGates: featureGates(&from.Description, &to.Description, after.Components),
		Behaviours:   first(behaviours(from, to), maxFindings),
		NotChecked:   notChecked(from, to),
	}
	defaults := changedDefaults(before.Components, after.Components)
	report.Defaults = first(defaults, maxDefaults)
	report.Incomplete = before.Incomplete || after.Incomplete || len(defaults) > maxDefaults
	for _, listed := range [][]Finding{before.Errors, before.Warnings, after.Errors, after.Warnings} {
		report.Incomplete = report.Incomplete || len(listed) > maxFindings
	}
	report.rename(request)
	return report
}

func (i *Inspection) verdict() Verdict {
	return Verdict{Valid: i.Valid, Errors: first(i.Errors, maxFindings), Warnings: first(i.Warnings, maxFindings)}
}

// rename tells what the target renames.
func (r *Report) rename(request *Request) {
	if request.RenameRefused != "" {
		for _, one := range request.To.Inspection.Components {
			if one.RenamedTo != "" {
				r.NotRenamed = append(r.NotRenamed, NotRenamed{
					Renamed{one.ComponentPath, one.Line, one.Column, one.Type, one.RenamedTo}, request.RenameRefused,
				})
			}
		}
	}
	if request.Rename == nil {
		return
	}
	r.Renames, r.NotRenamed = all(request.Rename.Renames), append(r.NotRenamed, request.Rename.NotRenamed...)
	if len(r.Renames) > 0 {
		r.ProposedYAML = &request.Rename.YAML
	}
}

// behaviours returns what the text's components do otherwise on the target.
func behaviours(from, to *Version) []ChangedBehaviour {
	components := from.Inspection.Components
	if len(components) < len(to.Inspection.Components) {
		components = to.Inspection.Components
	}
	var changed []ChangedBehaviour
	for _, one := range components {
		section, _, _ := strings.Cut(one.ComponentPath, "::")
		for _, behaviour := range history.Behaviours(section, one.Type, one.Words, from.Version, to.Version) {
			changed = append(changed, ChangedBehaviour{
				one.ComponentPath, one.Line, one.Column, behaviour.Since(), behaviour.Message, behaviour.Source,
			})
		}
	}
	return changed
}

// first returns at most so many, never nil.
func first[E any](entries []E, most int) []E { return all(entries[:min(len(entries), most)]) }

// all returns the entries as a list that JSON writes as one.
func all[E any](entries []E) []E {
	if entries == nil {
		return []E{}
	}
	return entries
}
