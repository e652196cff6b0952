package capture

import (
	"regexp"
	"strings"
)

const (
	// mostDigits is how many a card number has at most, leastDigits at least.
	mostDigits, leastDigits = 19, 13
	// firstGroup is how many digits a card number begins with before the first sign between them.
	firstGroup = 4
)

// digits finds what may be a card number, with signs between its groups.
var digits = regexp.MustCompile(`[0-9]([ \t._/-]{0,3}[0-9]){12,}`)

// withoutCards takes card numbers out of digits with signs between them. A number begins and ends where a group of digits
// does.
func withoutCards(text string) string {
	var clean strings.Builder
	for from := 0; from < len(text); {
		begins := isDigit(text[from]) && (from == 0 || !isDigit(text[from-1]))
		if begins {
			if end := endOfCard(text, from); end > 0 {
				clean.WriteString(redacted)
				from = end
				continue
			}
		}
		clean.WriteByte(text[from])
		from++
	}
	return clean.String()
}

// endOfCard is where the longest card number ends that begins there, 0 without one. It reads no more digits than a card
// has: a text may be nothing but digits and blanks.
func endOfCard(text string, from int) int {
	end, number := 0, make([]byte, 0, mostDigits)
	// Dates, versions and fractions have other signs than blanks and hyphens, and shorter groups than cards.
	groups, last, others := [mostDigits + 1]int{}, 0, false
	for to := from; to < len(text) && len(number) < mostDigits; to++ {
		if !isDigit(text[to]) {
			others = others || strings.IndexByte(" -", text[to]) < 0
			if isDigit(text[to-1]) {
				last++
			}
			continue
		}
		number = append(number, text[to])
		groups[last]++
		if others && (groups[0] != firstGroup || last > 1 && groups[1] < firstGroup) {
			return end
		}
		if (to+1 == len(text) || !isDigit(text[to+1])) && isCard(string(number)) {
			end = to + 1
		}
	}
	return end
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// isCard reports whether digits are a card number: 13 to 19, with Luhn's check digit, and a first digit of a network.
func isCard(number string) bool {
	if len(number) < leastDigits || len(number) > mostDigits || number[0] < '2' || number[0] > '6' {
		return false
	}
	sum := 0
	for i := range len(number) {
		digit := int(number[len(number)-1-i]) - '0'
		if digit < 0 || digit > 9 {
			return false
		}
		if i%2 == 1 {
			if digit *= 2; digit > 9 {
				digit -= 9
			}
		}
		sum += digit
	}
	return sum%10 == 0
}
