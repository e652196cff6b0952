// Package graph tells which pipelines a configuration has, and which components they connect, so that it can be drawn.
// It reads the configuration as the collector resolves it: with merges, aliases and `${...}` replaced.
package graph

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/headgate/headgate/layers/collector/internal/operation"
	"github.com/headgate/headgate/layers/collector/internal/source"
	"github.com/headgate/headgate/layers/collector/internal/validate"
)

// maxNames is how many names of components are told, in the lists of all pipelines together. A list may be named again
// and again by an alias.
const maxNames = 20_000

// Result is the answer. Incomplete is set if there are more names than are told.
type Result struct {
	Components []Component `json:"components"`
	Pipelines  []Pipeline  `json:"pipelines"`
	Incomplete bool        `json:"incomplete"`
}

// Component is one that the configuration declares. Line and Column count from 1, in code points.
type Component struct {
	Section string `json:"section"`
	ID      string `json:"id"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
}

// Pipeline has the names of its components in their order.
type Pipeline struct {
	ID         string `json:"id"`
	Signal     string `json:"signal"`
	Line       int    `json:"line"`
	Column     int    `json:"column"`
	Receivers  []Name `json:"receivers"`
	Processors []Name `json:"processors"`
	Exporters  []Name `json:"exporters"`
}

// Name is a component in a pipeline's list. Section is where it is declared, empty if it is not.
type Name struct {
	ID      string `json:"id"`
	Section string `json:"section"`
}

// Handle answers `graph {yaml, env}` with a Result. Its errors are too_costly and, for a text that the collector cannot
// resolve, unresolvable.
func Handle(ctx context.Context, _ *operation.Environment, raw json.RawMessage) (any, error) {
	var request validate.Request
	if err := json.Unmarshal(raw, &request); err != nil {
		return nil, operation.BadRequest("graph takes yaml and env: %v", err)
	}
	return Of(ctx, validate.NewReading(request))
}

// Of is Handle for a text that was read before.
func Of(ctx context.Context, text *validate.Reading) (*Result, error) {
	if text.NotYAML != nil {
		return nil, unresolvable
	}
	_, err := text.Resolve(ctx)
	if refused := new(operation.Error); errors.As(err, &refused) {
		return nil, refused
	}
	plain := text.Plain(ctx)
	if err != nil || plain == nil {
		return nil, unresolvable
	}
	reading := &reading{document: text.Document, plain: plain, left: maxNames}
	return reading.result(), nil
}

var unresolvable = &operation.Error{
	Code: "unresolvable", Message: "the collector cannot read the configuration; its errors say where",
}

type reading struct {
	document *source.Document
	plain    map[string]any
	declared map[Name]bool
	left     int
}

func (r *reading) result() *Result {
	result := &Result{Components: []Component{}, Pipelines: []Pipeline{}}
	r.declared = map[Name]bool{}
	for _, section := range source.Sections {
		content, _ := r.plain[section].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(content)) {
			_, position := r.document.Nearest(section, name)
			id := strings.TrimSpace(name)
			r.declared[Name{id, section}] = true
			result.Components = append(result.Components, Component{section, id, position.Line, position.Column})
		}
	}
	service, _ := r.plain["service"].(map[string]any)
	pipelines, _ := service["pipelines"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(pipelines)) {
		_, position := r.document.Nearest("service", "pipelines", name)
		id := strings.TrimSpace(name)
		signal, _, _ := strings.Cut(id, "/")
		lists, _ := pipelines[name].(map[string]any)
		result.Pipelines = append(result.Pipelines, Pipeline{
			ID: id, Signal: strings.TrimSpace(signal), Line: position.Line, Column: position.Column,
			Receivers:  r.names(lists["receivers"], "receivers", "connectors"),
			Processors: r.names(lists["processors"], "processors"),
			Exporters:  r.names(lists["exporters"], "exporters", "connectors"),
		})
	}
	result.Incomplete = r.left < 0
	return result
}

// names returns the names of a list, each with the first of the sections that declares it.
func (r *reading) names(list any, sections ...string) []Name {
	found := []Name{}
	entries, _ := list.([]any)
	for _, entry := range entries {
		text, is := entry.(string)
		if !is {
			continue // the findings say so
		}
		if r.left--; r.left < 0 {
			break
		}
		one := Name{ID: strings.TrimSpace(text)}
		for _, section := range sections {
			if r.declared[Name{one.ID, section}] {
				one.Section = section
				break
			}
		}
		found = append(found, one)
	}
	return found
}
