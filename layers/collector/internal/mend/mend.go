// Package mend adds to findings the changes of the text that other packages than validate know.
package mend

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/headgate/headgate/layers/collector/internal/operation"
	"github.com/headgate/headgate/layers/collector/internal/rename"
	"github.com/headgate/headgate/layers/collector/internal/source"
	"github.com/headgate/headgate/layers/collector/internal/validate"
)

// Handle answers as validate.Handle, with Renames.
func Handle(ctx context.Context, env *operation.Environment, raw json.RawMessage) (any, error) {
	var request validate.Request
	if err := json.Unmarshal(raw, &request); err != nil {
		return nil, operation.BadRequest("validate takes yaml, env and files: %v", err)
	}
	result, err := validate.Validate(ctx, env, request)
	if err == nil {
		Renames(ctx, env, request, result)
	}
	return result, err
}

// Renames gives each unknown component that this release has by another name the changes that rename it, wherever the
// text names it. Without a way to rename it everywhere, the finding stays as it is.
func Renames(ctx context.Context, env *operation.Environment, request validate.Request, result *validate.Result) {
	unknown := false
	for _, one := range result.Errors {
		unknown = unknown || one.Code == validate.UnknownComponent && one.ComponentPath != ""
	}
	if !unknown || result.Wrapped != nil {
		return
	}
	renamed, err := rename.Rename(ctx, env, request)
	if err != nil {
		return // a text that cannot be renamed has its findings all the same
	}
	stays := map[string]bool{}
	for _, one := range renamed.NotRenamed {
		stays[one.From] = true
	}
	changes := map[string][]source.Fix{}
	for _, one := range renamed.Renames {
		if !stays[one.From] {
			changes[one.From] = append(changes[one.From], source.Fix{
				Line: one.Line, Column: one.Column, EndLine: one.Line, EndColumn: one.Column + len(one.From), Text: one.To,
			})
		}
	}
	for i, one := range result.Errors {
		_, name, _ := strings.Cut(one.ComponentPath, "::")
		kind, _, _ := strings.Cut(strings.TrimSpace(name), "/")
		if one.Code == validate.UnknownComponent && one.Fix == nil {
			result.Errors[i].Fix = changes[kind]
		}
	}
}
