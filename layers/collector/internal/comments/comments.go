// Package comments has what the sources of this build's modules say of their settings and of the components.
//
// The texts are collected while the program is built (layers/collector/extract), so the file beside this one is empty
// in the checkout and in tests: then nothing has a text.
package comments

import (
	"compress/gzip"
	_ "embed" // for the file that the build replaces
	"encoding/json"
	"fmt"
	"strings"
)

// A string stays in the file of the program until it is read; a slice would be copied.
//
//go:embed comments.json.gz
var embedded string

// Texts are the texts of a build, decompressed: some megabytes, so nobody should keep them for longer than a task.
type Texts struct {
	comments   map[string]string
	components map[string]Component
}

// Component is what the module of a component says of it. Each text may be empty.
type Component struct {
	// Summary is what it does, in a sentence or two.
	Summary string `json:"summary,omitempty"`
	// Deprecated says since when, and what to use in its place.
	Deprecated string `json:"deprecated,omitempty"`
	// Warnings are titles, such as `Statefulness` or `Unstable Output Format`.
	Warnings []string `json:"warnings,omitempty"`
	// UnsupportedPlatforms are those on which it does not work.
	UnsupportedPlatforms []string `json:"unsupported_platforms,omitempty"`
}

// Load decompresses the texts. There are none in a program that was not built by layers/collector/building.
func Load() (*Texts, error) { return read(embedded) }

func read(compressed string) (*Texts, error) {
	var content struct {
		Comments   map[string]string    `json:"comments"`
		Components map[string]Component `json:"components"`
	}
	if compressed == "" {
		return &Texts{}, nil
	}
	unpacked, err := gzip.NewReader(strings.NewReader(compressed))
	if err != nil {
		return nil, fmt.Errorf("the comments in this program: %w", err)
	}
	if err := json.NewDecoder(unpacked).Decode(&content); err != nil {
		return nil, fmt.Errorf("the comments in this program: %w", err)
	}
	return &Texts{content.Comments, content.Components}, nil
}

// Field is the comment of a field of a named struct type, "" if it has none. The package is the path by which it is
// imported, the type its name without parameters. In a struct without a name, that is the field of a named one, the
// type is `Type.Field`.
func (t *Texts) Field(pkg, typeName, field string) string {
	return t.comments[pkg+"."+typeName+"."+field]
}

// Type is the comment of a named type, "" if it has none.
func (t *Texts) Type(pkg, typeName string) string { return t.comments[pkg+"."+typeName] }

// Component is what a component's module says of it. The module may be followed by its version, as in
// `go.opentelemetry.io/collector/receiver/otlpreceiver v0.139.0`. The path of a package is taken for those components
// that are not modules of their own, such as the scrapers of hostmetrics.
func (t *Texts) Component(module string) Component {
	path, _, _ := strings.Cut(module, " ")
	return t.components[path]
}
