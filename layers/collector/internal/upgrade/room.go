package upgrade

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// maxBytes bounds a report: a function's answer may have 6 MB, and the report is a string in it.
const maxBytes = 5_500_000

// fit leaves out what does not fit, and then the report is incomplete: first the defaults are cut, last the new errors.
// The proposed text is there whole or not at all.
func (r *Report) fit() {
	space := &room{left: maxBytes}
	r.NewErrors = fitting(space, r.NewErrors)
	r.Verdict.To.Errors = fitting(space, r.Verdict.To.Errors)
	r.NotChecked = fitting(space, r.NotChecked)
	r.Verdict.From.Errors = fitting(space, r.Verdict.From.Errors)
	r.Verdict.To.Warnings = fitting(space, r.Verdict.To.Warnings)
	r.Verdict.From.Warnings = fitting(space, r.Verdict.From.Warnings)
	r.NewWarnings = fitting(space, r.NewWarnings)
	// Gates are bounded by their number, as long as they name no components.
	components := make([][]string, len(r.FeatureGates))
	for i := range r.FeatureGates {
		components[i], r.FeatureGates[i].Components = r.FeatureGates[i].Components, []string{}
	}
	r.FeatureGates = fitting(space, r.FeatureGates)
	if !space.takes(r.ProposedYAML) {
		r.ProposedYAML = nil
	}
	r.Renames, r.NotRenamed = fitting(space, r.Renames), fitting(space, r.NotRenamed)
	r.Deprecations = fitting(space, r.Deprecations)
	for i := range r.FeatureGates {
		r.FeatureGates[i].Components = fitting(space, components[i])
	}
	r.Behaviours = fitting(space, r.Behaviours)
	r.Defaults = fitting(space, r.Defaults)
	r.Incomplete = r.Incomplete || space.wasShort
}

// room is the bytes that are left. wasShort is set once something did not fit.
type room struct {
	left     int
	wasShort bool
	line     bytes.Buffer
}

// fitting returns the entries from the first on that fit.
func fitting[E any](r *room, entries []E) []E {
	for at, entry := range entries {
		if !r.takes(entry) {
			return entries[:at]
		}
	}
	return entries
}

// takes tells whether there is room for this part of the report, which is then taken up.
func (r *room) takes(part any) bool {
	r.line.Reset()
	encoder := json.NewEncoder(&r.line)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(part) != nil {
		r.wasShort = true
		return false
	}
	size := 2 + escaped(bytes.TrimSuffix(r.line.Bytes(), []byte("\n")))
	if size > r.left {
		r.wasShort = true
		return false
	}
	r.left -= size
	return true
}

// escaped is the size as a string within JSON, where quotes, backslashes and what is not ASCII take more.
func escaped(text []byte) int {
	size := 0
	for len(text) > 0 {
		char, length := utf8.DecodeRune(text)
		text = text[length:]
		switch {
		case char == '"' || char == '\\':
			size += 2
		case char >= ' ' && char <= '~':
			size++
		case char > 0xffff:
			size += 12
		default:
			size += 6
		}
	}
	return size
}
