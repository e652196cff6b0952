package lint

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/headgate/headgate/layers/collector/internal/pricing"
)

var numberAsText = &note{
	code:   "number_as_text",
	wayOut: "Compare numbers with numbers, without quotes, or convert the field first with String or Int.",
	noted: []noteExample{
		{"logs.log_record", []string{`severity_number >= "9"`}},
		{"logs.log_record", []string{`severity_text == 9`}},
		{"traces.span", []string{`status.code == "2"`}},
		{"traces.span", []string{`attributes["http.status_code"] == "404"`}},
		{"traces.span", []string{`kind == "SERVER"`}},
		{"logs.log_record", []string{`Len(body) > "10"`}},
		{"log_statements", []string{`set(log.attributes["a"], 1) where log.severity_number == "ERROR"`}},
	},
	silent: []noteExample{
		{"logs.log_record", []string{`severity_number >= 9`}},
		{"logs.log_record", []string{`severity_text == "9"`}},
		{"traces.span", []string{`status.code == STATUS_CODE_ERROR`}},
		{"traces.span", []string{`kind.string == "Server"`}},
		{"traces.span", []string{`attributes["anything"] == "404"`}},
		{"logs.log_record", []string{`String(severity_number) == "9"`}},
	},
	check: func(e *parsedExpression) string {
		_, condition := e.where()
		for _, part := range atoms(condition) {
			sides := split(part, pricing.ComparisonToken)
			if len(sides) != 2 {
				continue
			}
			for i, side := range sides {
				of, literal := typeOf(side), typeOfLiteral(sides[1-i])
				if of != "" && literal != "" && of != literal {
					return fmt.Sprintf("%s is a %s, and %s is a %s: they are never equal",
						e.textOf(side), of, e.textOf(sides[1-i]), literal)
				}
			}
		}
		return ""
	},
}

// token is a shorter name in this package.
type token = pricing.Token

const (
	aNumber = "number"
	aText   = "text"
)

// numberFields and textFields are the ends of paths whose type OTTL fixes; numberAttributes are attributes that the
// semantic conventions define as integers.
var (
	numberFields = regexp.MustCompile(`(^|\.)(severity_number|status\.code|kind|\w+_unix_nano|dropped_\w+_count|aggregation_temporality)$`)
	textFields   = regexp.MustCompile(`(^|\.)(severity_text|kind\.string|trace_id\.string|span_id\.string|parent_span_id\.string|status\.message|schema_url|event_name|unit)$`)

	numberAttributes = []string{
		"http.status_code", "http.response.status_code", "http.request.body.size", "http.response.body.size", "server.port",
		"client.port", "net.peer.port", "net.host.port", "network.peer.port", "network.local.port", "url.port", "thread.id",
		"process.pid", "rpc.grpc.status_code",
	}
	numberFunctions = []string{
		"Len", "Int", "Double", "Hour", "Minute", "Second", "Day", "Month", "Year", "UnixSeconds", "UnixMilli", "UnixNano",
		"UnixMicro", "Hours", "Minutes", "Seconds", "Milliseconds", "Microseconds", "Nanoseconds", "ParseInt",
	}
	textFunctions = []string{"String", "Concat", "ToLowerCase", "ToUpperCase", "Substring", "Trim", "SHA256", "Hex", "Format"}
)

// typeOf returns the type of one side of a comparison, "" if it may have several.
func typeOf(side []token) string {
	if all := calls(side); len(all) > 0 && all[0].after == len(side) && pricing.IsName(side[0]) {
		switch {
		case slices.Contains(numberFunctions, all[0].name):
			return aNumber
		case slices.Contains(textFunctions, all[0].name):
			return aText
		}
		return ""
	}
	found := paths(side)
	if len(found) != 1 || strings.ContainsAny(textOfTokens(side), "+*/") {
		return ""
	}
	_, key, indexed := lastKey(found[0])
	switch {
	case indexed && slices.Contains(numberAttributes, key):
		return aNumber
	case indexed:
		return ""
	case numberFields.MatchString(found[0]):
		return aNumber
	case textFields.MatchString(found[0]):
		return aText
	}
	return ""
}

func typeOfLiteral(side []token) string {
	if len(side) != 1 {
		return ""
	}
	switch side[0].Kind {
	case pricing.StringToken:
		return aText
	case pricing.IntToken, pricing.FloatToken:
		return aNumber
	}
	return ""
}

func textOfTokens(tokens []token) string {
	var text strings.Builder
	for _, t := range tokens {
		if t.Kind != pricing.StringToken {
			text.WriteString(t.Text)
		}
	}
	return text.String()
}

// matches tells whether a pattern that is one text matches a key.
func matches(pattern []token, key string) bool {
	text, isText := literalText(pattern)
	if !isText {
		return false
	}
	expression, err := regexp.Compile(text)
	return err == nil && expression.MatchString(key)
}
