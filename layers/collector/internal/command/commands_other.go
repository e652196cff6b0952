//go:build !linux

package command

import (
	"github.com/headgate/headgate/layers/collector/internal/operation"
	"github.com/spf13/cobra"
)

// ours returns nil: configurations are checked on Linux alone, whose kernel confines the programs that read them. A host
// of another system only runs the collector.
func ours(*operation.Environment) []*cobra.Command { return nil }
