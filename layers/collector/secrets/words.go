package secrets

import (
	"strings"
	"sync"
)

// search finds the forms that a text may hold by their words, in one pass. Forms are numbered: rules first, then everyWay.
type search struct {
	// groups maps the first two bytes of words to their place in words; 0 stands for none.
	groups [1 << 16]uint16
	words  [][]formWord
	// signs are the words of one byte.
	signs []formWord
	forms int
}

// formWord is a word and the number of its form.
type formWord struct {
	text string
	form int
}

var formWords = sync.OnceValue(func() *search {
	s := &search{words: [][]formWord{nil}}
	for _, rule := range rules() {
		s.add(rule.Keywords)
	}
	for _, way := range everyWay {
		s.add(way.words)
	}
	return s
})

// add gives the next form its words.
func (s *search) add(words []string) {
	for _, text := range words {
		word := formWord{text, s.forms}
		if len(text) == 1 {
			s.signs = append(s.signs, word)
			continue
		}
		group := &s.groups[pairAt(text, 0)]
		if *group == 0 {
			*group = uint16(len(s.words))
			s.words = append(s.words, nil)
		}
		s.words[*group] = append(s.words[*group], word)
	}
	s.forms++
}

func pairAt(text string, at int) int { return int(text[at])<<8 | int(text[at+1]) }

// in returns for each form, by its number, whether a text in lower case has one of its words.
func (s *search) in(lower string) []bool {
	has := make([]bool, s.forms)
	for _, word := range s.signs {
		has[word.form] = has[word.form] || strings.Contains(lower, word.text)
	}
	for at := range len(lower) - 1 {
		for _, word := range s.words[s.groups[pairAt(lower, at)]] {
			if strings.HasPrefix(lower[at:], word.text) {
				has[word.form] = true
			}
		}
	}
	return has
}
