package command

import (
	"github.com/headgate/headgate/layers/collector/internal/check"
	"github.com/headgate/headgate/layers/collector/internal/operation"
	"github.com/headgate/headgate/layers/collector/internal/reference"
	"github.com/headgate/headgate/layers/collector/internal/sandbox"
	"github.com/spf13/cobra"
)

// ours are the commands that the official collector lacks: `check` answers questions about configurations, `reference`
// prints what the components accept, and `sandbox` runs a configuration for a test.
func ours(env *operation.Environment) []*cobra.Command {
	return []*cobra.Command{check.NewCommand(env), reference.NewCommand(env), sandbox.NewCommand()}
}
