// Package history holds what releases added and removed, as data with its source.
//
// It explains to somebody with documentation of another release why a name is unknown here.
package history

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Lifetime is the first release that has something, the first that has it no more, and what replaced it. Since and Until
// are empty where the data does not reach that far.
type Lifetime struct{ Since, Until, Instead string }

type setting struct {
	// under is the end of the path to the key: names separated by `::`, of which `*` is any and a component's type stands
	// for all its names.
	under, key string
	Lifetime
}

// Component returns the words about a type of a section (`exporters`) that a version does not know, "" if the table has none.
func Component(version, section, kind string) string {
	return OfComponent(section, kind).words(version)
}

// OfComponent returns what the table has of a type of a section, the zero Lifetime for nothing. Later releases write
// underscores into names that the table has without.
func OfComponent(section, kind string) Lifetime {
	if known, is := components[section][kind]; is {
		return known
	}
	return components[section][strings.ReplaceAll(kind, "_", "")]
}

// Function returns the words about an OTTL function that a version does not know, "" if the table has none.
func Function(version, name string) string { return Lifetime{Since: functions[name]}.words(version) }

// Setting returns the words about a key that a version does not know, "" if the table has none. The path begins with the
// section.
func Setting(version string, path []string) string { return OfSetting(path).words(version) }

// OfSetting returns what the table has of a key, the zero Lifetime for nothing.
func OfSetting(path []string) Lifetime {
	if len(path) == 0 {
		return Lifetime{}
	}
	holder, key := path[:len(path)-1], path[len(path)-1]
	for _, one := range settings {
		if one.key == key && endsWith(holder, strings.Split(one.under, "::")) {
			return one.Lifetime
		}
	}
	return Lifetime{}
}

func endsWith(path, end []string) bool {
	whole := end[0] == "exporters" || end[0] == "processors" || end[0] == "service"
	if len(path) < len(end) || whole && len(path) != len(end) {
		return false
	}
	for i, name := range path[len(path)-len(end):] {
		kind, _, _ := strings.Cut(name, "/")
		if end[i] != "*" && end[i] != kind {
			return false
		}
	}
	return true
}

// IsNewer tells whether a version is too old for something.
func (l Lifetime) IsNewer(version string) bool { return l.Since != "" && IsBefore(version, l.Since) }

// IsRemoved tells whether a version does not have something any more, or another name replaces it.
func (l Lifetime) IsRemoved(version string) bool {
	return !l.IsNewer(version) && (l.Until != "" && !IsBefore(version, l.Until) || l.Until == "" && l.Instead != "")
}

// words explains why a version does not know something.
func (l Lifetime) words(version string) string {
	var words []string
	isLater := l.Since != "" && IsBefore(version, l.Since)
	if isLater {
		words = append(words, fmt.Sprintf("collectors know it from %s on", l.Since))
	}
	switch {
	case isLater && l.Instead != "":
		words = append(words, "before that use "+l.Instead)
	case l.Since != "" && l.Until == "":
	case l.Until != "" && IsBefore(version, l.Until):
	case l.Until != "" && l.Instead != "":
		words = append(words, fmt.Sprintf("it was removed in %s: use %s", l.Until, l.Instead))
	case l.Until != "":
		words = append(words, fmt.Sprintf("it was removed in %s", l.Until))
	case l.Instead != "":
		words = append(words, "use "+l.Instead)
	}
	return strings.Join(words, ", and ")
}

// IsBefore compares two versions `X.Y.Z`. What cannot be read counts as 0.
func IsBefore(version, other string) bool {
	return slices.Compare(numbers(version), numbers(other)) < 0
}

func numbers(version string) []int {
	var parts []int
	for part := range strings.SplitSeq(version, ".") {
		number, _ := strconv.Atoi(part)
		parts = append(parts, number)
	}
	return parts
}
