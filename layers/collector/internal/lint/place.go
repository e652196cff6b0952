package lint

import (
	"errors"
	"regexp"
	"strconv"
	"strings"

	"github.com/headgate/headgate/layers/collector/internal/pricing"
)

// offending returns the offset, in what the component reads, of the token that the error is about.
//
// A syntax error has a position. Other errors describe it in words: which argument of which call, which function, path
// or segment of a path. The search follows these words and looks up the name at their end.
func (e *expression) offending() int {
	var syntax syntaxError
	if errors.As(e.err, &syntax) {
		return min(max(syntax.Position().Offset-len(e.field.prefix), 0), len(e.resolved))
	}
	tokens := pricing.Tokenize(e.resolved)
	if len(tokens) == 0 {
		return 0
	}
	s := &search{tokens: tokens, to: len(tokens)}
	message := parserError(e.err).Error()
	message = s.follow(message)
	if start, found := s.named(message); found {
		return start
	}
	return s.tokens[s.from].Start
}

// search is narrowed from all tokens to those that an error is about.
type search struct {
	tokens   []pricing.Token
	from, to int
	// call is the call whose arguments the rest of the message is about.
	call *pricing.Name
}

var (
	inCall     = regexp.MustCompile(`^error while parsing arguments for call to "(\w+)": `)
	inArgument = regexp.MustCompile(`^invalid argument at position (\d+): `)
	inList     = regexp.MustCompile(`^error while parsing list argument at index (\d+): `)
)

// follow narrows the search to the part that a message names, and returns the rest of the message.
func (s *search) follow(message string) string {
	for {
		if match := inCall.FindStringSubmatch(message); match != nil {
			if !s.enter(match[1]) {
				return message
			}
			message = message[len(match[0]):]
		} else if match := inArgument.FindStringSubmatch(message); match != nil && s.call != nil {
			index, err := strconv.Atoi(match[1])
			if err != nil || !s.part(s.call.After, index) {
				return message
			}
			s.call = nil
			message = message[len(match[0]):]
		} else if match := inList.FindStringSubmatch(message); match != nil {
			index, err := strconv.Atoi(match[1])
			if err != nil || !s.part(s.from, index) {
				return message
			}
			message = message[len(match[0]):]
		} else {
			return message
		}
	}
}

// enter narrows the search to the first call of a function.
func (s *search) enter(function string) bool {
	for _, name := range pricing.Names(s.tokens) {
		if name.First >= s.from && name.After <= s.to && name.Called && name.Text == function {
			s.call = &name
			s.from = name.First
			s.to = min(pricing.Closing(s.tokens, name.After)+1, len(s.tokens))
			return true
		}
	}
	return false
}

// part narrows the search to one of the comma-separated parts between the bracket at open and the one that closes it.
func (s *search) part(open, index int) bool {
	end := pricing.Closing(s.tokens, open)
	from, depth := open+1, 0
	for i := open + 1; i <= end && i < len(s.tokens); i++ {
		if i == end || depth == 0 && s.tokens[i].Text == "," && s.tokens[i].Kind == pricing.PunctuationToken {
			if index == 0 {
				s.from, s.to = from, i
				return from < i
			}
			index--
			from = i + 1
		}
		depth += pricing.Nesting(s.tokens[i])
	}
	return false
}

var (
	undefinedFunction = regexp.MustCompile(`undefined function "?(\w+)"?`)
	functionNamed     = regexp.MustCompile(`(?:function|names must start with an? \w+ letter but got) ["'](\w+)["']`)
	editorIndexed     = regexp.MustCompile(`may be indexed, not editors, but got (\w+)`)
	enumSymbol        = regexp.MustCompile(`enum symbol,? "?(\w+)"?`)
	parameter         = regexp.MustCompile(`no such parameter: (\w+)`)
	badSegment        = regexp.MustCompile(`segment "([^"]*)" from path "(.*?)" is not a valid path`)
	pathNamed         = regexp.MustCompile(`(?:from|for) path "(.*?)"(?: is|,)`)
	unusedSection     = regexp.MustCompile(`the (?:path section|keys indexing) "(\w+)"`)
	cachePath         = regexp.MustCompile(`path "(.*?)" `)
	notACandidate     = regexp.MustCompile(`context "(\w+)"`)
	quoted            = regexp.MustCompile("[\"'`]([^\"'`]+)[\"'`]")
)

// named looks up what a message names.
func (s *search) named(message string) (int, bool) {
	for _, pattern := range []*regexp.Regexp{undefinedFunction, functionNamed, editorIndexed} {
		if match := pattern.FindStringSubmatch(message); match != nil {
			if start, found := s.name(match[1], func(n pricing.Name) bool { return n.Called }); found {
				return start, true
			}
			if start, found := s.name(match[1], anyName); found {
				return start, true
			}
		}
	}
	if match := badSegment.FindStringSubmatch(message); match != nil {
		return s.segment(match[1], match[2])
	}
	if match := pathNamed.FindStringSubmatch(message); match != nil {
		return s.segment("", match[1])
	}
	for _, pattern := range []*regexp.Regexp{enumSymbol, parameter, unusedSection} {
		if match := pattern.FindStringSubmatch(message); match != nil {
			if start, found := s.name(match[1], anyName); found {
				return start, true
			}
		}
	}
	if match := cachePath.FindStringSubmatch(message); match != nil {
		if start, found := s.segment("", match[1]); found {
			return start, true
		}
	}
	if match := notACandidate.FindStringSubmatch(message); match != nil {
		if start, found := s.name(match[1], func(n pricing.Name) bool { return !n.Called && !n.Segment }); found {
			return start, true
		}
	}
	return s.literal(message)
}

func anyName(pricing.Name) bool { return true }

// name returns the offset of the first name with this text for which holds is true.
func (s *search) name(text string, holds func(pricing.Name) bool) (int, bool) {
	for _, name := range pricing.Names(s.tokens) {
		if name.First >= s.from && name.After <= s.to && name.Text == text && holds(name) {
			return name.Start, true
		}
	}
	return 0, false
}

// segment returns the offset of a segment of a path, or of the path if no segment is given. The parser writes a path
// without the quotes of its keys, and after the context that a component has added.
func (s *search) segment(segment, path string) (int, bool) {
	first, rest, _ := strings.Cut(path, ".")
	for _, wanted := range []string{path, rest} {
		if wanted == "" {
			continue
		}
		for _, name := range pricing.Names(s.tokens) {
			if name.First < s.from || name.After > s.to || name.Called || name.Segment {
				continue
			}
			end := pathEnd(s.tokens, name.First)
			if plainPath(s.tokens[name.First:end]) != wanted {
				continue
			}
			if segment == "" || segment == first && wanted == rest {
				return name.Start, true
			}
			for _, part := range pricing.Names(s.tokens[:end]) {
				if part.First >= name.First && part.Text == segment {
					return part.Start, true
				}
			}
			return name.Start, true
		}
	}
	return s.name(segment, anyName)
}

// pathEnd returns the index after a path: names joined by dots, each with keys in brackets.
func pathEnd(tokens []pricing.Token, at int) int {
	for at < len(tokens) {
		for at < len(tokens) && pricing.IsName(tokens[at]) {
			at++
		}
		for at < len(tokens) && tokens[at].Text == "[" {
			at = min(pricing.Closing(tokens, at)+1, len(tokens))
		}
		if at >= len(tokens) || tokens[at].Text != "." {
			break
		}
		at++
	}
	return at
}

// plainPath returns a path as the parser writes it in an error.
func plainPath(tokens []pricing.Token) string {
	var plain strings.Builder
	for _, t := range tokens {
		if t.Kind == pricing.StringToken {
			if text, err := strconv.Unquote(t.Text); err == nil {
				plain.WriteString(text)
				continue
			}
		}
		plain.WriteString(t.Text)
	}
	return plain.String()
}

// literal returns the offset of a string or name that the message quotes: an invalid pattern, a wrong format.
func (s *search) literal(message string) (int, bool) {
	tokens := s.tokens[s.from:s.to]
	for _, t := range tokens {
		if t.Kind == pricing.StringToken && len(t.Text) > 2 {
			text, err := strconv.Unquote(t.Text)
			if err == nil && (strings.Contains(message, text) || strings.Contains(message, strconv.Quote(text))) {
				return t.Start, true
			}
		}
	}
	for _, match := range quoted.FindAllStringSubmatch(message, -1) {
		for _, t := range tokens {
			if t.Kind == pricing.StringToken && strings.Contains(t.Text, match[1]) {
				return t.Start, true
			}
		}
		if start, found := s.name(match[1], anyName); found {
			return start, true
		}
	}
	return 0, false
}
