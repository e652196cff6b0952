package pricing

import (
	"math"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/elastic/go-grok/patterns"
)

// Literals can be patterns, which are compiled when they are read: regular expressions, whose size grows with
// repetitions, and grok patterns, which refer to others. Prices have the grammar's unit and are measured: a processor
// compiles two to five instructions of a regular expression in a microsecond.
const (
	// shortPattern is the length up to which a pattern is free. Usual patterns are shorter.
	shortPattern = 200
	// bytePrice is the price of a byte of a longer one.
	bytePrice = 2
	// foldedPrice is the price of a case-insensitive range of characters beyond ASCII: 2 ms.
	foldedPrice = 4_000
	// grokPrice is the price of a grok pattern: the library fills a table with all its named patterns for each.
	grokPrice = 300
	// maxGrok is how long a grok pattern may be with every name replaced. The library's longest is 14 KB.
	maxGrok = 128 << 10
)

var (
	repetition     = regexp.MustCompile(`\{(\d+)(?:,(\d*))?\}`)
	folds          = regexp.MustCompile(`\(\?[a-zA-Z]*i`)
	foldedRange    = regexp.MustCompile(`-(?:\\|[^\x00-\x7f])`)
	grokReference  = regexp.MustCompile(`%\{(\w+)(?::[\w+.]+(?::\w+)?)?\}`)
	grokDefinition = regexp.MustCompile(`(?s)^([^=:]+)=(.*)$`)
)

// compiling returns the price of compiling an expression's literals as patterns.
func compiling(tokens []Token) float64 {
	price := 0.0
	var literals []string
	for _, t := range tokens {
		if t.Kind != StringToken {
			continue
		}
		literal, err := strconv.Unquote(t.Text)
		if err != nil {
			literal = t.Text
		}
		price += Pattern(literal)
		literals = append(literals, literal)
	}
	calls := 0
	for _, name := range Names(tokens) {
		if name.Text == "ExtractGrokPatterns" {
			calls++
		}
	}
	if calls > 0 {
		price += float64(calls) * (grokPrice + dearestGrok(literals))
	}
	return price
}

// Pattern returns the price of compiling a text as a regular expression, which any text in a configuration may be.
func Pattern(text string) float64 {
	price := 0.0
	if len(text) > shortPattern {
		price = bytePrice * float64(len(text))
	}
	if folds.MatchString(text) {
		price += foldedPrice * float64(len(foldedRange.FindAllStringIndex(text, -1)))
		if price > MaxEffort {
			return price // reading it would take as long here
		}
	}
	repeats := repetition.FindAllStringSubmatch(text, -1)
	if len(repeats) == 0 {
		return price
	}
	if parsed, err := syntax.Parse(text, syntax.Perl); err == nil {
		if size := instructions(parsed); size > shortPattern {
			price += size
		}
		return price
	}
	// It is not a pattern as a whole, but a part of it may be one.
	for _, match := range repeats {
		for _, count := range match[1:] {
			if repeated, err := strconv.Atoi(count); err == nil && repeated <= 1000 {
				price += float64(repeated) * float64(min(len(text), 1000)) / 10
			}
		}
	}
	return price
}

// instructions returns the size of the program that a regular expression is compiled to.
func instructions(pattern *syntax.Regexp) float64 {
	size := 1.0
	if pattern.Op == syntax.OpLiteral {
		size = float64(len(pattern.Rune))
	}
	for _, part := range pattern.Sub {
		size += instructions(part)
	}
	if pattern.Op == syntax.OpRepeat {
		size *= float64(max(pattern.Min, pattern.Max, 1))
	}
	return size
}

// dearestGrok returns the price of the costliest literal as a grok pattern. Every literal also counts as a definition:
// an expression may have several calls, each with definitions of its own.
func dearestGrok(literals []string) float64 {
	g := grok{definitions: map[string][]string{}, lengths: map[string]float64{}}
	for _, literal := range literals {
		if match := grokDefinition.FindStringSubmatch(literal); match != nil {
			g.definitions[match[1]] = append(g.definitions[match[1]], match[2])
		}
	}
	dearest := 0.0
	for _, literal := range literals {
		if length := g.length(literal); length > maxGrok {
			return math.Inf(1)
		}
		var whole strings.Builder
		g.expand(&whole, literal)
		// It is read twice: to parse it, and to compile the program.
		price := bytePrice*float64(whole.Len()) + Pattern(whole.String())
		if whole.Len() > len(literal) {
			price += float64(utf8.RuneCountInString(whole.String()))
		}
		dearest = max(dearest, price)
	}
	return dearest
}

// grok replaces the names in grok patterns as the library does, by the longest of several definitions.
type grok struct {
	definitions map[string][]string
	lengths     map[string]float64
}

// length returns the length of a pattern with every name replaced, without replacing any. It is infinite for a pattern
// that refers to itself, which the library replaces a thousand times.
func (g grok) length(pattern string) float64 {
	total := float64(len(pattern))
	for _, match := range grokReference.FindAllStringSubmatch(pattern, -1) {
		total += g.lengthOf(match[1]) + float64(len("(?P<>)"))
	}
	return total
}

func (g grok) lengthOf(name string) float64 {
	known, measured := g.lengths[name]
	if measured {
		return known
	}
	g.lengths[name] = math.Inf(1)
	longest := 0.0
	for _, definition := range g.meanings(name) {
		longest = max(longest, g.length(definition))
	}
	g.lengths[name] = longest
	return longest
}

// meanings returns the definitions of a name: the expression's own, or the library's.
func (g grok) meanings(name string) []string {
	if own, defined := g.definitions[name]; defined {
		return own
	}
	for _, collection := range collections {
		if definition, found := collection[name]; found {
			return []string{definition}
		}
	}
	return nil
}

func (g grok) expand(into *strings.Builder, pattern string) {
	end := 0
	for _, match := range grokReference.FindAllStringSubmatchIndex(pattern, -1) {
		into.WriteString(pattern[end:match[0]])
		end = match[1]
		longest, length := "", -1.0
		for _, definition := range g.meanings(pattern[match[2]:match[3]]) {
			if own := g.length(definition); own > length {
				longest, length = definition, own
			}
		}
		into.WriteString("(")
		g.expand(into, longest)
		into.WriteString(")")
	}
	into.WriteString(pattern[end:])
}

// collections are the library's patterns, those of `grok.NewComplete`.
var collections = []map[string]string{
	patterns.Default, patterns.AWS, patterns.Bind9, patterns.Bro, patterns.Exim, patterns.HAProxy, patterns.Httpd,
	patterns.Firewalls, patterns.Java, patterns.Junos, patterns.Maven, patterns.MCollective, patterns.MongoDB,
	patterns.PostgreSQL, patterns.Rails, patterns.Redis, patterns.Ruby, patterns.Squid, patterns.Syslog,
}
