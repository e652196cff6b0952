// Program otelcol-contrib is the official collector of that name, component for component, with one command more:
// `check`, which answers questions about configurations.
package main

import (
	"log"

	"github.com/headgate/headgate/layers/collector/internal/check"
	"github.com/headgate/headgate/layers/collector/internal/distribution"
	"go.opentelemetry.io/collector/otelcol"
)

func main() {
	settings := distribution.Settings()
	command := otelcol.NewCommand(settings)
	command.AddCommand(check.NewCommand(settings))
	if err := command.Execute(); err != nil {
		log.Fatalf("collector server run finished with error: %v", err)
	}
}
