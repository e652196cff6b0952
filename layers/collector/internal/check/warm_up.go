package check

import (
	"context"
	"crypto/x509"
	_ "time/tzdata" // zones without files
	_ "unsafe"      // for the name that is linked below

	"github.com/headgate/headgate/layers/collector/internal/operation"
)

// totalMemory returns the memory to which a memory_limiter's percentages refer. It reads files, and only its package's
// own tests can replace it.
//
//go:linkname totalMemory go.opentelemetry.io/collector/internal/memorylimiter.GetMemoryFn
var totalMemory func() (uint64, error)

// warmUp does what the first request would otherwise wait for, and everything that opens files: later none can be
// opened.
func warmUp(_ context.Context, env *operation.Environment) error {
	if _, err := env.Factories(); err != nil {
		return err
	}
	// crypto/x509 caches the result. An error occurs again where a component asks for the pool.
	_, _ = x509.SystemCertPool()
	total, err := totalMemory()
	totalMemory = func() (uint64, error) { return total, err }
	return nil
}
