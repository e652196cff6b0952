// Package command is the program of every version: the official collector, with three more commands on Linux.
package command

import (
	"log"
	"os"

	"github.com/headgate/headgate/layers/collector/internal/operation"
	"github.com/headgate/headgate/layers/collector/internal/recorder"
	"github.com/headgate/headgate/layers/collector/internal/startup"
	"github.com/headgate/headgate/layers/collector/internal/trace"
	"go.opentelemetry.io/collector/otelcol"
)

// Run runs the collector with these settings.
//
// factories makes the same factories as the settings, at less cost; lacking are the components of the official release
// that this build does not have.
func Run(settings otelcol.CollectorSettings, factories func() (otelcol.Factories, error), lacking []operation.Absent) {
	startup.End()
	env := &operation.Environment{
		BuildInfo: settings.BuildInfo, Factories: factories, Components: settings.Factories,
		Providers: settings.ProviderModules, Lacking: lacking,
	}
	settings.Factories = recorder.Lasting(settings.Factories)
	settings = trace.Asked(os.Args, settings)
	command := otelcol.NewCommand(settings)
	trace.AddFlag(command)
	command.AddCommand(ours(env)...)
	if err := command.Execute(); err != nil {
		log.Fatalf("collector server run finished with error: %v", err)
	}
}
