package validate

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/headgate/headgate/layers/collector/internal/source"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/provider/yamlprovider"
	"go.yaml.in/yaml/v3"
)

// outside are the schemes of the official distribution's providers that read something outside of the text.
var outside = []string{"file", "http", "https", "aes", "s3", "secretsmanager", "googlesecretmanager"}

// strict refuses those. A scheme that no provider has is refused by the resolver itself.
var strict = refusing(outside, nil)

// recorder notes what a resolution asks for.
type recorder struct {
	names   []string
	refused []string
	// retrieved and bytes are how often something was asked for, and how much was given.
	retrieved, bytes int
}

// What the resolver replaces in a text, it puts together anew for each `${...}`, and what was given may ask for more.
const (
	maxRetrieved = 5_000
	maxBytes     = 8 << 20
)

// spend counts what is given. It is a *source.Cost when that is too much.
func (r *recorder) spend(bytes int) error {
	r.retrieved++
	r.bytes += bytes
	if r.retrieved > maxRetrieved || r.bytes > maxBytes {
		return &source.Cost{Line: 1, Message: fmt.Sprintf(
			"what stands in ${...} comes to more than %d replacements or %d bytes; nothing was checked", maxRetrieved, maxBytes)}
	}
	return nil
}

// text makes the factory of the collector's own provider for `yaml:`, counted.
func (r *recorder) text() confmap.ProviderFactory {
	return confmap.NewProviderFactory(func(settings confmap.ProviderSettings) confmap.Provider {
		return &counted{yamlprovider.NewFactory().Create(settings), r}
	})
}

type counted struct {
	confmap.Provider
	recorder *recorder
}

func (c *counted) Retrieve(
	ctx context.Context, uri string, watch confmap.WatcherFunc,
) (*confmap.Retrieved, error) {
	if err := c.recorder.spend(len(uri)); err != nil {
		return nil, err
	}
	return c.Provider.Retrieve(ctx, uri, watch)
}

// variables makes the factory of a provider for `env:` that knows these variables and no others.
func (r *recorder) variables(values map[string]string) confmap.ProviderFactory {
	return confmap.NewProviderFactory(func(confmap.ProviderSettings) confmap.Provider {
		return &variables{values: values, recorder: r}
	})
}

type variables struct {
	values   map[string]string
	recorder *recorder
}

var validName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`)

// Retrieve does what the collector's provider of that scheme does, down to the words of its errors.
func (v *variables) Retrieve(_ context.Context, uri string, _ confmap.WatcherFunc) (*confmap.Retrieved, error) {
	name, byDefault, _ := strings.Cut(strings.TrimPrefix(uri, "env:"), ":-")
	if !validName.MatchString(name) {
		return nil, fmt.Errorf("environment variable %q has invalid name: must match regex %s", name, validName)
	}
	if !slices.Contains(v.recorder.names, name) {
		v.recorder.names = append(v.recorder.names, name)
	}
	value, exists := v.values[name]
	if !exists {
		value = byDefault
	}
	if err := v.recorder.spend(len(value)); err != nil {
		return nil, err
	}
	return confmap.NewRetrievedFromYAML([]byte(value))
}

func (*variables) Scheme() string                 { return "env" }
func (*variables) Shutdown(context.Context) error { return nil }

// refusing makes factories of providers that refuse what they are asked for. With a recorder they note it instead and
// give nothing, so that the resolution goes on.
func refusing(schemes []string, recorder *recorder) []confmap.ProviderFactory {
	factories := make([]confmap.ProviderFactory, 0, len(schemes))
	for _, scheme := range schemes {
		factories = append(factories, confmap.NewProviderFactory(func(confmap.ProviderSettings) confmap.Provider {
			return &refuser{scheme: scheme, recorder: recorder}
		}))
	}
	return factories
}

type refuser struct {
	scheme   string
	recorder *recorder
}

func (r *refuser) Retrieve(_ context.Context, uri string, _ confmap.WatcherFunc) (*confmap.Retrieved, error) {
	if r.recorder == nil {
		return nil, fmt.Errorf("the provider %q is not allowed here: %q is outside of the configuration", r.scheme, uri)
	}
	if !slices.Contains(r.recorder.refused, uri) {
		r.recorder.refused = append(r.recorder.refused, uri)
	}
	return confmap.NewRetrievedFromYAML(nil)
}

func (r *refuser) Scheme() string               { return r.scheme }
func (*refuser) Shutdown(context.Context) error { return nil }

// resolved is a configuration with everything in `${...}` replaced, and what was asked for on the way.
type resolved struct {
	conf *confmap.Conf
	recorder
}

// resolve replaces what is in `${...}`, with nothing where a provider is refused.
func resolve(ctx context.Context, document *source.Document, request Request) (result *resolved, err error) {
	result = &resolved{conf: confmap.New()}
	defer recovered(&err)
	schemes := append(slices.Clone(outside), unknownSchemes(document)...)
	resolver, err := confmap.NewResolver(
		resolverSettings(request, &result.recorder, refusing(schemes, &result.recorder)))
	if err != nil {
		return result, err
	}
	conf, err := resolver.Resolve(ctx)
	if err != nil {
		return result, err
	}
	result.conf = conf
	return result, nil
}

var schemeOfReference = regexp.MustCompile(`\$\{([A-Za-z][A-Za-z0-9+.-]+):`)

// unknownSchemes are those that the text refers to and no provider has. Their number is bounded: they are only sought
// to name more than the first of them.
func unknownSchemes(document *source.Document) []string {
	const most = 20
	known := append([]string{"env", "yaml"}, outside...)
	var unknown []string
	document.Scalars(func(_ []string, node *yaml.Node) bool {
		if !strings.Contains(node.Value, "${") {
			return true
		}
		for _, match := range schemeOfReference.FindAllStringSubmatch(node.Value, -1) {
			if scheme := match[1]; !slices.Contains(known, scheme) && len(unknown) < most {
				known, unknown = append(known, scheme), append(unknown, scheme)
			}
		}
		return len(unknown) < most
	})
	return unknown
}
