package lint

import (
	"context"
	"errors"
	"math/rand"
	"strings"
	"testing"

	"go.opentelemetry.io/collector/confmap"
)

var errAsked = errors.New("asked for a value")

// provider serves a text at `text:`, and notes that it is asked for anything else.
type provider struct {
	scheme, text string
}

func (p provider) Retrieve(context.Context, string, confmap.WatcherFunc) (*confmap.Retrieved, error) {
	if p.scheme == "env" {
		return nil, errAsked
	}
	return confmap.NewRetrieved(map[string]any{"text": p.text})
}

func (p provider) Scheme() string { return p.scheme }

func (provider) Shutdown(context.Context) error { return nil }

func resolvedByTheCollector(t *testing.T, text string) (any, error) {
	t.Helper()
	factory := func(p provider) confmap.ProviderFactory {
		return confmap.NewProviderFactory(func(confmap.ProviderSettings) confmap.Provider { return p })
	}
	resolver, err := confmap.NewResolver(confmap.ResolverSettings{
		URIs: []string{"text:"}, DefaultScheme: "env",
		ProviderFactories: []confmap.ProviderFactory{
			factory(provider{scheme: "text", text: text}), factory(provider{scheme: "env"}),
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	conf, err := resolver.Resolve(context.Background())
	if err != nil {
		return nil, err
	}
	return conf.Get("text"), nil
}

func TestReferencesAndEscapesAreThoseOfTheCollector(t *testing.T) {
	random := rand.New(rand.NewSource(7))
	parts := []string{"$", "$$", "${", "}", "${env:A}", "$${B}", "C", ":", " ", "${C}"}
	for range 5000 {
		var text strings.Builder
		for range 1 + random.Intn(6) {
			text.WriteString(parts[random.Intn(len(parts))])
		}
		value, err := resolvedByTheCollector(t, text.String())

		if found := reference(text.String()); (found != "") != (err != nil) {
			t.Errorf("%q: reference %q, the collector: %v", text.String(), found, err)
		} else if err == nil && value != unescaped(text.String()) {
			t.Errorf("%q: %q, the collector: %q", text.String(), unescaped(text.String()), value)
		}
	}
}

func TestAnOffsetBehindEscapedDollars(t *testing.T) {
	const written = `a$$b$$$$c$d`
	for offset, want := range map[int]byte{0: 'a', 1: '$', 2: 'b', 5: 'c', 7: 'd'} {
		if got := written[writtenOffset(written, offset)]; got != want {
			t.Errorf("at %d stands %q, not %q", offset, got, want)
		}
	}
}
