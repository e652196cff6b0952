package compare

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/headgate/headgate/layers/collector/internal/operation"
)

// logs is a document with one resource and these records.
func logs(service string, records ...string) string {
	return `{"resourceLogs":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"` + service +
		`"}}]},"scopeLogs":[{"scope":{"name":"s"},"logRecords":[` + strings.Join(records, ",") + `]}]}]}` + "\n"
}

func log(body string, attributes ...string) string {
	pairs := []string{}
	for i := 0; i < len(attributes); i += 2 {
		pairs = append(pairs, `{"key":"`+attributes[i]+`","value":{"stringValue":"`+attributes[i+1]+`"}}`)
	}
	return `{"body":{"stringValue":"` + body + `"},"attributes":[` + strings.Join(pairs, ",") + `]}`
}

func spans(spans ...string) string {
	return `{"resourceSpans":[{"scopeSpans":[{"spans":[` + strings.Join(spans, ",") + `]}]}]}`
}

func span(id int, rest string) string {
	return fmt.Sprintf(`{"traceId":"000102030405060708090a0b0c0d0e0f","spanId":"%016x"%s}`, id, rest)
}

func metrics(metrics ...string) string {
	return `{"resourceMetrics":[{"scopeMetrics":[{"metrics":[` + strings.Join(metrics, ",") + `]}]}]}`
}

func outcome(t *testing.T, asked Request) *Result {
	t.Helper()
	result, err := Outputs(context.Background(), asked)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// told writes differences as lines: change, places, and fields.
func told(result *Result) string {
	var lines []string
	place := func(at *int) string {
		if at == nil {
			return "-"
		}
		return fmt.Sprint(*at)
	}
	for _, one := range result.Differences {
		line := fmt.Sprintf("%s %s %s:%s", one.Signal, one.Change, place(one.Left), place(one.Right))
		for _, field := range one.Fields {
			line += fmt.Sprintf(" | %s %s %s>%s", field.Change, field.Path, field.Left, field.Right)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// mapped is a record whose body is a map of three equal numbers, and a last one.
func mapped(number, last int) string {
	body := ""
	for _, key := range []string{"one", "two", "three"} {
		body += fmt.Sprintf(`{"key":%q,"value":{"intValue":"%d"}},`, key, number)
	}
	return fmt.Sprintf(`{"body":{"kvlistValue":{"values":[%s{"key":"last","value":{"intValue":"%d"}}]}}}`, body, last)
}

func TestDifferencesAreFoundFieldByField(t *testing.T) {
	number := func(value string) string {
		return metrics(`{"name":"m","gauge":{"dataPoints":[{"attributes":[{"key":"a","value":{"intValue":"1"}}],` + value + `}]}}`)
	}
	for _, one := range []struct {
		name, left, right, told string
	}{
		{"nothing", "", "{}\n", ""},
		{"the same in another order and other batches",
			logs("a", log("one"), log("two")) + logs("b", log("three")), logs("b", log("three")) + logs("a", log("two")) + logs("a", log("one")), ""},
		{"the same attributes in another order", logs("a", log("x", "k", "1", "l", "2")), logs("a", log("x", "l", "2", "k", "1")), ""},
		{"a record twice", logs("a", log("x")), logs("a", log("x"), log("x")), "logs added -:1"},
		{"a record less", logs("a", log("x"), log("y")), logs("a", log("y")), "logs missing 0:-"},
		{"an attribute added, missing, changed",
			logs("a", log("x", "k", "1", "l", "2")), logs("a", log("x", "k", "3", "m", "4")),
			`logs changed 0:0 | changed attributes["k"] {"stringValue":"1"}>{"stringValue":"3"}` +
				` | missing attributes["l"] {"stringValue":"2"}> | added attributes["m"] >{"stringValue":"4"}`},
		{"the only attribute missing", logs("a", log("x", "k", "1")), logs("a", log("x")),
			`logs changed 0:0 | missing attributes["k"] {"stringValue":"1"}>`},
		{"an attribute without a value", logs("a", `{"attributes":[{"key":"k","value":{}}]}`), logs("a", `{}`),
			`logs changed 0:0 | missing attributes["k"] {}>`},
		{"another type", logs("a", `{"body":{"stringValue":"5"}}`), logs("a", `{"body":{"intValue":"5"}}`),
			`logs changed 0:0 | changed body {"stringValue":"5"}>{"intValue":"5"}`},
		{"a body replaced", logs("a", log("secret is 1"), log("fine")), logs("a", log("secret is *"), log("fine")),
			`logs changed 0:0 | changed body {"stringValue":"secret is 1"}>{"stringValue":"secret is *"}`},
		{"every body replaced", logs("a", log("x"), log("y")), logs("a", log("***"), log("***")),
			`logs changed 0:0 | changed body {"stringValue":"x"}>{"stringValue":"***"}` + "\n" +
				`logs changed 1:1 | changed body {"stringValue":"y"}>{"stringValue":"***"}`},
		{"a body as a map", logs("a", `{"body":{"kvlistValue":{"values":[{"key":"b","value":{"arrayValue":{"values":[{"intValue":"1"},{"intValue":"2"}]}}}]}}}`),
			logs("a", `{"body":{"kvlistValue":{"values":[{"key":"b","value":{"arrayValue":{"values":[{"intValue":"1"},{"intValue":"3"}]}}}]}}}`),
			`logs changed 0:0 | changed body["b"][1] {"intValue":"2"}>{"intValue":"3"}`},
		{"another resource", logs("a", log("x"), log("y")), logs("a", log("x")) + logs("b", log("y")),
			`logs changed 1:1 | changed resource.attributes["service.name"] {"stringValue":"a"}>{"stringValue":"b"}`},
		{"another scope", logs("a", log("x")), strings.Replace(logs("a", log("x")), `{"name":"s"}`, `{}`, 1),
			`logs changed 0:0 | missing scope.name "s">`},
		{"severity", logs("a", `{"severityNumber":9,"body":{"stringValue":"x"}}`), logs("a", `{"severityNumber":17,"body":{"stringValue":"x"}}`),
			`logs changed 0:0 | changed severity_number 9>17`},
		{"a parsed time", logs("a", log("x")), logs("a", `{"timeUnixNano":"1700000000000000000","body":{"stringValue":"x"}}`),
			`logs changed 0:0 | added time_unix_nano >"1700000000000000000"`},
		{"a span by its id", spans(span(1, `,"name":"a"`), span(2, `,"name":"b","status":{"code":2}`)), spans(span(2, `,"name":"c"`), span(1, `,"name":"a"`)),
			`traces changed 1:0 | changed name "b">"c" | missing status.code 2>`},
		{"an event of a span", spans(span(1, `,"events":[{"name":"e","timeUnixNano":"1"},{"name":"f"}]`)), spans(span(1, `,"events":[{"name":"f"},{"name":"e","timeUnixNano":"2"},{"name":"g"}]`)),
			`traces changed 0:0 | changed events[0].time_unix_nano "1">"2" | added events[2] >{"name":"g"}`},
		{"a span with a new id", spans(span(1, `,"name":"a","kind":2,"attributes":[{"key":"k","value":{"stringValue":"v"}}]`)),
			spans(span(3, `,"name":"a","kind":2,"attributes":[{"key":"k","value":{"stringValue":"v"}}]`)),
			`traces changed 0:0 | changed span_id "0000000000000001">"0000000000000003"`},
		{"an integer as text and as number", number(`"asInt":"5"`), number(`"asInt":5`), ""},
		{"a value", number(`"asInt":"5"`), number(`"asInt":"9007199254740993"`), `metrics changed 0:0 | changed value_int "5">"9007199254740993"`},
		{"an integer and a double", number(`"asInt":"5"`), number(`"asDouble":5`), `metrics changed 0:0 | missing value_int "5"> | added value_double >5`},
		{"NaN is NaN", number(`"asDouble":"NaN"`), number(`"asDouble":"NaN"`), ""},
		{"NaN is not a number", number(`"asDouble":"NaN"`), number(`"asDouble":"-Infinity"`), `metrics changed 0:0 | changed value_double "NaN">"-Infinity"`},
		{"zeros", number(`"asDouble":-0.0`), number(`"asDouble":0`), ""},
		{"a metric without data points", metrics(`{"name":"m","gauge":{}}`), metrics(`{"name":"m","sum":{}}`), `metrics changed 0:0 | changed metric.type "Gauge">"Sum"`},
		{"a renamed metric", metrics(`{"name":"m.old","unit":"1","sum":{"isMonotonic":true,"dataPoints":[{"asInt":"7","timeUnixNano":"5"}]}}`),
			metrics(`{"name":"m_new","unit":"1","sum":{"isMonotonic":true,"dataPoints":[{"asInt":"7","timeUnixNano":"5"}]}}`),
			`metrics changed 0:0 | changed metric.name "m.old">"m_new"`},
		{"a histogram", metrics(`{"name":"h","histogram":{"aggregationTemporality":2,"dataPoints":[{"count":"3","sum":1.5,"bucketCounts":["1","2"],"explicitBounds":[1]}]}}`),
			metrics(`{"name":"h","histogram":{"aggregationTemporality":1,"dataPoints":[{"count":"4","bucketCounts":["1","3"],"explicitBounds":[1]}]}}`),
			`metrics changed 0:0 | changed metric.aggregation_temporality 2>1 | changed count "3">"4" | missing sum 1.5> | changed bucket_counts ["1","2"]>["1","3"]`},
		{"bytes", logs("a", `{"body":{"bytesValue":"AQID"}}`), logs("a", `{"body":{"bytesValue":"AQIE"}}`),
			`logs changed 0:0 | changed body {"bytesValue":"AQID"}>{"bytesValue":"AQIE"}`},
		{"maps whose records changed places", logs("a", mapped(1, 1), mapped(2, 2)), logs("a", mapped(2, 9), mapped(1, 9)),
			`logs changed 0:1 | changed body["last"] {"intValue":"1"}>{"intValue":"9"}` + "\n" +
				`logs changed 1:0 | changed body["last"] {"intValue":"2"}>{"intValue":"9"}`},
		{"an exponential histogram and a summary",
			metrics(`{"name":"e","exponentialHistogram":{"dataPoints":[{"count":"3","scale":1,"positive":{"offset":1,"bucketCounts":["3"]}}]}}`, `{"name":"s","summary":{"dataPoints":[{"count":"1","quantileValues":[{"quantile":0.5,"value":2}]}]}}`),
			metrics(`{"name":"e","exponentialHistogram":{"dataPoints":[{"count":"3","scale":0,"positive":{"offset":2,"bucketCounts":["3"]}}]}}`, `{"name":"s","summary":{"dataPoints":[{"count":"1","quantileValues":[{"quantile":0.5,"value":3}]}]}}`),
			"metrics changed 0:0 | changed scale 1>0 | changed positive.offset 1>2\nmetrics changed 1:1 | changed quantile_values[0].value 2>3"},
	} {
		t.Run(one.name, func(t *testing.T) {
			result := outcome(t, Request{Left: one.left, Right: one.right, Ignore: []string{}})
			if seen := told(result); seen != one.told {
				t.Errorf("\n%s\nexpected\n%s", seen, one.told)
			}
			if result.Equal != (one.told == "") {
				t.Error("equal:", result.Equal)
			}
			if back := outcome(t, Request{Left: one.right, Right: one.left, Ignore: []string{}}); back.Equal != result.Equal {
				t.Error("the other way:", told(back))
			}
		})
	}
}

func TestARecordIsPairedWithTheOneItWas(t *testing.T) {
	var left, right []string
	for i := range 300 {
		left = append(left, log(fmt.Sprintf("request %d took %d ms", i, i%7), "user", fmt.Sprint("u", i%5), "host", "h"))
		if i%50 != 3 { // Some are dropped, all others changed.
			right = append(right, log(fmt.Sprintf("request %d took %d ms", i, i%7), "user", "***", "host", "h", "added", "1"))
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	places := random.Perm(len(right))
	shuffled := make([]string, len(right))
	for i, place := range places {
		shuffled[place] = right[i]
	}
	result := outcome(t, Request{Left: logs("a", left...), Right: logs("a", shuffled...)})
	summary := result.Signals["logs"]
	if summary.Missing != 6 || summary.Changed != 294 || summary.Added != 0 {
		t.Fatalf("%+v", summary)
	}
	expected := []FieldCount{{`attributes["added"]`, 294, 0, 0}, {`attributes["user"]`, 0, 0, 294}}
	if !slices.Equal(summary.Fields, expected) {
		t.Errorf("%+v", summary.Fields)
	}
}

func TestAFilterTurnedAroundChangesNoRecord(t *testing.T) {
	record := func(severity int, at int, body string) string {
		return fmt.Sprintf(`{"timeUnixNano":"17000000000000000%02d","severityNumber":%d,"body":{"stringValue":"%s"}}`, at, severity, body)
	}
	result := outcome(t, Request{
		Left: logs("a", record(17, 1, "cannot connect"), record(17, 3, "disk full")), Right: logs("a", record(9, 2, "started"), record(9, 4, "ready")),
	})
	if seen := told(result); seen != "logs missing 0:-\nlogs missing 1:-\nlogs added -:0\nlogs added -:1" {
		t.Error(seen)
	}
}

func TestPathsAreLeftOut(t *testing.T) {
	left := logs("a", `{"observedTimeUnixNano":"5","body":{"kvlistValue":{"values":[{"key":"id","value":{"intValue":"1"}},{"key":"x","value":{"intValue":"1"}}]}},"attributes":[{"key":"a\"b","value":{"stringValue":"1"}}]}`)
	right := logs("b", `{"observedTimeUnixNano":"6","body":{"kvlistValue":{"values":[{"key":"id","value":{"intValue":"2"}},{"key":"x","value":{"intValue":"1"}}]}},"attributes":[{"key":"a\"b","value":{"stringValue":"2"}}]}`)
	all := []string{`resource.attributes["service.name"]`, `log.observed_time`, `body["id"]`, `attributes["a\"b"]`}
	for n := range all {
		ignore := slices.Delete(slices.Clone(all), n, n+1)
		result := outcome(t, Request{Left: left, Right: right, Ignore: ignore})
		if len(result.Differences) != 1 || len(result.Differences[0].Fields) != 1 {
			t.Errorf("without %s: %s", all[n], told(result))
		}
	}
	for _, ignore := range [][]string{all, {"resource", "body[*]", "attributes[*]", "observed_time_unix_nano"}} {
		if result := outcome(t, Request{Left: left, Right: right, Ignore: ignore}); !result.Equal {
			t.Error(ignore, told(result))
		}
	}
	missing := outcome(t, Request{Left: logs("a", log("a body"), log("a body")), Right: logs("a", log("a body")), Ignore: []string{"body"}})
	if name := missing.Differences[0].Name; name != "a body" {
		t.Errorf("a record is named %q if its body is ignored", name)
	}
	if seen := outcome(t, Request{Left: logs("a", `{"observedTimeUnixNano":"5"}`), Right: logs("a", `{}`)}); !seen.Equal {
		t.Error("the observed time is compared by default:", told(seen))
	}
	one, other := spans(span(1, `,"events":[{"name":"e","timeUnixNano":"1"}]`)), spans(span(1, `,"events":[{"name":"e","timeUnixNano":"2"}]`))
	for _, path := range []string{"spanevent.time", "events[*].time_unix_nano", "events[0].time_unix_nano", "span.events", "events"} {
		if result := outcome(t, Request{Left: one, Right: other, Ignore: []string{path}}); !result.Equal {
			t.Error(path, told(result))
		}
	}
	// A synonym is a field's, not an attribute's.
	named := func(value string) string {
		return strings.ReplaceAll(logs(value, log("x", "time", value)), "service.name", "time")
	}
	if result := outcome(t, Request{Left: named("1"), Right: named("2"), Ignore: []string{`resource.attributes["time"]`, `attributes["time"]`}}); !result.Equal {
		t.Error("attributes named as a field is called otherwise:", told(result))
	}
}

func TestAWrongPathIsNamed(t *testing.T) {
	for path, message := range map[string]string{
		"atributes":              `ignore[0]: "atributes": no record has a field "atributes"; did you mean "attributes"?`,
		"span.body":              `ignore[0]: "span.body": only logs have "body"`,
		"attributes[x]":          "there is no key in double quotes, no number and no * at character 11",
		`attributes["x"`:         "a ] is missing at character 15",
		`attributes["x"]y`:       "there is neither . nor [ at character 16",
		"resource.":              "a name is missing at character 10",
		"":                       "a name is missing at character 1",
		`["x"]`:                  "a name is missing at character 1",
		`body[-1]`:               "there is no key",
		strings.Repeat("a", 600): "a path has at most 512 characters",
	} {
		_, err := Outputs(context.Background(), Request{Ignore: []string{path}})
		var refused *operation.Error
		if !errors.As(err, &refused) || refused.Code != BadPath || !strings.Contains(refused.Message, message) {
			t.Errorf("%q: %v", path, err)
		}
	}
}

func TestTimesThatTheRunMadeAreEqual(t *testing.T) {
	from := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	ran := &Span{from, from.Add(time.Minute)}
	later := &Span{from.Add(time.Hour), from.Add(time.Hour + time.Minute)}
	point := func(start, at time.Time) string {
		return metrics(fmt.Sprintf(`{"name":"m","sum":{"dataPoints":[{"startTimeUnixNano":"%d","timeUnixNano":"%d","asInt":"1"}]}}`, start.UnixNano(), at.UnixNano()))
	}
	stamped := func(at time.Time) string { return logs("a", log("x", "first_observed", at.Format(time.RFC3339))) }
	left, right := from.Add(7*time.Second), later.From.Add(9*time.Second)
	for _, one := range []struct {
		name  string
		asked Request
		equal bool
	}{
		{"both runs are known", Request{Left: point(left, left), Right: point(right, right), LeftRan: ran, RightRan: later}, true},
		{"an expected output of some time", Request{Left: point(left, left.Add(1)), Right: point(right, right), RightRan: later}, true},
		{"no run is known", Request{Left: point(left, left), Right: point(right, right)}, false},
		{"a time of the sample changed", Request{Left: point(from.AddDate(-1, 0, 0), left), Right: point(from.AddDate(-2, 0, 0), right), LeftRan: ran, RightRan: later}, false},
		{"a time of the sample was replaced by the run's", Request{Left: point(from.AddDate(-1, 0, 0), left), Right: point(right, right), LeftRan: ran, RightRan: later}, false},
		{"no time was expected", Request{Left: metrics(`{"name":"m","sum":{"dataPoints":[{"asInt":"1"}]}}`), Right: point(right, right), RightRan: later}, false},
		{"a text with a time", Request{Left: stamped(left), Right: stamped(right), LeftRan: ran, RightRan: later}, true},
		{"a text with a time, and some other", Request{Left: stamped(left), Right: stamped(right), RightRan: later}, true},
		{"a text with another time", Request{Left: stamped(from.AddDate(-1, 0, 0)), Right: stamped(right), LeftRan: ran, RightRan: later}, false},
	} {
		if result := outcome(t, one.asked); result.Equal != one.equal {
			t.Errorf("%s: %+v", one.name, told(result))
		}
	}
}

func TestATimeThatTheRunMadeIsEqualToAnyOtherEvenWhereTimesCount(t *testing.T) {
	at := func(bits uint64, duringRun bool) value { return value{kind: moment, bits: bits, duringRun: duringRun} }
	for name, row := range map[string]struct {
		left, right value
		times, same bool
	}{
		"made by the run":             {at(1, true), at(2, true), true, true},
		"of the input":                {at(1, false), at(2, false), true, false},
		"of the input, if none count": {at(1, false), at(2, false), false, true},
		"set by one of the two":       {at(1, true), at(1, false), true, false},
		"unset":                       {at(0, false), at(2, false), false, false},
	} {
		left, right := encode(nil, row.left, row.times), encode(nil, row.right, row.times)
		if bytes.Equal(left, right) != row.same {
			t.Errorf("%s: %x, %x", name, left, right)
		}
	}
}

func TestTextsThatAreNotTelemetryAreRefusedByTheirLine(t *testing.T) {
	good := logs("a", log("x"))
	for text, message := range map[string]string{
		good + "\n" + "{":           "right: line 3: it is not JSON: unexpected EOF",
		good + good + "[]":          "right: line 3: it is not OTLP/JSON",
		`{"resourcelogs":[]}`:       "right: line 1: it is not OTLP/JSON: it has no resourceLogs",
		spans(`{"traceId":"xyz"}`):  "right: line 1: ",
		"2024-01-01 plain text":     "right: line 1: it is not ",
		strings.Repeat("[", 20_000): "right: line 1: it is not JSON: ",
	} {
		_, err := Outputs(context.Background(), Request{Left: good, Right: text})
		var refused *operation.Error
		if !errors.As(err, &refused) || refused.Code != NotOTLP || !strings.HasPrefix(refused.Message, message) {
			t.Errorf("%.50q: %v", text, err)
		}
	}
	pretty := strings.ReplaceAll(good, ",", ",\n  ")
	if !outcome(t, Request{Left: good, Right: pretty}).Equal {
		t.Error("a document of several lines")
	}
	if result := outcome(t, Request{Left: `{"resourceProfiles":[{}]}`}); result.Profiles != 1 || !result.Equal {
		t.Errorf("%+v", result)
	}
}

func TestTheAnswerIsBounded(t *testing.T) {
	var left, right []string
	for i := range 2_000 {
		left = append(left, log(fmt.Sprintf("record %d %s", i, strings.Repeat("x", 300)), "k", "1"))
		right = append(right, log(fmt.Sprintf("record %d %s", i, strings.Repeat("x", 300)+"y"), "k", "2"))
	}
	result := outcome(t, Request{Left: logs("a", left...), Right: logs("a", right...)})
	if len(result.Differences) != maxDifferences || result.LeftOut != 1_500 || result.Signals["logs"].Changed != 2_000 {
		t.Errorf("%d listed, %d left out, %+v", len(result.Differences), result.LeftOut, result.Signals["logs"])
	}
	for _, most := range []int{20_000, 100_000} {
		result := outcome(t, Request{Left: logs("a", left...), Right: logs("a", right...), MaxBytes: most})
		answer, _ := json.Marshal(result)
		if len(answer) > 3*most || len(answer) < most/3 || len(result.Differences)+result.LeftOut != 2_000 {
			t.Errorf("%d bytes of %d, %d listed", len(answer), most, len(result.Differences))
		}
	}
	long := strings.Repeat("a", 500_000)
	result = outcome(t, Request{Left: logs("a", log(long+"b"+long, "k", "1")), Right: logs("a", log(long+"c"+long, "k", "1"))})
	field := result.Differences[0].Fields[0]
	if !field.Cut || !strings.Contains(string(field.Left), "ab") || !strings.Contains(string(field.Right), "ac") || len(field.Left) > 1_100 {
		t.Errorf("%+v", field)
	}
	for name, texts := range map[string][2]string{
		"too many bytes":   {logs("a", log(strings.Repeat("x", maxBytes))), ""},
		"too many braces":  {logs("a", `{"attributes":[`+strings.Repeat("{},", maxMembers)+"{}]}"), ""},
		"too many records": {logs("a", strings.Repeat("{},", maxRecords/2)+"{}"), ""},
	} {
		_, err := Outputs(context.Background(), Request{Left: texts[0], Right: texts[1]})
		var refused *operation.Error
		if !errors.As(err, &refused) || refused.Code != TooLarge {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestTheBoundsAreOfBothSidesTogether has sides of which each alone is within a bound.
func TestTheBoundsAreOfBothSidesTogether(t *testing.T) {
	spaces := strings.Repeat(" ", maxBytes/2)
	braces := strings.Repeat("{", maxMembers/2)
	for name, sides := range map[string]struct {
		left, right string
		refused     string
	}{
		"the most bytes":        {spaces, spaces, ""},
		"a byte more, left":     {spaces + " ", spaces, "bytes of output are too many"},
		"a byte more, right":    {spaces, spaces + " ", "bytes of output are too many"},
		"the most braces":       {braces, braces, "it is not JSON"},
		"a brace more, left":    {braces + "{", braces, "braces, which are too many"},
		"a brace more, right":   {braces, braces + "{", "braces, which are too many"},
		"the bytes of one side": {"", spaces + spaces, ""},
	} {
		_, err := Outputs(context.Background(), Request{Left: sides.left, Right: sides.right})
		if sides.refused == "" != (err == nil) || err != nil && !strings.Contains(err.Error(), sides.refused) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTheAnswerIsTheSameEachTime(t *testing.T) {
	var left, right []string
	for i := range 60 {
		left = append(left, log(fmt.Sprint("a", i%3), "k", fmt.Sprint(i%4), "l", fmt.Sprint(i%5)))
		right = append(right, log(fmt.Sprint("b", i%3), "k", fmt.Sprint(i%4), "l", fmt.Sprint(i%6)))
	}
	asked := Request{Left: logs("a", left...) + spans(span(1, "")), Right: logs("b", right...) + metrics(`{"name":"m","gauge":{}}`)}
	first, _ := json.Marshal(outcome(t, asked))
	for range 5 {
		if again, _ := json.Marshal(outcome(t, asked)); string(again) != string(first) {
			t.Fatalf("%s\n%s", first, again)
		}
	}
}
