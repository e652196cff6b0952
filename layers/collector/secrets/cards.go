package secrets

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

// digits finds what may be a card number, with signs between its groups, also encoded for an address or a text of JSON.
var digits = regexp.MustCompile(`[0-9](?:(?:%(?:20|2[BbCcDd]|09|0[AaDd])|\\[nrt]|[\s.,+_/-]){0,3}[0-9]){12,}`)

// withoutCards takes card numbers out of digits with signs between them. A number begins and ends where a group of digits
// does.
func withoutCards(text string) string {
	var clean strings.Builder
	for from := 0; from < len(text); {
		if skip := signAt(text, from); skip > 0 {
			clean.WriteString(text[from : from+skip])
			from += skip
			continue
		}
		if from == 0 || !isDigit(text[from-1]) || endsSign(text, from) {
			if end := endOfCard(text, from); end > 0 {
				clean.WriteString(Redacted)
				from = end
				continue
			}
		}
		clean.WriteByte(text[from])
		from++
	}
	return clean.String()
}

// signAt is the length of the sign between digits that begins there, 0 for none.
func signAt(text string, at int) int {
	switch {
	case isDigit(text[at]):
		return 0
	case text[at] == '%' && at+2 < len(text):
		return len("%20")
	case text[at] == '\\' && at+1 < len(text):
		return len(`\n`)
	}
	return 1
}

// endsSign reports whether the digit before is the last of an encoded sign.
func endsSign(text string, at int) bool { return at >= len("%20") && text[at-len("%20")] == '%' }

// endOfCard is where the longest card number ends that begins there, 0 without one. It reads no more digits than a card
// has: a text may be nothing but digits and blanks.
func endOfCard(text string, from int) int {
	end, number := 0, make([]byte, 0, mostDigits)
	// Dates, versions, fractions and lists of numbers have other signs than blanks and hyphens, and other groups than cards.
	groups, last, others, strict := [mostDigits + 1]int{}, 0, false, false
	for to := from; to < len(text) && len(number) < mostDigits; {
		if skip := signAt(text, to); skip > 0 {
			others = others || strings.IndexByte(" -", text[to]) < 0
			strict = strict || strings.IndexByte(",\n\r\\", text[to]) >= 0
			if groups[last] > 0 {
				last++
			}
			to += skip
			continue
		}
		number = append(number, text[to])
		groups[last]++
		if others && (groups[0] != firstGroup || last > 1 && groups[1] < firstGroup) {
			return end
		}
		ends := to+1 == len(text) || !isDigit(text[to+1])
		if ends && (!strict || isGrouped(groups[:last+1])) && IsCard(string(number)) {
			end = to + 1
		}
		to++
	}
	return end
}

// isGrouped reports whether groups of digits are those of a printed card.
func isGrouped(groups []int) bool {
	switch len(groups) {
	case 3:
		return groups[0] == 4 && groups[1] == 6 && groups[2] >= 4
	case 4:
		return groups[0] == 4 && groups[1] == 4 && groups[2] == 4 && groups[3] == 4
	case 5:
		return groups[0] == 4 && groups[1] == 4 && groups[2] == 4 && groups[3] == 4 && groups[4] <= 3
	}
	return false
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// IsCard reports whether digits are a card number: 13 to 19, with Luhn's check digit, and a first digit of a network.
func IsCard(number string) bool {
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
