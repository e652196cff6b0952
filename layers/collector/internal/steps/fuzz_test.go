package steps

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/headgate/headgate/layers/collector/internal/operation"
)

// FuzzSteps looks for traces that make the reader panic, fail without a word for the caller, or answer without bound.
func FuzzSteps(f *testing.F) {
	f.Add(head + `["c",1,"CgA="]` + "\n" + `["o",1,1,0,1,[],[],[[0,[[0,[1,1]]]]]]` + "\n" + `["i",1,2,1]` + "\n" +
		`["t",2,"set(log.attributes[\"id\"], UUID())"]` + "\n" +
		`["q",2,1,"statement",2,0,"log",3,2,2,[0,2],[1,3,0,1,2,0,0,1],{"no":1}]` + "\n" + `["o",2,2,1,0,[],[1,1,-1,1],0]` + "\n" + `["e",1,"no"]`)
	f.Add(head + `["x","large"]` + "\n" + `["r",7]` + "\n" + `["l",1]` + "\n" + `["k",1]` + "\n" + `["v",1,2,9]`)
	f.Add(`["v",1,1,0]` + "\n" + `["s",1,"connector","count","","logs","metrics"]` + "\n" + `["i",1,1,0,[[0,[[0,[0]]]]]]` + "\n" +
		`["o",1,1,1,0,["metrics","m/2"],[-1,1],[[0,[[0,[[0,[0]]]]]]]]` + "\n" + `["s",2,"exporter","kept","","metrics","metrics"]` + "\n" + `["i",2,2,1]`)
	f.Fuzz(func(t *testing.T, events string) {
		question, err := json.Marshal(request{Events: strings.ToValidUTF8(events, "?"), YAML: transformed})
		if err != nil {
			t.Fatal(err)
		}
		result, err := Handle(context.Background(), environment(), question)
		var fault *operation.Error
		if err != nil && (!errors.As(err, &fault) || fault.Code != "not_a_trace" || fault.Message == "") {
			t.Fatal(err)
		}
		if err == nil && len(encoded(result)) > largestAnswer {
			t.Error("the answer is too large")
		}
	})
}
