package guard

import (
	"os"
	"strconv"
	"strings"
)

const (
	memoryLimit = "GOMEMLIMIT"
	// The share of a container's memory that OpenTelemetry's Helm chart gives the collector's heap.
	percentOfLimit = 80
	// Control groups v1 write a number near 2^63 if there is no limit.
	noLimit = 1 << 50
)

// The files with a container's memory limit, in control groups v2 and v1.
var limitFiles = []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}

// Bounded returns the environment with a limit for Go's heap below the container's memory limit, so that the collector
// collects garbage before the kernel kills it. An existing GOMEMLIMIT stays.
func Bounded(environment []string, files ...string) []string {
	for _, variable := range environment {
		if strings.HasPrefix(variable, memoryLimit+"=") {
			return environment
		}
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		limit, err := strconv.ParseInt(strings.TrimSpace(string(content)), 10, 64)
		if err != nil || limit <= 0 || limit >= noLimit {
			continue
		}
		return append(environment, memoryLimit+"="+strconv.FormatInt(limit/100*percentOfLimit, 10))
	}
	return environment
}
