// Program otelcol-contrib is the official collector of that name, with the same components and two more commands:
// `check`, which answers questions about configurations, and `sandbox`, which runs one for a test.
package main

import (
	"log"
	"os"

	"github.com/headgate/headgate/layers/collector/internal/check"
	"github.com/headgate/headgate/layers/collector/internal/distribution"
	"github.com/headgate/headgate/layers/collector/internal/sandbox"
	"go.opentelemetry.io/collector/otelcol"
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == sandbox.InitCommand {
		os.Exit(sandbox.Init())
	}
	settings := distribution.Settings()
	command := otelcol.NewCommand(settings)
	command.AddCommand(check.NewCommand(settings, distribution.Factories), sandbox.NewCommand())
	if err := command.Execute(); err != nil {
		log.Fatalf("collector server run finished with error: %v", err)
	}
}
