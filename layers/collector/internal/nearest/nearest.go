// Package nearest offers the name that a mistyped one may have meant.
package nearest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// DidYouMean is the end of a message that offers the nearest of the candidates, empty when none is near or they are too many.
func DidYouMean(word string, candidates []string) string { return Offer(Of(word, candidates)) }

// Offer is the end of a message that offers a name, empty without one.
func Offer(name string) string {
	if name == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", name)
}

// Of is the nearest of the candidates, empty when none is near or they are too many.
func Of(word string, candidates []string) string {
	if near := Words(word, candidates, 1); len(near) > 0 {
		return near[0]
	}
	return ""
}

// Words returns the candidates most similar to a word, the most similar first: those that differ only in case, then by the
// number of letters to change, up to a third of them. There are none when the candidates are too many.
func Words(word string, candidates []string, most int) []string {
	const longest, mostCandidates = 100, 500
	if len(word) > longest || len(candidates) > mostCandidates {
		return nil
	}
	type near struct {
		word     string
		distance int
	}
	var all []near
	for _, candidate := range candidates {
		if candidate == word {
			continue
		}
		if distance := editDistance(strings.ToLower(word), strings.ToLower(candidate)); distance <= max(1, len(word)/3) {
			all = append(all, near{candidate, distance})
		}
	}
	slices.SortFunc(all, func(a, b near) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.word, b.word))
	})
	var words []string
	for _, one := range all[:min(most, len(all))] {
		words = append(words, one.word)
	}
	return words
}

// editDistance is the number of insertions, deletions, replacements and swaps of neighbours between two words.
func editDistance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			replaced := last[j]
			if a[i] != b[j] {
				replaced++
			}
			row[j+1] = min(replaced, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
