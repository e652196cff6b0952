package validate

import (
	"context"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/headgate/headgate/layers/collector/internal/source"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/provider/yamlprovider"
	"go.yaml.in/yaml/v3"
)

// outside are the schemes of the official distribution's providers that read something outside of the configuration.
var outside = []string{"file", "http", "https", "aes", "s3", "secretsmanager", "googlesecretmanager"}

// strict refuses those. The resolver itself refuses a scheme without a provider.
var strict = refusing(outside, nil)

const fileScheme = "file"

// recorder records what a resolution asks for.
type recorder struct {
	names   []string
	refused []string
	// retrieved counts the replacements, bytes their total length.
	retrieved, bytes int
	// entries counts the nodes of the values of variables, prices are those of each value.
	entries int
	prices  map[string]int
}

// The resolver copies the whole text for each `${...}`, and a value may refer to further ones.
const (
	maxRetrieved = 5_000
	maxBytes     = 8 << 20
)

// spend counts a replacement. It returns a *source.Cost if there are too many.
func (r *recorder) spend(bytes int) error {
	r.retrieved++
	r.bytes += bytes
	if r.retrieved > maxRetrieved || r.bytes > maxBytes {
		return &source.Cost{Line: 1, Message: fmt.Sprintf(
			"its ${...} make more than %d replacements or %d bytes; nothing was checked", maxRetrieved, maxBytes)}
	}
	return nil
}

// text returns the factory of the collector's own provider for `yaml:`, with counting.
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

// variables returns the factory of a provider for `env:` that knows only these variables.
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

// Retrieve does what the collector's provider for `env:` does, with the same error messages.
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
	if err := errors.Join(v.recorder.spend(len(value)), v.recorder.spendValue(name, value)); err != nil {
		return nil, err
	}
	return confmap.NewRetrievedFromYAML([]byte(value))
}

func (*variables) Scheme() string                 { return "env" }
func (*variables) Shutdown(context.Context) error { return nil }

// files returns a factory whose provider, if it is the one for `file:`, knows the request's files. Others are refused.
func (r *recorder) files(texts map[string]string, refused confmap.ProviderFactory) confmap.ProviderFactory {
	return confmap.NewProviderFactory(func(settings confmap.ProviderSettings) confmap.Provider {
		provider := refused.Create(settings)
		if provider.Scheme() != fileScheme {
			return provider
		}
		return &files{provider, texts, r}
	})
}

type files struct {
	confmap.Provider
	texts    map[string]string
	recorder *recorder
}

// Retrieve does what the collector's provider for `file:` does with a file of that content.
func (f *files) Retrieve(ctx context.Context, uri string, watch confmap.WatcherFunc) (*confmap.Retrieved, error) {
	text, known := fileOf(f.texts, uri)
	if !known {
		return f.Provider.Retrieve(ctx, uri, watch)
	}
	if err := errors.Join(f.recorder.spend(len(text)), f.recorder.spendValue(uri, text)); err != nil {
		return nil, err
	}
	return confmap.NewRetrievedFromYAML([]byte(text))
}

// fileOf returns the text that a reference `file:PATH` stands for.
func fileOf(texts map[string]string, uri string) (string, bool) {
	name := strings.TrimPrefix(uri, fileScheme+":")
	if text, known := texts[name]; known {
		return text, true
	}
	for given, text := range texts {
		if path.Clean(given) == path.Clean(name) {
			return text, true
		}
	}
	return "", false
}

// refusing returns factories of providers that fail for every request. With a recorder they record the request and
// return nothing instead, so that the resolution goes on.
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
		return nil, fmt.Errorf("the provider %q is not allowed here: %q refers to something outside of the configuration", r.scheme, uri)
	}
	if !slices.Contains(r.recorder.refused, uri) {
		r.recorder.refused = append(r.recorder.refused, uri)
	}
	return confmap.NewRetrievedFromYAML(nil)
}

func (r *refuser) Scheme() string               { return r.scheme }
func (*refuser) Shutdown(context.Context) error { return nil }

// resolved is a configuration with every `${...}` replaced, and what the replacement asked for.
type resolved struct {
	conf *confmap.Conf
	// plain is the configuration as a mapping, for reading only: confmap copies it for each access.
	plain map[string]any
	recorder
}

// Resolved replaces every `${...}` of a text as a collector with these variables does. There are no providers that read
// anything else. Its error is a *source.Cost if the result would be too long.
func Resolved(ctx context.Context, text string, env map[string]string) (*confmap.Conf, error) {
	request := Request{YAML: text, Env: env}
	if err := request.replaced(); err != nil {
		return nil, err
	}
	resolver, err := confmap.NewResolver(resolverSettings(request, &recorder{}, nil))
	if err != nil {
		return nil, fmt.Errorf("setting up the resolver: %w", err)
	}
	conf, err := resolver.Resolve(ctx)
	if err = errors.Join(err, resolver.Shutdown(ctx)); err != nil {
		return nil, err
	}
	return conf, nil
}

// resolve replaces every `${...}`, by nothing if its provider is refused.
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
	result.conf, result.plain = conf, conf.ToStringMap()
	return result, nil
}

var schemeOfReference = regexp.MustCompile(`\$\{([A-Za-z][A-Za-z0-9+.-]+):`)

// unknownSchemes returns the schemes in the text that have no provider, up to a limit, so that not only the first one
// is reported.
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
