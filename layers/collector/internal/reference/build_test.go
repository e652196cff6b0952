package reference

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"sync"
	"testing"

	"github.com/headgate/headgate/layers/collector/internal/comments"
	"github.com/headgate/headgate/layers/collector/internal/operation"
	"github.com/headgate/headgate/layers/collector/version/distribution"
)

func build() *operation.Environment {
	settings := distribution.Settings()
	return &operation.Environment{
		BuildInfo: settings.BuildInfo, Factories: distribution.Factories, Components: distribution.Components,
		Lacking: distribution.Lacking,
	}
}

// made once for all tests: it takes a second.
var answers = sync.OnceValues(func() (map[string]Answer, error) {
	handle, found := Handler(), map[string]Answer{}
	for _, form := range []string{Components, Document} {
		request, err := json.Marshal(Request{form})
		if err != nil {
			return nil, err
		}
		answer, err := handle(context.Background(), build(), request)
		if err != nil {
			return nil, err
		}
		found[form] = answer.(Answer)
	}
	return found, nil
})

func unpacked(t *testing.T, form string) []byte {
	t.Helper()
	all, err := answers()
	if err != nil {
		t.Fatal(err)
	}
	reader, err := gzip.NewReader(bytes.NewReader(all[form].Gzip))
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	if digest := sha256.Sum256(content); hex.EncodeToString(digest[:]) != all[form].Digest {
		t.Errorf("the digest of %s is %s", form, all[form].Digest)
	}
	return content
}

type document struct {
	Defs       map[string]json.RawMessage `json:"$defs"`
	Properties map[string]struct {
		PatternProperties map[string]struct {
			Ref string `json:"$ref"`
		} `json:"patternProperties"`
	} `json:"properties"`
}

type listed struct {
	Version    string `json:"version"`
	Components []struct {
		Kind      string            `json:"kind"`
		Type      string            `json:"type"`
		Module    string            `json:"module"`
		Aliases   []string          `json:"aliases"`
		Stability map[string]string `json:"stability"`
		Schema    struct {
			Title string                     `json:"title"`
			Type  any                        `json:"type"`
			Defs  map[string]json.RawMessage `json:"$defs"`
		} `json:"schema"`
	} `json:"components"`
}

func read[T any](t *testing.T, form string) (content T) {
	t.Helper()
	if err := json.Unmarshal(unpacked(t, form), &content); err != nil {
		t.Fatal(err)
	}
	return content
}

func TestEveryComponentOfTheBuildIsDescribedInBothForms(t *testing.T) {
	factories, err := distribution.Components()
	if err != nil {
		t.Fatal(err)
	}
	whole, list := read[document](t, Document), read[listed](t, Components)

	described := map[string]bool{}
	for _, one := range list.Components {
		described[one.Kind+"/"+one.Type] = true
		if one.Schema.Title != one.Type+" "+one.Kind || one.Module == "" || one.Schema.Defs[Variable] == nil {
			t.Errorf("%+v", one)
		}
		names := append([]string{one.Type}, one.Aliases...)
		for _, name := range names {
			ref := whole.Properties[one.Kind+"s"].PatternProperties["^"+name+"(/.*)?$"].Ref
			if ref != reference(one.Kind+"/"+one.Type) || whole.Defs[one.Kind+"/"+one.Type] == nil {
				t.Errorf("%s: %q", name, ref)
			}
		}
	}
	for _, one := range all(&factories, &comments.Texts{}) {
		if !described[one.Kind+"/"+one.Type] {
			t.Errorf("%s %s is not described", one.Kind, one.Type)
		}
	}
	if list.Version != distribution.Settings().BuildInfo.Version {
		t.Errorf("%q", list.Version)
	}
}

func TestAReferenceIsTheSameEachTime(t *testing.T) {
	for _, form := range []string{Components, Document} {
		var again bytes.Buffer
		if err := Write(&again, build(), form); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(again.Bytes(), unpacked(t, form)) {
			t.Errorf("%s differs", form)
		}
	}
}

func TestAnotherFormIsRefused(t *testing.T) {
	for _, request := range []string{`{}`, `{"form": "yaml"}`, `{"form": 1}`} {
		if _, err := Handler()(context.Background(), build(), json.RawMessage(request)); err == nil {
			t.Errorf("%s was answered", request)
		}
	}
}
