// Package contexts parses an OTTL expression in one of the grammar's contexts, with the standard functions of pkg/ottl.
//
// Go compiles these functions for each context, which takes twenty seconds. A package that has tests is compiled again
// with them, so this is a package without tests of its own: those of lint and ottlref test it.
package contexts

import (
	"github.com/headgate/headgate/layers/collector/generation"
	"github.com/headgate/headgate/layers/collector/internal/standard"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/ottl"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/ottl/contexts/ottldatapoint"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/ottl/contexts/ottllog"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/ottl/contexts/ottlmetric"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/ottl/contexts/ottlprofile"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/ottl/contexts/ottlprofilesample"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/ottl/contexts/ottlresource"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/ottl/contexts/ottlscope"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/ottl/contexts/ottlspan"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/ottl/contexts/ottlspanevent"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/ottl/ottlfuncs"
)

// Names lists the contexts of the grammar.
var Names = []string{
	ottlresource.ContextName, ottlscope.ContextName, ottllog.ContextName, ottlspan.ContextName,
	ottlspanevent.ContextName, ottlmetric.ContextName, ottldatapoint.ContextName, ottlprofile.ContextName,
	ottlprofilesample.ContextName,
}

func init() { Names = append(Names, generation.MoreContexts...) }

// Parse returns the parser's error for an expression. Its kind is one of those of standard.Parse.
func Parse(context, kind, text string) error {
	switch context {
	case ottlresource.ContextName:
		return standard.Parse(kind, text, ottlresource.NewParser)
	case ottlscope.ContextName:
		return standard.Parse(kind, text, ottlscope.NewParser)
	case ottllog.ContextName:
		return standard.Parse(kind, text, ottllog.NewParser)
	case ottlspan.ContextName:
		return standard.Parse(kind, text, ottlspan.NewParser)
	case ottlspanevent.ContextName:
		return standard.Parse(kind, text, ottlspanevent.NewParser)
	case ottlmetric.ContextName:
		return standard.Parse(kind, text, ottlmetric.NewParser)
	case ottldatapoint.ContextName:
		return standard.Parse(kind, text, ottldatapoint.NewParser)
	case ottlprofile.ContextName:
		return standard.Parse(kind, text, ottlprofile.NewParser)
	case ottlprofilesample.ContextName:
		return standard.Parse(kind, text, ottlprofilesample.NewParser)
	}
	return generation.ParseMore(context, kind, text)
}

// functions are the standard functions of contexts, by type.
var functions = []any{
	ottlfuncs.StandardFuncs[generation.Resource], ottlfuncs.StandardFuncs[generation.Scope],
	ottlfuncs.StandardFuncs[generation.Log], ottlfuncs.StandardFuncs[generation.Span],
	ottlfuncs.StandardFuncs[generation.SpanEvent], ottlfuncs.StandardFuncs[generation.Metric],
	ottlfuncs.StandardFuncs[generation.DataPoint], ottlfuncs.StandardFuncs[generation.Profile],
	ottlfuncs.StandardFuncs[generation.ProfileSample],
}

// Functions returns the standard functions of a context, nil if it came later, for tests that evaluate expressions.
func Functions[K any]() map[string]ottl.Factory[K] {
	for _, one := range functions {
		if ofContext, is := one.(func() map[string]ottl.Factory[K]); is {
			return ofContext()
		}
	}
	return nil
}
