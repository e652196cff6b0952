package host

import (
	"os"
	"path/filepath"

	"github.com/open-telemetry/opamp-go/protobufs"
)

// uninstalledName is a folder that the installer creates in the storage before it stops the supervisor for good.
const uninstalledName = "uninstalled"

// Uninstalled returns what a goodbye says of a host that is being uninstalled; nil for one that may be back.
func Uninstalled(storage string) *protobufs.CustomMessage {
	if info, err := os.Lstat(filepath.Join(storage, uninstalledName)); err != nil || !info.IsDir() {
		return nil
	}
	return &protobufs.CustomMessage{Capability: Capability, Type: reportType, Data: []byte(`{"v":1,"uninstalled":true}`)}
}
