package reference

import (
	"bufio"

	"github.com/headgate/headgate/layers/collector/internal/operation"
	"github.com/spf13/cobra"
)

// NewCommand returns the command `reference` of this collector.
func NewCommand(env *operation.Environment) *cobra.Command {
	var document bool
	command := &cobra.Command{
		Use:   "reference",
		Short: "Prints the JSON Schema of every component's configuration, or with --document one of a whole configuration",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			form := Components
			if document {
				form = Document
			}
			output := bufio.NewWriter(command.OutOrStdout())
			if err := Write(output, env, form); err != nil {
				return err
			}
			return output.Flush()
		},
		SilenceUsage: true,
	}
	command.Flags().BoolVar(&document, "document", false, "one schema of a whole configuration, for editors")
	return command
}
