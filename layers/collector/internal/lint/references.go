package lint

import (
	"fmt"
	"strings"

	"github.com/headgate/headgate/layers/collector/internal/pricing"
)

// reference returns the first `${...}` that the collector replaces in a text, "" if there is none. It follows confmap's
// resolver, with `env` as the default scheme.
func reference(text string) string {
	closing := strings.IndexByte(text, '}')
	if closing < 0 {
		return ""
	}
	opening := strings.LastIndex(text[:closing], "${")
	if opening < 0 {
		return reference(text[closing+1:])
	}
	dollars := len(text[:opening]) - len(strings.TrimRight(text[:opening], "$"))
	if dollars%2 == 1 {
		return "" // escaped; the resolver looks no further
	}
	return text[opening : closing+1]
}

// unknowable returns why a text cannot be known before the collector runs, "" if it can.
func unknowable(text string) string {
	if found := reference(text); found != "" {
		return fmt.Sprintf("it contains %s, whose value is not known here", found)
	}
	if at := strings.Index(text, "$orgvar:"); at >= 0 {
		end := at + len("$orgvar:")
		end += pricing.Span(text[end:], pricing.IsWord)
		return fmt.Sprintf("it contains %s, whose value is not known here", text[at:end])
	}
	return ""
}

// unescaped returns what the component reads for a text without references: `$$` stands for `$`.
func unescaped(text string) string { return strings.ReplaceAll(text, "$$", "$") }

// writtenOffset returns the offset in a text that corresponds to an offset in the unescaped text.
func writtenOffset(text string, offset int) int {
	at := 0
	for range offset {
		if strings.HasPrefix(text[at:], "$$") {
			at++
		}
		at++
	}
	return min(at, len(text))
}
