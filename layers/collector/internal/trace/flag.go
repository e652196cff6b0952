package trace

import (
	"strings"

	"github.com/headgate/headgate/layers/collector/internal/tracefile"
	"github.com/spf13/cobra"
	"go.opentelemetry.io/collector/otelcol"
)

// AddFlag adds the flag to the collector's command. It is read by Asked, before there is a command.
func AddFlag(command *cobra.Command) {
	command.Flags().String(tracefile.Flag, "", "folder for the trace of a test run")
	_ = command.Flags().MarkHidden(tracefile.Flag) // its error is that there is no such flag
}

// Asked returns settings whose collector is recorded if these arguments have the flag, else the settings as they are: a
// collector without the flag is the official one.
func Asked(arguments []string, settings otelcol.CollectorSettings) otelcol.CollectorSettings {
	for _, argument := range arguments {
		if folder, is := strings.CutPrefix(argument, "--"+tracefile.Flag+"="); is && folder != "" {
			return New(folder).Around(settings)
		}
	}
	return settings
}
