package lint

import (
	"github.com/headgate/headgate/layers/collector/generation"
	"github.com/headgate/headgate/layers/collector/internal/standard"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/ottl/contexts/ottldatapoint"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/ottl/contexts/ottllog"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/ottl/contexts/ottlmetric"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/ottl/contexts/ottlprofile"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/ottl/contexts/ottlprofilesample"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/ottl/contexts/ottlresource"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/ottl/contexts/ottlscope"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/ottl/contexts/ottlspan"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/ottl/contexts/ottlspanevent"
)

// contexts lists the contexts of the grammar.
var contexts = []string{
	ottlresource.ContextName, ottlscope.ContextName, ottllog.ContextName, ottlspan.ContextName,
	ottlspanevent.ContextName, ottlmetric.ContextName, ottldatapoint.ContextName, ottlprofile.ContextName,
	ottlprofilesample.ContextName,
}

func init() { contexts = append(contexts, generation.MoreContexts...) }

// Parse parses an expression with the standard functions, without a component.
func Parse(context string, kind Kind, text string) error {
	switch context {
	case ottlresource.ContextName:
		return standard.Parse(string(kind), text, ottlresource.NewParser)
	case ottlscope.ContextName:
		return standard.Parse(string(kind), text, ottlscope.NewParser)
	case ottllog.ContextName:
		return standard.Parse(string(kind), text, ottllog.NewParser)
	case ottlspan.ContextName:
		return standard.Parse(string(kind), text, ottlspan.NewParser)
	case ottlspanevent.ContextName:
		return standard.Parse(string(kind), text, ottlspanevent.NewParser)
	case ottlmetric.ContextName:
		return standard.Parse(string(kind), text, ottlmetric.NewParser)
	case ottldatapoint.ContextName:
		return standard.Parse(string(kind), text, ottldatapoint.NewParser)
	case ottlprofile.ContextName:
		return standard.Parse(string(kind), text, ottlprofile.NewParser)
	case ottlprofilesample.ContextName:
		return standard.Parse(string(kind), text, ottlprofilesample.NewParser)
	}
	return generation.ParseMore(context, string(kind), text)
}
