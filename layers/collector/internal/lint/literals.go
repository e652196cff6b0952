package lint

import (
	"regexp"
	"strconv"
	"strings"
)

// Literals can be patterns, which the functions compile when they are parsed: regular expressions, whose size grows with
// repetitions, and grok patterns, which refer to others. The prices are in the unit of the grammar's, by measurement.
const (
	// shortLiteral is free: a pattern as people write them.
	shortLiteral = 200
	// bytePrice is that of a byte of a longer one.
	bytePrice = 15
	// repetitionPrice is that of one repetition of `{n}` in a pattern.
	repetitionPrice = 0.2
	// grokPrice is that of a reference in a grok pattern: some stand for a kilobyte.
	grokPrice = 2_000
)

var (
	repetition     = regexp.MustCompile(`\{(\d+)(?:,(\d*))?\}`)
	grokReference  = regexp.MustCompile(`%\{(\w+)`)
	grokDefinition = regexp.MustCompile(`^"(\w+)=`)
)

// compiling is the price of compiling the patterns that the literals of an expression may be.
func compiling(tokens []token) float64 {
	price := 0.0
	for _, t := range tokens {
		if t.kind != stringToken {
			continue
		}
		if len(t.text) > shortLiteral {
			price += bytePrice * float64(len(t.text))
		}
		for _, match := range repetition.FindAllStringSubmatch(t.text, -1) {
			for _, count := range match[1:] {
				repeated, err := strconv.Atoi(count)
				if err == nil {
					price += repetitionPrice * float64(repeated)
				}
			}
		}
	}
	return price + grokPrice*grokReferences(tokens)
}

// grokReferences is the number of references that the grok patterns of an expression come to, once the patterns that the
// expression itself defines are put in the place of their names.
func grokReferences(tokens []token) float64 {
	definitions := map[string]string{}
	var patterns []string
	for _, t := range tokens {
		if t.kind != stringToken || !strings.Contains(t.text, "%{") {
			continue
		}
		if match := grokDefinition.FindStringSubmatch(t.text); match != nil {
			definitions[match[1]] = t.text
		} else {
			patterns = append(patterns, t.text)
		}
	}
	known := map[string]float64{}
	var references func(pattern string) float64
	references = func(pattern string) float64 {
		total := 0.0
		for _, match := range grokReference.FindAllStringSubmatch(pattern, -1) {
			name := match[1]
			definition, defined := definitions[name]
			count, counted := known[name]
			if !counted {
				known[name] = 1 // one that refers to itself is found out by the component
				count = 1
				if defined {
					count += references(definition)
				}
				known[name] = count
			}
			total += count
		}
		return total
	}
	total := 0.0
	for _, pattern := range patterns {
		total += references(pattern)
	}
	return total
}
