//go:build !linux

package command

import (
	"github.com/headgate/headgate/layers/collector/internal/operation"
	"github.com/spf13/cobra"
)

// ours are no commands: configurations are checked on Linux, whose kernel confines the programs that read them. A host of
// another system runs the collector alone.
func ours(*operation.Environment) []*cobra.Command { return nil }
