package capture

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strings"

	"github.com/headgate/headgate/layers/collector/secrets"
)

const (
	redacted = secrets.Redacted
	// longestName bounds a text that may be the name of a secret whose value follows in a list.
	longestName = 64
)

// Redaction is what the organization takes out: kinds of secrets that are known here, patterns of its own in RE2's
// notation, and keys of attributes, whatever their case.
type Redaction struct {
	Kinds    []string `json:"kinds"`
	Patterns []string `json:"patterns"`
	Keys     []string `json:"keys"`
}

// The kinds of secrets.
const (
	credentials   = "credentials"
	cardNumbers   = "card_numbers"
	mailAddresses = "mail_addresses"
	randomTexts   = "random_strings"
)

var (
	identifier = regexp.MustCompile(`^([0-9a-f]{16}|[0-9a-f]{32})?$`)
	number     = regexp.MustCompile(`^-?[0-9]{1,20}$`)
)

// redactor takes secrets out of telemetry in OTLP's JSON, and counts the texts from which it took some.
type redactor struct {
	kinds secrets.Kinds
	keys  map[string]bool
	count int
}

func newRedactor(rules Redaction) (*redactor, error) {
	r := &redactor{keys: map[string]bool{}}
	for _, pattern := range rules.Patterns {
		one, err := regexp.Compile(pattern)
		if err != nil {
			return nil, fmt.Errorf("a pattern for redaction is not one: %w", err)
		}
		r.kinds.Own = append(r.kinds.Own, one)
	}
	for _, key := range rules.Keys {
		r.keys[strings.ToLower(secrets.Plain(key))] = true
	}
	for _, kind := range rules.Kinds {
		switch kind {
		case credentials:
			r.kinds.Credentials = true
		case cardNumbers:
			r.kinds.Cards = true
		case mailAddresses:
			r.kinds.Mail = true
		case randomTexts:
			r.kinds.Random = true
		default:
			return nil, fmt.Errorf("this supervisor does not know %.40q, which is to be redacted: upgrade it", kind)
		}
	}
	return r, nil
}

// value returns a value of OTLP's JSON without secrets: every text in it but ids and numbers.
func (r *redactor) value(field string, value any) any {
	switch value := value.(type) {
	case map[string]any:
		return r.object(value)
	case []any:
		for i, one := range value {
			value[i] = r.value(field, one)
		}
		return value
	case string:
		switch {
		case strings.HasSuffix(field, "Id") && identifier.MatchString(value):
			return value
		case isCount(field) && number.MatchString(value):
			return value
		case field == "bytesValue" && value != "":
			// Nothing is known of what they hold.
			r.count++
			return base64.StdEncoding.EncodeToString([]byte(redacted))
		}
		return r.text(value)
	}
	return value
}

// isCount reports whether the field is a number that JSON has as a text: all others are the user's.
func isCount(field string) bool {
	switch field {
	case "intValue", "asInt", "count", "zeroCount", "bucketCounts":
		return true
	}
	return strings.HasSuffix(field, "UnixNano")
}

func (r *redactor) object(object map[string]any) map[string]any {
	key, keyed := object["key"].(string)
	if value, is := object["value"].(map[string]any); is && keyed && r.isSecret(key) && value["stringValue"] != redacted {
		object["value"] = map[string]any{"stringValue": redacted}
		r.count++
	}
	for _, kind := range []string{"intValue", "doubleValue", "asInt", "asDouble"} {
		if number, there := object[kind]; there && r.kinds.Cards && secrets.IsCard(digitsOf(number)) {
			r.count++
			if strings.HasPrefix(kind, "as") {
				// A data point has no text in its place.
				delete(object, kind)
				break
			}
			return map[string]any{"stringValue": redacted}
		}
	}
	if values, is := object["values"].([]any); is {
		r.follows(values)
	}
	for field, value := range object {
		object[field] = r.value(field, value)
	}
	return object
}

// follows takes out what follows the name of a secret in a list: an option in a program's arguments, a pair, or
// `{"name": "password", "value": "..."}`.
func (r *redactor) follows(values []any) {
	named := false
	for _, one := range values {
		item, _ := one.(map[string]any)
		if item == nil {
			continue
		}
		key, keyed := item["key"].(string)
		if named && (!keyed || secrets.IsValueName(key)) {
			clear(item)
			if keyed {
				item["key"], item["value"] = key, map[string]any{"stringValue": redacted}
			} else {
				item["stringValue"] = redacted
			}
			r.count++
			named = false
			continue
		}
		holds := item
		if keyed {
			holds, _ = item["value"].(map[string]any)
		}
		text, is := holds["stringValue"].(string)
		names := is && (r.kinds.Credentials && secrets.IsOption(text) || r.isName(text))
		named = names || named && keyed
	}
}

// isName reports whether a text is nothing but the name of a secret.
func (r *redactor) isName(text string) bool {
	return len(text) <= longestName && !strings.ContainsAny(text, " :=") && r.isSecret(text)
}

func digitsOf(value any) string {
	switch value := value.(type) {
	case string:
		return value
	case json.Number:
		if whole, err := value.Float64(); err == nil && whole == math.Trunc(whole) && math.Abs(whole) < 1e19 {
			return fmt.Sprintf("%.0f", whole)
		}
	}
	return ""
}

func (r *redactor) isSecret(key string) bool {
	return r.keys[strings.ToLower(secrets.Plain(key))] || r.kinds.Credentials && secrets.IsName(key)
}

// text returns a text without what is to be taken out, and counts it.
func (r *redactor) text(text string) string {
	clean := secrets.Redact(text, r.kinds)
	if clean != text {
		r.count++
	}
	return clean
}
