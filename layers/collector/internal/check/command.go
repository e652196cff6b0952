// Package check is the command `check`: a long-lived process that answers questions, a JSON line each.
package check

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime/debug"

	"github.com/headgate/headgate/layers/collector/internal/operation"
	"github.com/spf13/cobra"
)

// gcPercent is how far the heap grows in questions before it is collected, in percent of what was in use (Go's own default
// is 100). A text of a thousand lines fits in, and waits for no collection: the process collects while it is idle.
const gcPercent = 400

// memoryLimit is the heap size above which the garbage collector runs at every chance.
const memoryLimit = maxMemory - 120<<20

// NewCommand returns the command `check` of this collector.
func NewCommand(env *operation.Environment) *cobra.Command {
	var descriptor uint
	var platform bool
	command := &cobra.Command{
		Use:   "check",
		Short: "Answers questions about configurations, a JSON line each, over a socket",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return run(command.Context(), env, uintptr(descriptor), platform)
		},
		SilenceUsage: true,
	}
	command.Flags().UintVar(&descriptor, "fd", 3, "open file descriptor to read from and write to")
	command.Flags().BoolVar(&platform, "platform", false, "start also where the platform refuses to seal this process")
	return command
}

func run(ctx context.Context, env *operation.Environment, descriptor uintptr, platform bool) error {
	if ctx == nil {
		ctx = context.Background()
	}
	channel := os.NewFile(descriptor, "channel")
	if channel == nil {
		return fmt.Errorf("file descriptor %d is not open", descriptor)
	}
	if _, err := channel.Stat(); err != nil {
		return fmt.Errorf("file descriptor %d: %w", descriptor, err)
	}
	defer channel.Close()
	// Some components ask the machine's cloud for credentials or a region while they are validated (sigv4auth, awsemf).
	// The answer would not depend on the configuration, and without a network they try for up to 20 s. Nothing else reads
	// this environment: `${env:...}` has a provider of its own.
	if err := os.Setenv("AWS_EC2_METADATA_DISABLED", "true"); err != nil {
		return err
	}
	// Every host has it. Without it, components that look for files below it report that instead of their own error.
	if err := os.Setenv("HOME", "/"); err != nil {
		return err
	}
	debug.SetGCPercent(gcPercent)
	debug.SetMemoryLimit(memoryLimit)
	if err := warmUp(ctx, env); err != nil {
		return fmt.Errorf("warming up: %w", err)
	}
	memory, err := openStatm()
	if err != nil {
		return err
	}
	if err := seal(); err != nil && !(platform && errors.Is(err, fs.ErrPermission)) {
		return fmt.Errorf("sealing the process: %w", err)
	}
	return Serve(ctx, channel, env, Handlers, memory.residentBytes)
}
