// Package together answers everything that is asked of one text at once: the text is parsed, resolved and run dry once, and
// lint, policies and the pipelines read what that has read.
package together

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/headgate/headgate/layers/collector/internal/explain"
	"github.com/headgate/headgate/layers/collector/internal/graph"
	"github.com/headgate/headgate/layers/collector/internal/lint"
	"github.com/headgate/headgate/layers/collector/internal/operation"
	"github.com/headgate/headgate/layers/collector/internal/policies"
	"github.com/headgate/headgate/layers/collector/internal/source"
	"github.com/headgate/headgate/layers/collector/internal/validate"
	"go.yaml.in/yaml/v3"
)

// The parts that may be asked for beside the verdict.
const (
	lintPart     = "lint"
	policiesPart = "policies"
	graphPart    = "graph"
)

// Request is a text, what policies need to judge it, and the parts that are asked for.
type Request struct {
	policies.Request
	Parts []string `json:"parts"`
}

// Result is the verdict, the parts that were asked for, and where findings end.
type Result struct {
	*validate.Result
	Lint     *Part[*lint.Result]     `json:"lint,omitempty"`
	Policies *Part[*policies.Result] `json:"policies,omitempty"`
	Graph    *Part[*graph.Result]    `json:"graph,omitempty"`
	// Ends has line, column, last line and the column behind the last character, for each place at which a finding is.
	Ends [][4]int `json:"ends"`
}

// Part is the answer of an operation, or its error.
type Part[R any] struct {
	Result  R                `json:"result,omitempty"`
	Problem *operation.Error `json:"problem,omitempty"`
}

// Handle answers `check {yaml, env, parts, rules, not_suppressible, today}` with a Result. Its errors are those of
// `validate`; an error of a part is the part's.
func Handle(ctx context.Context, env *operation.Environment, raw json.RawMessage) (any, error) {
	var request Request
	if err := json.Unmarshal(raw, &request); err != nil {
		return nil, operation.BadRequest("check takes yaml, env, parts, and what policies take: %v", err)
	}
	verdict, reading, err := validate.Read(ctx, env, request.Request.Request)
	if err != nil {
		return nil, err
	}
	explain.Findings(ctx, env, request.Request.Request, verdict)
	result := &Result{Result: verdict}
	if slices.Contains(request.Parts, lintPart) {
		if result.Lint, err = part(lint.Judge(ctx, env, reading)); err != nil {
			return nil, err
		}
	}
	if slices.Contains(request.Parts, policiesPart) {
		if result.Policies, err = part(policies.Judge(ctx, env, reading, request.Request)); err != nil {
			return nil, err
		}
	}
	if slices.Contains(request.Parts, graphPart) {
		if result.Graph, err = part(graph.Of(ctx, reading)); err != nil {
			return nil, err
		}
	}
	result.Ends = ends(reading.Document, result.places())
	return result, nil
}

func part[R any](result R, err error) (*Part[R], error) {
	var refused *operation.Error
	if errors.As(err, &refused) {
		return &Part[R]{Problem: refused}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("a part of the check: %w", err)
	}
	return &Part[R]{Result: result}, nil
}

// places returns where findings begin.
func (r *Result) places() map[source.Position]bool {
	found := map[source.Position]bool{}
	add := func(line, column int) {
		if line > 0 && column > 0 {
			found[source.Position{Line: line, Column: column}] = true
		}
	}
	for _, list := range [][]validate.Finding{r.Errors, r.Warnings} {
		for _, one := range list {
			add(one.Line, one.Column)
		}
	}
	if r.Lint != nil && r.Lint.Result != nil {
		for _, item := range r.Lint.Result.Items {
			if item.Error != nil || item.Note != nil {
				add(item.Location.Line, item.Location.Column)
			}
		}
		for _, one := range r.Lint.Result.Skipped {
			add(one.Location.Line, one.Location.Column)
		}
	}
	if r.Policies != nil && r.Policies.Result != nil {
		for _, one := range r.Policies.Result.Findings {
			add(one.Line, one.Column)
		}
	}
	return found
}

// ends returns each place with the end of the key or value that begins there, on its first line; else of the word.
func ends(document *source.Document, places map[source.Position]bool) [][4]int {
	found := [][4]int{}
	if document == nil || len(places) == 0 {
		return found
	}
	lines := document.Lines()
	whole := map[source.Position]source.Position{}
	document.Nodes(func(_ []string, node *yaml.Node) {
		at := source.Position{Line: node.Line, Column: node.Column}
		if node.Kind != yaml.ScalarNode || !places[at] {
			return
		}
		if _, to, ok := document.Extent(node); ok {
			whole[at] = document.PositionAt(to)
		}
	})
	for at := range places {
		if at.Line > len(lines) {
			continue
		}
		line := []rune(lines[at.Line-1])
		end := source.Position{Line: at.Line, Column: len(line) + 1}
		if node, known := whole[at]; known && node.Line == at.Line {
			end = node
		} else if !known {
			end.Column = word(line, at.Column)
		}
		if end.Column > at.Column {
			found = append(found, [4]int{at.Line, at.Column, end.Line, end.Column})
		}
	}
	slices.SortFunc(found, func(a, b [4]int) int { return slices.Compare(a[:], b[:]) })
	return found
}

// word returns the column behind the word that begins at a column, and at least one more than it.
func word(line []rune, column int) int {
	end := column - 1
	for end < len(line) && !unicode.IsSpace(line[end]) && !strings.ContainsRune(`,[]{}()"'`, line[end]) {
		end++
	}
	return max(end+1, column+1)
}
