package host

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/headgate/headgate/layers/supervisor/internal/metrics"
	"github.com/headgate/headgate/layers/supervisor/internal/system"
)

// discarding are the types of exporters that deliver nothing: what they count as sent is lost. The service has the same
// list.
var discarding = []string{"debug", "logging", "nop"}

// fileType names exporters that deliver nothing if their file is in memory, or is the null device.
const fileType = "file"

// discards are the ids of a configuration's exporters that deliver nothing from this host.
func discards(root map[string]any, values metrics.Values) map[string]bool {
	exporters, _ := metrics.At(root, "exporters").(map[string]any)
	lost := map[string]bool{}
	for id, settings := range exporters {
		kind := typeOf(id)
		path, _ := metrics.At(settings, "path").(string)
		if slices.Contains(discarding, kind) || (kind == fileType && vanishes(metrics.Filled(path, values))) {
			lost[id] = true
		}
	}
	return lost
}

func typeOf(id string) string {
	kind, _, _ := strings.Cut(id, "/")
	return strings.TrimSpace(kind)
}

// vanishes reports whether what is written to a file is gone with the machine.
func vanishes(path string) bool {
	if path == "/dev/null" {
		return true
	}
	if path == "" || strings.HasPrefix(path, "/dev/std") {
		return false
	}
	// The exporter may make the folder.
	for folder := filepath.Dir(path); ; folder = filepath.Dir(folder) {
		if memory, exists := system.InMemory(folder); exists {
			return memory
		}
		if folder == filepath.Dir(folder) {
			return false
		}
	}
}
