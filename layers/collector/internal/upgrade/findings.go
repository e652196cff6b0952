package upgrade

import (
	"bytes"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// renamed are the old types by the new ones.
type renamed map[string]string

func oldWords(lists ...[]Component) renamed {
	found := renamed{}
	for _, list := range lists {
		for _, one := range list {
			if one.RenamedTo != "" {
				found[one.RenamedTo] = one.Type
			}
		}
	}
	return found
}

// in replaces each word of a message that is a new type by the type that the text uses.
func (r renamed) in(message string) string {
	if len(r) == 0 {
		return message
	}
	var replaced strings.Builder
	for message != "" {
		end := strings.IndexFunc(message, func(char rune) bool { return !isOfWord(char) })
		if end < 0 {
			end = len(message)
		}
		word := message[:end]
		if old, is := r[word]; is {
			word = old
		}
		replaced.WriteString(word)
		message = message[end:]
		if end = strings.IndexFunc(message, isOfWord); end < 0 {
			end = len(message)
		}
		replaced.WriteString(message[:end])
		message = message[end:]
	}
	return replaced.String()
}

func isOfWord(char rune) bool { return char == '_' || unicode.IsLetter(char) || unicode.IsNumber(char) }

type place struct{ path, code string }

// newErrors returns those of newFindings without those that are told in another way. These are at a path with as many
// errors of that code on both sides: both versions refuse it there, and the words alone do not tell a second mistake
// from the first. Or one version has another code for it, or tells it of the setting where the other tells it of the
// component.
func newErrors(before, after []Finding, words renamed) []Finding {
	count := func(findings []Finding) map[place]int {
		counts := map[place]int{}
		for _, one := range findings {
			counts[place{words.in(one.ComponentPath), one.Code}]++
		}
		return counts
	}
	old, now := count(before), count(after)
	gone := newFindings(after, before, words)
	return slices.DeleteFunc(newFindings(before, after, words), func(one Finding) bool {
		at := place{words.in(one.ComponentPath), one.Code}
		if old[at] == now[at] {
			return true
		}
		for i, other := range gone {
			if is := (place{words.in(other.ComponentPath), other.Code}); is.tellsOtherwise(at) {
				gone = slices.Delete(gone, i, i+1)
				return true
			}
		}
		return false
	})
}

// tellsOtherwise tells whether two versions refuse the same with another code, or at a setting and above it.
func (p place) tellsOtherwise(other place) bool {
	if p.path == other.path {
		return p.code != other.code
	}
	return p.code == other.code && (strings.HasPrefix(p.path, other.path+"::") || strings.HasPrefix(other.path, p.path+"::"))
}

type identity struct {
	place
	message string
}

// newFindings returns those of after that before does not have, each counted as often as it occurs.
func newFindings(before, after []Finding, words renamed) []Finding {
	identify := func(one Finding) identity {
		message := ""
		if one.Code != "unknown_key" { // whose path ends with the key
			message = gist(words.in(one.Message))
		}
		return identity{place{words.in(one.ComponentPath), one.Code}, message}
	}
	known := map[identity]int{}
	for _, one := range before {
		known[identify(one)]++
	}
	found := []Finding{}
	for _, one := range after {
		if is := identify(one); known[is] > 0 {
			known[is]--
		} else {
			found = append(found, one)
		}
	}
	return found
}

var (
	// hint is what the package validate adds: the nearest name among those that this version has.
	hint = regexp.MustCompile(`; (?:did you mean "[^"]*"\?|there is one among the [a-z ]+|collectors know it from .*|it was removed in .*|use .*)$`)
	// structure is the outermost one: the decoder names it by its Go type, or by nothing.
	structure = regexp.MustCompile(`^'(?:\*?\w+\.[A-Z]\w*)?' `)
	// listed words stand in the order of a Go map: `["resource" "scope" "log"]`.
	listed = regexp.MustCompile(`\["\w+"(?: "\w+")+\]`)
	quotes = strings.NewReplacer("`", `"`, "'", `"`)
)

// gist is the message without what differs between versions, or between two runs, for the same mistake.
func gist(message string) string {
	message = structure.ReplaceAllString(hint.ReplaceAllString(message, ""), "")
	message = listed.ReplaceAllStringFunc(message, func(list string) string {
		return "[" + strings.Join(slices.Sorted(slices.Values(strings.Split(list[1:len(list)-1], " "))), " ") + "]"
	})
	return quotes.Replace(message)
}

// deprecations has the new ones first, otherwise in the order of the text.
func deprecations(before, after []Component, words renamed) []Deprecation {
	type logged struct{ path, message string }
	known := map[logged]bool{}
	for _, one := range before {
		for _, line := range one.Logs {
			known[logged{one.ComponentPath, words.in(line.Message)}] = true
		}
	}
	seen, found, old := map[Deprecation]bool{}, []Deprecation{}, []Deprecation{}
	for _, one := range after {
		for _, line := range one.Logs {
			if level := strings.ToLower(line.Level); level != "warn" && level != "error" {
				continue
			}
			told := Deprecation{one.ComponentPath, one.Line, one.Column, line.Message, !known[logged{one.ComponentPath, words.in(line.Message)}]}
			switch {
			case seen[told]:
				continue
			case told.New:
				found = append(found, told)
			default:
				old = append(old, told)
			}
			seen[told] = true
		}
	}
	return append(found, old...)
}

// changedDefaults returns at most one more than are told.
func changedDefaults(before, after []Component) []ChangedDefault {
	counterparts := map[string]*Component{}
	for i := range before {
		counterparts[before[i].ComponentPath] = &before[i]
	}
	found := []ChangedDefault{}
	for _, one := range after {
		counterpart, has := counterparts[one.ComponentPath]
		if !has {
			continue
		}
		for _, key := range slices.Sorted(maps.Keys(one.Defaults)) {
			old, has := counterpart.Defaults[key]
			// Both versions write the same value in the same way.
			if !has || bytes.Equal(old, one.Defaults[key]) {
				continue
			}
			found = append(found, ChangedDefault{one.ComponentPath, one.Line, one.Column, key, old, one.Defaults[key]})
			if len(found) > maxDefaults {
				return found
			}
		}
	}
	return found
}

func notChecked(from, to *Version) []NotChecked {
	sides := []*Version{to, from}
	if from.Version == to.Version {
		sides = sides[:1]
	}
	found := []NotChecked{}
	for _, side := range sides {
		for _, lacking := range side.Inspection.NotInBuild {
			found = append(found, NotChecked{lacking, side.Version})
		}
	}
	return found
}
