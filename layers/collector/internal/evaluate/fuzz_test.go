package evaluate

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/headgate/headgate/layers/collector/internal/rules"
)

// FuzzEvaluate looks for conditions and documents that make the rules' engine panic, or count more than there is.
func FuzzEvaluate(f *testing.F) {
	for _, one := range []struct{ context, condition string }{
		{"log", `IsMatch(body, "^t") and severity_number > SEVERITY_NUMBER_INFO`},
		{"log", `Int(ParseJSON(body)["a"]) == 1 or attributes["a"]["b"][0] == nil`},
		{"span", `IsRootSpan() or (end_time - start_time) > Duration("1s")`},
		{"spanevent", `name == "e" and span.name == "root" and Len(attributes) == 0`},
		{"metric", `HasAttrOnDatapoint("a", "b") or type == METRIC_DATA_TYPE_SUMMARY`},
		{"datapoint", `value_int * 2 / 0 == 5 or value_double == 1.5`},
		{"resource", `attributes["host"] == "a" and Split(attributes["x"], "")[9] == "y"`},
		{"scope", `name == Substring("s", 0, 9) or Format("%d", [version]) == "x"`},
		{"log", `FormatTime(time, "%Y") == "1970" and ParseKeyValue(body) != {} and ToKeyValueString(attributes) != ""`},
		{"log", `ExtractGrokPatterns(body, "%{WORD:a}", true)["a"] == Hex(Murmur3Hash("a")) or ConvertCase(body, "snake") == SHA1(body)`},
		{"log", `ParseXML(body) == {} or ParseCSV(body, "a,b", delimiter=",") == {} or GetXML(body, "/a") == XXH3(body)`},
	} {
		f.Add(one.context, one.condition, output)
	}
	f.Add("log", `body == "t"`, output+"\xff")
	f.Fuzz(func(t *testing.T, where, condition, documents string) {
		for _, text := range []*string{&where, &condition, &documents} {
			*text = strings.ToValidUTF8(*text, "\ufffd") // as in any request, which is JSON
		}
		rule := rules.Rule{Name: "r", Context: where, Condition: condition, Expect: rules.ExpectAny}
		conditions, refused, err := rules.Compile(every, []rules.Rule{rule})
		if err != nil {
			t.Fatal(err)
		}
		if len(refused) > 0 {
			if refused[0].Message == "" {
				t.Fatal("refused without a word")
			}
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		tallies := make([]rules.Tally, 1)
		if _, err := Count(ctx, strings.NewReader(documents), conditions, tallies); err != nil {
			return
		}
		tally := tallies[0]
		if tally.Matched+tally.Failed > tally.Total || (tally.Failed > 0) != (tally.FirstFailure != "") {
			t.Fatalf("%+v", tally)
		}
		// The answer goes out as JSON.
		if _, err := json.Marshal(result{tallies, []Verdict{NewVerdict(rule, tally)}, nil}); err != nil {
			t.Fatal(err)
		}
	})
}
