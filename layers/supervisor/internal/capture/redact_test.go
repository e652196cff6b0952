package capture

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/headgate/headgate/layers/collector/secrets"
)

var everything = Redaction{Kinds: []string{credentials, cardNumbers, mailAddresses, randomTexts}}

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

// plantedSecrets makes n secrets, each with the text around it. They are the same in each run.
func plantedSecrets(n int) (planted, texts []string) {
	chance := rand.New(rand.NewPCG(22, 3))
	some := func(n int, from string) string {
		text := make([]byte, n)
		for i := range text {
			text[i] = from[chance.IntN(len(from))]
		}
		return string(text)
	}
	card := func() string {
		for {
			if number := "4" + some(15, "0123456789"); secrets.IsCard(number) {
				return number
			}
		}
	}
	kinds := []func() (string, string){
		func() (string, string) { s := "AKIA" + some(16, alphabet[:26]); return s, "key " + s + " was used" },
		func() (string, string) {
			s := some(9, alphabet)
			return s, "login failed: password=" + s + ", user=bob"
		},
		func() (string, string) { s := some(11, alphabet); return s, `{"api_key": "` + s + `", "a": 1}` },
		func() (string, string) { s := some(14, alphabet); return s, "Authorization: Bearer " + s },
		func() (string, string) { s := some(8, alphabet); return s, "postgres://app:" + s + "@db/orders" },
		func() (string, string) { s := some(12, alphabet); return s, "GET /in?token=" + s + "&page=2" },
		func() (string, string) { s := card(); return s, "paid with " + s + "." },
		func() (string, string) {
			s := card()
			s = s[:4] + " " + s[4:8] + " " + s[8:12] + " " + s[12:]
			return s, "card " + s + " 12/27"
		},
		func() (string, string) {
			s := some(9, alphabet[26:52]) + "@example.org"
			return s, "mail to <" + s + ">"
		},
		func() (string, string) { s := some(40, alphabet); return s, "blob " + s },
		func() (string, string) { s := some(32, "0123456789abcdef"); return s, "hex " + s + " end" },
		func() (string, string) {
			s := "ey" + "J" + some(20, alphabet) + "." + some(40, alphabet) + "." + some(20, alphabet)
			return s, "cookie " + s
		},
		func() (string, string) { s := "ghp_" + some(36, alphabet); return s, "clone with " + s },
	}
	for i := range n {
		secret, text := kinds[i%len(kinds)]()
		planted, texts = append(planted, secret), append(texts, text)
	}
	return planted, texts
}

// places are documents of OTLP in each of which `%s` is everything that a sender may write.
var places = map[string]string{
	"logs": `{"resourceLogs":[{"resource":{"attributes":[{"key":"a","value":{"stringValue":%s}}]},"schemaUrl":%s,
		"scopeLogs":[{"scope":{"name":%s,"version":%s,"attributes":[{"key":%s,"value":{"stringValue":"b"}}]},"schemaUrl":%s,
		"logRecords":[{"timeUnixNano":"1700000000000000000","severityText":%s,"eventName":%s,"body":{"kvlistValue":{"values":[
		{"key":%s,"value":{"arrayValue":{"values":[{"stringValue":%s},{"bytesValue":%s}]}}}]}},
		"attributes":[{"key":"c","value":{"stringValue":%s}}],"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b174"}]}]}]}`,
	"traces": `{"resourceSpans":[{"resource":{"attributes":[{"key":"a","value":{"stringValue":%s}}]},"scopeSpans":[{"scope":{"name":%s},
		"spans":[{"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b174","traceState":%s,"name":%s,
		"startTimeUnixNano":"1700000000000000000","endTimeUnixNano":"1700000000000000001","attributes":[{"key":"a","value":{"stringValue":%s}}],
		"events":[{"timeUnixNano":"1","name":%s,"attributes":[{"key":"a","value":{"stringValue":%s}}]}],
		"links":[{"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b174","traceState":%s,
		"attributes":[{"key":"a","value":{"stringValue":%s}}]}],"status":{"message":%s}}]}]}]}`,
	"metrics": `{"resourceMetrics":[{"resource":{"attributes":[{"key":"a","value":{"stringValue":%s}}]},"scopeMetrics":[{"scope":{"name":%s},
		"metrics":[{"name":%s,"description":%s,"unit":%s,"metadata":[{"key":"a","value":{"stringValue":%s}}],
		"sum":{"aggregationTemporality":2,"dataPoints":[{"asInt":"7","timeUnixNano":"1700000000000000000",
		"attributes":[{"key":"label","value":{"stringValue":%s}}],
		"exemplars":[{"asInt":"1","filteredAttributes":[{"key":"a","value":{"stringValue":%s}}]}]}]}}]}]}]}`,
}

func quoted(text string) any {
	content, _ := json.Marshal(text)
	return string(content)
}

func sampleOf(t *testing.T, signal string, rules Redaction, document string) *sample {
	t.Helper()
	s, err := newSample(&Order{Signal: signal, Records: mostRecords, Redaction: rules})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.add([]byte(document)); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestWhatIsNotASecretStays(t *testing.T) {
	for _, text := range []string{
		"GET /api/orders/1842 took 31 ms", "user bob signed in from 10.0.0.12", "kubernetes-deployment-controller-manager",
		"io.opentelemetry.contrib.instrumentation.HttpClient", "/usr/lib/python3/site-packages/requests/sessions.py",
		"2026-11-22T20:11:00.123456Z", "service.name", "eu-west-1a", "connection refused", "order 1234567890123456 shipped",
		"pinned: true, signal=9, 500 tokens", "http://host:8080/users/@me", "a password was changed", "cards 1 2 3 4 5 6 7 8 9",
	} {
		document := fmt.Sprintf(`{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":{"stringValue":%s}}]}]}]}`, quoted(text))
		if got := sampleOf(t, "logs", everything, document); !strings.Contains(got.lines.String(), text) || got.redactor.count != 0 {
			t.Errorf("%q became %s", text, got.lines.String())
		}
	}
}

func TestCredentialsAreFoundInTheFormsInWhichTheyAreLogged(t *testing.T) {
	for _, text := range []string{
		`{"log":"{\"password\":\"hunter2\"}"}`, `{"log":"{\"password\":\"a\\\"hunter2\"}"}`, `{"password":"a\"hunter2"}`,
		`{"Password":["hunter2"]}`, `<a:Password Type="x">hunter2</a:Password>`, `mysql --password hunter2 -u x`,
		`back%3Fpassword%3Dhunter2`, `user[password]=hunter2`, `DATABASE_PASSWORD_1=hunter2`, `password := hunter2`,
		`Cookie: theme=dark; sid=hunter2`, `set-cookie: a="b"; sid=hunter2`, `Authorization: ApiKey hunter2`,
		`parse "postgres://app:pa/hunter2@db": invalid port`, `amqp://app@corp:hunter2@queue/a`,
	} {
		body := quoted(text).(string)
		document := fmt.Sprintf(`{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":{"stringValue":%s}}]}]}]}`, body)
		if got := sampleOf(t, "logs", everything, document); strings.Contains(got.lines.String(), "hunter2") || got.records != 1 {
			t.Errorf("%s became %s", text, got.lines.String())
		}
	}
}

func TestWhatFollowsAnOptionForASecretIsTakenOutOfArguments(t *testing.T) {
	document := `{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":{"arrayValue":{"values":[{"stringValue":"curl"},
		{"stringValue":"--api-key"},{"stringValue":"hunter2"},{"stringValue":"--verbose"},{"stringValue":"stays"}]}}}]}]}]}`
	got := sampleOf(t, "logs", everything, document).lines.String()
	if strings.Contains(got, "hunter2") || !strings.Contains(got, "stays") {
		t.Error(got)
	}
}

func TestWhatFollowsTheNameOfASecretIsTakenOutOfListsAndPairs(t *testing.T) {
	list := func(values ...string) string { return `{"arrayValue":{"values":[` + strings.Join(values, ",") + `]}}` }
	text := func(value string) string { return fmt.Sprintf(`{"stringValue":%q}`, value) }
	pairs := func(keysAndValues ...string) string {
		var all []string
		for i := 0; i < len(keysAndValues); i += 2 {
			all = append(all, fmt.Sprintf(`{"key":%q,"value":{"stringValue":%q}}`, keysAndValues[i], keysAndValues[i+1]))
		}
		return `{"kvlistValue":{"values":[` + strings.Join(all, ",") + `]}}`
	}
	for name, row := range map[string]struct {
		body  string
		count int
	}{
		"a pair of name and value":        {pairs("name", "password", "value", "hunter2"), 1},
		"with something between them":     {pairs("name", "password", "type", "stays", "value", "hunter2"), 1},
		"a pair of something else":        {pairs("name", "colour", "value", "stays"), 0},
		"a second pair":                   {pairs("name", "colour", "value", "stays", "name", "api_key", "value", "hunter2"), 1},
		"a value without a name":          {pairs("value", "stays"), 0},
		"a list of pairs":                 {list(pairs("name", "user", "value", "stays"), pairs("name", "token", "value", "hunter2")), 1},
		"a list of texts":                 {list(text("password"), text("hunter2"), text("stays")), 1},
		"what is not a text stands apart": {list(text("password"), "7", text("hunter2"), text("stays")), 1},
		"a list without a name":           {list(text("user"), text("stays")), 0},
	} {
		document := `{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":` + row.body + `}]}]}]}`
		got := sampleOf(t, "logs", everything, document)
		stays := strings.Count(row.body, "stays")
		if lines := got.lines.String(); strings.Contains(lines, "hunter2") || strings.Count(lines, "stays") != stays || got.redactor.count != row.count {
			t.Errorf("%s: %d redacted: %s", name, got.redactor.count, lines)
		}
	}
}

func TestOnlyAnIdInAFieldOfIdsIsLeftUnsearched(t *testing.T) {
	const random = "9f8e7d6c5b4a39281706f5e4d3c2b1a0"
	for name, row := range map[string]struct{ record, gone string }{
		"a text in the place of an id":    {`{"traceId":"password=hunter2"}`, "hunter2"},
		"an id in the place of a text":    {`{"body":{"stringValue":"` + random + `"}}`, random},
		"a text in the place of a number": {`{"timeUnixNano":"password=hunter2"}`, "hunter2"},
		"a number in a text":              {`{"body":{"stringValue":"4111111111111111"}}`, "4111"},
		"bytes":                           {`{"body":{"bytesValue":"aHVudGVyMg=="}}`, "aHVudGVyMg"},
	} {
		got := sampleOf(t, "logs", everything, `{"resourceLogs":[{"scopeLogs":[{"logRecords":[`+row.record+`]}]}]}`)
		if lines := got.lines.String(); strings.Contains(lines, row.gone) || got.redactor.count != 1 || got.records != 1 {
			t.Errorf("%s: %d redacted: %s", name, got.redactor.count, lines)
		}
	}
}

// The search once took the third power of the length of such a text: years for one of 64 KB, while the host waited.
func TestALongTextOfDigitsAndBlanksIsSearched(t *testing.T) {
	text := strings.Repeat("1 ", 20_000) + "4111 1111 1111 1111 and 4111-1111-1111-1111-0"
	want := strings.Repeat("1 ", 20_000) + redacted + " and " + redacted + "-0"
	document := fmt.Sprintf(`{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":{"stringValue":%s}}]}]}]}`, quoted(text))
	rules := Redaction{Kinds: []string{cardNumbers}}
	if got := sampleOf(t, "logs", rules, document); !strings.Contains(got.lines.String(), want) {
		t.Errorf("%.200q", strings.TrimLeft(got.lines.String(), "1 "))
	}
}

func TestARecordThatIsTooLargeIsNotSearched(t *testing.T) {
	secret := strings.Repeat("password=a ", 7_000)
	document := fmt.Sprintf(`{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":{"stringValue":%s}}]}]}]}`, quoted(secret))
	if got := sampleOf(t, "logs", everything, document); got.leftOut != 1 || got.redactor.count != 0 {
		t.Errorf("%d left out, %d redacted", got.leftOut, got.redactor.count)
	}
}

func TestIdsTimesAndValuesStay(t *testing.T) {
	document := `{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"name":"requests","histogram":{"dataPoints":[{"startTimeUnixNano":"1700000000000000000","count":"4111111111111111","sum":2.5,"bucketCounts":["1","2"],"explicitBounds":[0.5],"exemplars":[{"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b174","asDouble":1.5}]}]}}]}]}]}`
	got := sampleOf(t, "metrics", everything, document).lines.Bytes()
	var want, have any
	if err := json.Unmarshal([]byte(document), &want); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(got, &have); err != nil {
		t.Fatal(err)
	}
	a, _ := json.Marshal(want)
	b, _ := json.Marshal(have)
	if !bytes.Equal(a, b) {
		t.Errorf("%s\nis not\n%s", b, a)
	}
}

func TestAnAttributeOfASecretKeyIsTakenOutWhateverItsType(t *testing.T) {
	document := `{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"attributes":[
		{"key":"db.Password","value":{"intValue":"17"}},{"key":"Customer","value":{"kvlistValue":{"values":[{"key":"x","value":{"stringValue":"secretly"}}]}}},
		{"key":"amount","value":{"intValue":"4111111111111111"}},{"key":"sum","value":{"doubleValue":4111111111111111}}]}]}]}]}`
	rules := everything
	rules.Keys = []string{"customer"}
	got := sampleOf(t, "logs", rules, document)
	for _, secret := range []string{"17", "secretly", "4111"} {
		if strings.Contains(got.lines.String(), secret) {
			t.Errorf("%s is in %s", secret, got.lines.String())
		}
	}
	if got.redactor.count != 4 {
		t.Errorf("%d are redacted", got.redactor.count)
	}
}

func TestTheOrganizationDecidesWhatIsRedacted(t *testing.T) {
	document := `{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":{"stringValue":"order-77 of a@example.org"}}]}]}]}`
	for _, row := range []struct {
		rules Redaction
		want  string
	}{
		{Redaction{}, "order-77 of a@example.org"},
		{Redaction{Kinds: []string{mailAddresses}}, "order-77 of [REDACTED]"},
		{Redaction{Patterns: []string{`order-\d+`}}, "[REDACTED] of a@example.org"},
	} {
		if got := sampleOf(t, "logs", row.rules, document).lines.String(); !strings.Contains(got, row.want) {
			t.Errorf("%s has no %q", got, row.want)
		}
	}
	for _, rules := range []Redaction{{Kinds: []string{"dreams"}}, {Patterns: []string{"("}}} {
		if _, err := newSample(&Order{Signal: "logs", Redaction: rules}); err == nil {
			t.Errorf("%v is taken", rules)
		}
	}
}

func TestASampleIsBounded(t *testing.T) {
	record := func(body string) string { return `{"body":{"stringValue":` + body + `}}` }
	document := func(records ...string) string {
		return `{"resourceLogs":[{"scopeLogs":[{"logRecords":[` + strings.Join(records, ",") + `]}]}]}`
	}
	large := record(quoted(strings.Repeat("a b ", 15_000)).(string))
	deep := `{"body":` + strings.Repeat(`{"arrayValue":{"values":[`, 12) + `{"stringValue":"x"}` + strings.Repeat(`]}}`, 12) + `}`
	many := make([]string, 150)
	for i := range many {
		many[i] = record(`"x"`)
	}
	for name, row := range map[string]struct {
		document         string
		records, leftOut int
	}{
		"many records":  {document(many...), 100, 0},
		"a megabyte":    {document(large, large, large, large, large, large, large, large, large, large, large, large, large, large, large, large, large, large), 17, 1},
		"a huge record": {document(record(quoted(strings.Repeat("a b ", 20_000)).(string)), record(`"x"`)), 1, 1},
		"a deep record": {document(deep, record(`"x"`)), 1, 1},
		"nothing":       {`{}`, 0, 0},
		"other shapes":  {`{"resourceLogs":[1,{"scopeLogs":[{"logRecords":[null,{"body":{}}]},"x"]}]}`, 1, 0},
	} {
		got := sampleOf(t, "logs", everything, row.document)
		if got.records != row.records || got.leftOut != row.leftOut || got.lines.Len() > mostBytes {
			t.Errorf("%s: %d records, %d left out, %d bytes", name, got.records, got.leftOut, got.lines.Len())
		}
	}
}

func TestASampleIsFilledToItsBoundAndNoFurther(t *testing.T) {
	document := func(records int) string {
		record := `{"body":{"stringValue":"` + strings.Repeat("a b ", 10_000) + `"}}`
		return `{"resourceLogs":[{"scopeLogs":[{"logRecords":[` + strings.TrimSuffix(strings.Repeat(record+",", records), ",") + `]}]}]}`
	}
	s := sampleOf(t, "logs", Redaction{}, document(mostRecords-1))
	records, size := s.records, s.lines.Len()
	if room := mostBytes - size; s.leftOut != mostRecords-1-records || room < 0 || room > len(document(1)) {
		t.Errorf("%d records and %d left out have %d bytes", records, s.leftOut, size)
	}
	// What is written is what was counted, but for two bytes: a comma that is not there, and one to spare.
	around := len(`{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":{"stringValue":""}}]}]}]}`) + 1
	for _, row := range []struct{ letters, records int }{{mostBytes - size - around - 1, records}, {mostBytes - size - around - 2, records + 1}} {
		err := s.add([]byte(`{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":{"stringValue":"` + strings.Repeat("a", row.letters) + `"}}]}]}]}`))
		if err != nil || s.records != row.records {
			t.Errorf("%d letters: %d records, %d bytes of %d, %v", row.letters, s.records, s.lines.Len(), mostBytes, err)
		}
	}
	if s.lines.Len() != mostBytes-2 {
		t.Errorf("%d bytes of %d", s.lines.Len(), mostBytes)
	}
}

func TestAMetricWithoutDataIsNoRecord(t *testing.T) {
	for data, want := range map[string]int{`"gauge":{"dataPoints":[]}`: 0, `"description":"x"`: 0, `"gauge":{"dataPoints":[{"asInt":"1"}]}`: 1} {
		got := sampleOf(t, "metrics", everything, `{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"name":"m",`+data+`}]}]}]}`)
		if got.records != want || got.room != mostRecords-want || (got.lines.Len() > 0) != (want > 0) {
			t.Errorf("%s: %d records, room for %d", data, got.records, got.room)
		}
	}
}

func TestAMetricCountsAsItsDataPoints(t *testing.T) {
	points := strings.TrimSuffix(strings.Repeat(`{"asInt":"1"},`, 70), ",")
	metric := `{"name":"m","gauge":{"dataPoints":[` + points + `]}}`
	got := sampleOf(t, "metrics", everything, `{"resourceMetrics":[{"scopeMetrics":[{"metrics":[`+metric+","+metric+`]}]}]}`)
	if got.records != 100 || strings.Count(got.lines.String(), "asInt") != 100 || !got.full() {
		t.Errorf("%d records: %s", got.records, got.lines.String())
	}
}
