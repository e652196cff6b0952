package inspect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/headgate/headgate/layers/collector/internal/operation"
	"github.com/headgate/headgate/layers/collector/internal/validate"
)

// FuzzInspect looks for texts of which inspect says something else than validate, or that it cannot answer.
func FuzzInspect(f *testing.F) {
	for _, text := range []string{
		"receivers:\n  talk/a: {names: [a], inner: {limit: 1}}\nexporters:\n  nop:\n" + fmt.Sprintf(logs, "talk/a", "nop"),
		"receivers: &r\n  talkative: {entries: [{name: x}, {size: 1}]}\nexporters:\n  <<: *r\n  debug:\n" + fmt.Sprintf(logs, "talkative", "debug"),
		"receivers:\n  talk: {plain: '${env:A:-b}'}\nextensions: {loud: , zpages: {endpoint: x}}\nservice: {extensions: [loud]}\n",
		"receivers::talk::interval: 1s\n", "receivers: {talkative: {storage: x, hook: 1}}\n", "a: [\n", "",
	} {
		f.Add(text)
	}
	environment := &operation.Environment{Factories: fewFactories}
	f.Add("receivers: {talk: {plain: \xff}}\n")
	f.Fuzz(func(t *testing.T, text string) {
		text = strings.ToValidUTF8(text, "\ufffd") // as in any request, which is JSON
		request := validate.Request{YAML: text}
		want, wrong := validate.Validate(context.Background(), environment, request)
		got, err := inspect(context.Background(), environment, newKnownDefaults(), request)
		var refused *operation.Error
		if errors.As(wrong, &refused) && errors.As(err, &refused) {
			return
		}
		if err != nil || wrong != nil {
			t.Fatalf("%v, but validate: %v", err, wrong)
		}
		if got.Valid == nil || *got.Valid != want.Valid || !reflect.DeepEqual(got.Warnings, want.Warnings) ||
			len(got.Errors) != len(want.Errors) {
			t.Fatalf("%+v\nnot\n%+v", got, want)
		}
		if _, err := json.Marshal(got); err != nil {
			t.Fatal(err)
		}
		most := len([]rune(text)) + 1
		for _, one := range got.Components {
			if one.Line < 1 || one.Column < 1 || one.Line > most || one.Column > most || one.ComponentPath == "" {
				t.Errorf("%+v is outside of the text", one)
			}
		}
	})
}
