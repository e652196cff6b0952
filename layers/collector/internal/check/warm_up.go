package check

import (
	"context"
	"crypto/x509"
	_ "time/tzdata" // zones without files
	_ "unsafe"      // for the name that is linked below

	"github.com/headgate/headgate/layers/collector/internal/operation"
)

// totalMemory is by what a memory_limiter's percentages go. It reads files, and nothing lets a caller replace it but its
// package's own tests.
//
//go:linkname totalMemory go.opentelemetry.io/collector/internal/memorylimiter.GetMemoryFn
var totalMemory func() (uint64, error)

// warmUp does once what the first request would otherwise wait for, and what reads files: none is opened afterwards.
func warmUp(_ context.Context, env *operation.Environment) error {
	if _, err := env.Factories(); err != nil {
		return err
	}
	// Kept by crypto/x509 itself; an error comes again where it is asked for.
	_, _ = x509.SystemCertPool()
	total, err := totalMemory()
	totalMemory = func() (uint64, error) { return total, err }
	return nil
}
