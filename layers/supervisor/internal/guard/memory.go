package guard

import (
	"os"
	"strconv"
	"strings"
)

const (
	memoryLimit = "GOMEMLIMIT"
	// The part of a container's memory that OpenTelemetry's own Helm chart gives the collector's heap.
	percentOfLimit = 80
	// Version 1 of control groups writes a number near 2^63 where there is no limit.
	noLimit = 1 << 50
)

// Where a container finds its own limit, in either version of control groups.
var limitFiles = []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}

// Bounded is the environment with a limit for Go's heap below that of the container, so that the collector tidies up
// before the kernel ends it. Whoever sets GOMEMLIMIT knows better.
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
