package check

import (
	"context"
	"encoding/json"

	"github.com/headgate/headgate/layers/collector/internal/compare"
	"github.com/headgate/headgate/layers/collector/internal/describe"
	"github.com/headgate/headgate/layers/collector/internal/evaluate"
	"github.com/headgate/headgate/layers/collector/internal/explain"
	"github.com/headgate/headgate/layers/collector/internal/graph"
	"github.com/headgate/headgate/layers/collector/internal/inspect"
	"github.com/headgate/headgate/layers/collector/internal/lint"
	"github.com/headgate/headgate/layers/collector/internal/mutants"
	"github.com/headgate/headgate/layers/collector/internal/operation"
	"github.com/headgate/headgate/layers/collector/internal/ottlref"
	"github.com/headgate/headgate/layers/collector/internal/policies"
	"github.com/headgate/headgate/layers/collector/internal/prepare"
	"github.com/headgate/headgate/layers/collector/internal/reference"
	"github.com/headgate/headgate/layers/collector/internal/rename"
	"github.com/headgate/headgate/layers/collector/internal/rules"
	"github.com/headgate/headgate/layers/collector/internal/start"
	"github.com/headgate/headgate/layers/collector/internal/steps"
	"github.com/headgate/headgate/layers/collector/internal/tell"
	"github.com/headgate/headgate/layers/collector/internal/together"
	"github.com/headgate/headgate/layers/collector/internal/upgrade"
	"github.com/headgate/headgate/layers/collector/internal/validate"
)

// Handlers are the operations by name. An operation is a package of its own and one line here.
var Handlers = map[string]operation.Handler{
	"describe":       describe.Handle,
	"validate":       explain.Handle,
	"crashed":        validate.HandleCrashed,
	"check":          together.Handle,
	"graph":          graph.Handle,
	"inspect":        inspect.Handler(),
	"rename":         rename.Handle,
	"price":          validate.HandlePrice,
	"dry_run":        validate.HandleDryRun,
	"settings":       validate.HandleSettings,
	"lint":           lint.Handle,
	"ottl_reference": ottlref.Handler(),
	"mutants":        mutants.Handle,
	"mutants_judge":  withoutCollector(mutants.HandleJudge),
	"mutants_score":  withoutCollector(mutants.HandleScore),
	"policies":       policies.Handle,
	"policy_list":    withoutCollector(policies.HandleList),
	"policy_rules":   policies.HandleRules,
	"prepare":        prepare.Handle,
	"feature_gates":  prepare.HandleGates,
	"reference":      reference.Handler(),
	"compare":        withoutCollector(compare.Handle),
	"compare_starts": withoutCollector(compare.HandleStarts),
	"start":          start.Handle,
	"steps":          steps.Handle,
	"compile":        withoutCollector(rules.Handle),
	"evaluate":       withoutCollector(evaluate.Handle),
	"tell":           withoutCollector(tell.Handle),
	"upgrade":        withoutCollector(upgrade.Handle),
}

// withoutCollector adapts a handler that does not use the collector.
func withoutCollector(handle func(context.Context, json.RawMessage) (any, error)) operation.Handler {
	return func(ctx context.Context, _ *operation.Environment, request json.RawMessage) (any, error) {
		return handle(ctx, request)
	}
}
