// Package nearest offers the name that a mistyped one may have meant.
package nearest

import "fmt"

// DidYouMean is the end of a message that offers the nearest of the candidates, empty when none is near or they are too many.
func DidYouMean(word string, candidates []string) string {
	if best := Of(word, candidates); best != "" {
		return fmt.Sprintf("; did you mean %q?", best)
	}
	return ""
}

// Of is the nearest of the candidates, empty when none is near or they are too many.
func Of(word string, candidates []string) string {
	const longest, most = 100, 500
	if len(word) > longest || len(candidates) > most {
		return ""
	}
	best, distance := "", len(word)/4+2
	for _, candidate := range candidates {
		if candidate == word {
			continue
		}
		if d := editDistance(word, candidate); d < distance {
			best, distance = candidate, d
		}
	}
	return best
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
