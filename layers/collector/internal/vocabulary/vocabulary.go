// Package vocabulary lists the words that OTTL's contexts and functions may have, with what they mean.
//
// OTTL lists neither its paths nor its enums, so these tables are what a parser is asked for: it may refuse a word of
// its version or component. Tests compare the tables with the sources of the linked modules.
package vocabulary

import (
	"regexp"
	"slices"
)

// Path is a path of a context, without the context's name. A pair of quotes stands for any key.
type Path struct {
	Path string
	// Type is that of the value: one of OTTL's own (`string`, `int`, `float`, `bool`, `map`, `list`, `bytes`, `time`,
	// `duration`, `list of int`), the name of a converter that makes it (`TraceID`), a name for what only paths hold
	// (`span events`), or `any`. Versions that differ make it two, with `or` between them.
	Type        string
	ReadOnly    bool
	Description string
}

// Enum is a name of a number.
type Enum struct {
	Name        string
	Value       int64
	Description string
}

var name = regexp.MustCompile(`[a-z_]+`)

// Segments are the names that paths are made of, in alphabetical order: those of the contexts, and of their fields.
func Segments() []string {
	var segments []string
	for context, paths := range Paths {
		segments = append(segments, context)
		for _, path := range paths {
			segments = append(segments, name.FindAllString(path.Path, -1)...)
		}
	}
	slices.Sort(segments)
	return slices.Compact(segments)
}
