package steps

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/headgate/headgate/layers/collector/internal/operation"
	"google.golang.org/protobuf/encoding/protowire"
)

// size is how large a hostile trace is made: as large as any in full, where `make trust` asks for that.
func size() int {
	if os.Getenv("HEADGATE_FULL") != "" {
		return 12 << 20
	}
	return 1 << 20
}

const head = `["v",1,1,0]
["g",{"logs":{"receivers":["sample"],"processors":["filter","transform"],"exporters":["kept"]}}]
["s",1,"receiver","sample","","logs","logs"]
["s",2,"processor","transform","logs","logs","logs"]
["s",3,"processor","filter","logs","logs","logs"]
`

// filled repeats lines until the trace has its size.
func filled(start string, line func(n int) string, end string) string {
	var text bytes.Buffer
	text.WriteString(head + start)
	for n := 0; text.Len() < size()-len(end); n++ {
		text.WriteString(line(n))
	}
	text.WriteString(end)
	return text.String()
}

func content(number int, message []byte) string {
	return fmt.Sprintf("[\"c\",%d,%q]\n", number, base64.StdEncoding.EncodeToString(message))
}

// nested is a body of lists in lists.
func nested(depth int) []byte {
	var heads [][]byte
	length := 0
	for range 2 * depth {
		tag := protowire.Number(1)
		if len(heads)%2 == 1 {
			tag = 5
		}
		one := protowire.AppendVarint(protowire.AppendTag(nil, tag, protowire.BytesType), uint64(length))
		heads = append(heads, one)
		length += len(one)
	}
	whole := protowire.AppendVarint(protowire.AppendTag(nil, 5, protowire.BytesType), uint64(length))
	for _, one := range slices.Backward(heads) {
		whole = append(whole, one...)
	}
	return whole
}

// emptyAttributes are as many as there is room for, of two bytes each.
func emptyAttributes(room int) []byte {
	return bytes.Repeat([]byte{6<<3 | 2, 0}, room/2)
}

func many(text string, count int) string {
	return strings.TrimSuffix(strings.Repeat(text+",", count), ",")
}

func TestAHostileTraceIsRefusedOrToldInBounds(t *testing.T) {
	for name, events := range map[string]string{
		"empty":             "",
		"not JSON":          head + "{]\n",
		"another format":    `["v",9,1,0]`,
		"no head":           `["s",1,"receiver","sample","","logs","logs"]`,
		"a line that nests": head + strings.Repeat("[", 1<<20) + "\n",
		"a negative run":    head + `["o",1,2,1,0,[],[0,-5],0]` + "\n",
		"a run too long":    head + `["o",1,2,1,0,[],[0,2000000000],0]` + "\n",
		"a loop":            head + `["i",1,2,1]` + "\n" + `["o",1,2,1,0,[],[0,1],0]` + "\n" + `["i",1,2,1]` + "\n",
		"many records": head + `["c",1,""]` + "\n" + `["o",1,1,0,1,[],[],[[1,[[1,[` + many("1", size()/2) + "]]]]]]\n" +
			`["i",1,2,1]` + "\n" + `["o",2,2,1,0,[],[-1,1400000],[[1,[[1,[` + many("0", 100) + "]]]]]]\n",
		"nested contents": head + content(1, nested(100_000)) + `["o",1,1,0,1,[],[],[[0,[[0,[1]]]]]]` + "\n" + `["i",1,2,1]` + "\n",
		"contents that grow": filled("", func(n int) string {
			return content(n+1, append(protowire.AppendVarint([]byte{8}, uint64(n)), emptyAttributes(700<<10)...)) +
				fmt.Sprintf("[\"o\",%d,1,0,%d,[],[],[[0,[[0,[%d]]]]]]\n[\"i\",%d,2,%d]\n[\"o\",%d,2,%d,0,[],[-1,1],[[0,[[0,[0]]]]]]\n", 2*n+1, n+1, n+1, n+1, 2*n+1, 2*n+2, n+1)
		}, ""),
		"statements on one resource": head + `["t",1,"set(x, 1)"]` + "\n" + content(2, []byte{10, 0}) +
			`["o",1,1,0,1,[],[],[[0,[[0,[` + many("0", 50_000) + "]]]]]]\n" + `["i",1,2,1]` + "\n" +
			`["q",2,1,"statement",1,0,"resource",0,1,1,[0,1],[` + many("1,0,0,2", size()/10) + "],null]\n",
		"conditions": filled(`["t",1,"x"]`+"\n"+`["o",1,1,0,1,[],[],[[0,[[0,[`+many("0", 50_000)+"]]]]]]\n"+`["i",1,3,1]`+"\n", func(n int) string {
			return fmt.Sprintf("[\"q\",3,1,\"condition\",1,%d,\"log\",3,1,1,[%d,20],[],null]\n", n, n)
		}, ""),
		"texts": filled("", func(n int) string {
			return fmt.Sprintf("[\"t\",%d,\"set(a.b.c.d.e.f[%d], 1)\"]\n[\"q\",2,0,\"statement\",%d,0,\"log\",3,1,1,[],[],{\"%d\":1}]\n", n, n, n, n)
		}, ""),
		"components": filled("", func(n int) string {
			return fmt.Sprintf("[\"s\",%d,\"processor\",\"x/%d\",\"logs\",\"logs\",\"logs\"]\n", n, n)
		}, ""),
		"what is lost": filled(`["o",1,1,0,1,[],[],[[0,[[0,[0,0,0]]]]]]`+"\n"+`["i",1,2,1]`+"\n", func(n int) string {
			return fmt.Sprintf("[\"l\",%d]\n[\"k\",%d]\n[\"r\",%d]\n", n, n, n)
		}, ""),
		"calls": filled(`["o",1,1,0,1,[],[],[[0,[[0,[0]]]]]]`+"\n", func(n int) string {
			return fmt.Sprintf("[\"i\",%d,2,1]\n", n+1)
		}, ""),
	} {
		t.Run(name, func(t *testing.T) {
			question, err := json.Marshal(request{Events: events, YAML: transformed})
			if err != nil {
				t.Fatal(err)
			}
			result, err := Handle(context.Background(), environment(), question)
			var fault *operation.Error
			if err != nil {
				if !errors.As(err, &fault) || fault.Code != "not_a_trace" || len(fault.Message) > 500 {
					t.Fatal(err)
				}
				return
			}
			if told := len(encoded(result)); told > largestAnswer {
				t.Errorf("the answer has %d bytes", told)
			}
		})
	}
}

func TestATraceWithMorePipelinesOrComponentsThanACollectorHasIsRefused(t *testing.T) {
	lists := func(pipelines, components int) string {
		var names strings.Builder
		for n := range pipelines - 1 {
			fmt.Fprintf(&names, `"logs/%d":{},`, n)
		}
		return head[:strings.Index(head, "\n")+1] + `["g",{` + names.String() + `"traces":{"exporters":[` + many(`"x"`, components) + "]}}]\n"
	}
	for name, trace := range map[string]struct {
		events  string
		refused bool
	}{
		"many": {lists(mostPipelines, mostListed), false}, "too many pipelines": {lists(mostPipelines+1, 1), true},
		"too many components":            {lists(1, mostListed+1), true},
		"a malformed batch from nowhere": {head + `["i",1,2,0,["x"]]` + "\n", true},
	} {
		question, err := json.Marshal(request{Events: trace.events, YAML: transformed})
		if err != nil {
			t.Fatal(err)
		}
		if _, err = Handle(context.Background(), environment(), question); (err != nil) != trace.refused {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestABatchThatCameFromNoTracedComponentIsFollowed(t *testing.T) {
	events := head + content(1, []byte{10, 0}) + `["i",1,2,0,[[0,[[0,[1,1]]]]]]` + "\n" + `["o",1,2,1,0,[],[0,2],0]` + "\n"
	expect(t, step(t, asked(t, events, transformed), "transform").RecordsIn, 2)
}
