package mutants

import (
	"fmt"
	"strings"

	"github.com/headgate/headgate/layers/collector/internal/pricing"
	"go.yaml.in/yaml/v3"
)

// expression adds the candidates inside of an OTTL text.
func (p *part) expression(node *yaml.Node) {
	text := node.Value
	tokens := pricing.Tokenize(text)
	from := 0
	if p.ottl[node] == pricing.Statement {
		from = whereIn(tokens)
		if from < 0 {
			p.numbers(node, tokens, 0)
			return
		}
		condition := shortened(text[tokens[from].End:])
		p.inside(node, tokens[from].Start, candidate{
			kind:        Where,
			change:      change{scalar: node, start: tokens[from-1].End, end: len(text)},
			description: fmt.Sprintf("the statement %s applies to all, without its where", shortened(text[:tokens[from-1].End])),
			wouldNotice: fmt.Sprintf("a record for which %s does not hold, and a rule that it stays as it is", condition),
		})
		from++
	}
	p.operands(node, tokens, from)
	p.comparisons(node, tokens, from)
	p.numbers(node, tokens, 0)
}

// inside adds a candidate with its place in a scalar.
func (p *part) inside(node *yaml.Node, offset int, one candidate) {
	if position, ok := p.at(node, offset); ok {
		one.position = position
		p.add(one)
	}
}

// whereIn returns the index of the `where` of a statement, -1 if it has none.
func whereIn(tokens []pricing.Token) int {
	depth := 0
	for i, token := range tokens {
		depth += pricing.Nesting(token)
		if depth == 0 && token.Text == "where" && i > 0 {
			return i
		}
	}
	return -1
}

// operands adds the candidates that leave out one side of the `and` and `or` of a condition that are not in brackets. Of
// both, only the `or`s: an `and` beside one binds closer.
func (p *part) operands(node *yaml.Node, tokens []pricing.Token, from int) {
	word, places := pricing.AndToken, []int{}
	for _, kind := range []pricing.TokenKind{pricing.OrToken, pricing.AndToken} {
		depth := 0
		for i := from; i < len(tokens); i++ {
			depth += pricing.Nesting(tokens[i])
			if depth == 0 && tokens[i].Kind == kind {
				places = append(places, i)
			}
		}
		if len(places) > 0 {
			word = kind
			break
		}
	}
	if len(places) == 0 || len(places) > 20 {
		return
	}
	for i := range len(places) + 1 {
		// A side with the operator before it; the first with the one behind it.
		first, last := from, len(tokens)-1
		if i > 0 {
			first = places[i-1] + 1
		}
		if i < len(places) {
			last = places[i] - 1
		}
		if first > last {
			return // not OTTL
		}
		one := change{scalar: node, start: tokens[max(first-1, 0)].Start, end: tokens[last].End}
		if i == 0 {
			one.start, one.end = tokens[first].Start, tokens[places[0]+1].Start
		} else {
			one.start = tokens[places[i-1]-1].End
		}
		side := shortened(node.Value[tokens[first].Start:tokens[last].End])
		noticing := fmt.Sprintf("a record for which %s does not hold but the rest does", side)
		if word == pricing.OrToken {
			noticing = fmt.Sprintf("a record for which only %s holds", side)
		}
		p.inside(node, tokens[first].Start, candidate{
			kind: Operand, change: one,
			description: fmt.Sprintf("%s is left out of the condition", side), wouldNotice: noticing,
		})
	}
}

var otherComparison = map[string]string{"<": "<=", "<=": "<", ">": ">=", ">=": ">"}

// comparisons adds the candidates that include or exclude the limit of a comparison.
func (p *part) comparisons(node *yaml.Node, tokens []pricing.Token, from int) {
	for i := from; i < len(tokens); i++ {
		other, known := otherComparison[tokens[i].Text]
		if !known || tokens[i].Kind != pricing.ComparisonToken || i+1 >= len(tokens) {
			continue
		}
		p.inside(node, tokens[i].Start, candidate{
			kind:        Comparison,
			change:      change{scalar: node, start: tokens[i].Start, end: tokens[i].End, with: other},
			description: fmt.Sprintf("the comparison is %s, not %s", other, tokens[i].Text),
			wouldNotice: fmt.Sprintf("a record at the limit, %s", shortened(rightSide(node.Value, tokens[i+1:]))),
		})
	}
}

// rightSide is the text of the operand that these tokens begin with: up to an `and`, an `or` or the bracket around it.
func rightSide(text string, tokens []pricing.Token) string {
	end, depth := tokens[0].End, 0
	for _, token := range tokens {
		depth += pricing.Nesting(token)
		if depth < 0 || depth == 0 && (token.Kind == pricing.AndToken || token.Kind == pricing.OrToken) {
			break
		}
		end = token.End
	}
	return text[tokens[0].Start:end]
}

// numbers adds the candidates that change a number among the arguments of a function or the sides of a comparison.
func (p *part) numbers(node *yaml.Node, tokens []pricing.Token, from int) {
	for i := from; i < len(tokens); i++ {
		token := tokens[i]
		if token.Kind != pricing.IntToken && token.Kind != pricing.FloatToken {
			continue
		}
		if i > 0 && tokens[i-1].Text == "[" && i+1 < len(tokens) && tokens[i+1].Text == "]" {
			continue // an index
		}
		other, ok := otherNumber(strings.TrimPrefix(token.Text, "+"))
		if !ok {
			continue
		}
		if token.Kind == pricing.FloatToken && !strings.Contains(other, ".") {
			other += ".0"
		}
		p.inside(node, token.Start, candidate{
			kind:        Number,
			change:      change{scalar: node, start: token.Start, end: token.End, with: other},
			description: fmt.Sprintf("the number is %s, not %s", other, token.Text),
			wouldNotice: fmt.Sprintf("a record on which %s and %s decide otherwise, and a rule on what becomes of it", token.Text, other),
		})
	}
}
