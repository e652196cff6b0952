// Package linked finds the sources of what the tests are linked with.
package linked

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/headgate/headgate/layers/collector/version/distribution"
)

// VersionFolder is the folder of the version that the tests are run for, as packages of internal/ see it. Its go.mod has
// the linked modules.
var VersionFolder = versionFolder()

func versionFolder() string {
	version := distribution.Settings().BuildInfo.Version
	folder := filepath.Join("../../versions", version)
	if _, err := os.Stat(folder); err != nil {
		return filepath.Join("../../fixtures", version)
	}
	return folder
}

// List is what `go list` prints of the linked packages and modules.
func List(t *testing.T, arguments ...string) string {
	t.Helper()
	command := exec.Command("go", append([]string{"list", "-tags", "grpcnotrace"}, arguments...)...)
	command.Dir = VersionFolder
	listed, err := command.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			t.Logf("%s", exit.Stderr)
		}
		t.Fatal(err)
	}
	return strings.TrimSpace(string(listed))
}

// ModuleFolder is where the sources of a linked module are.
func ModuleFolder(t *testing.T, module string) string {
	t.Helper()
	return List(t, "-m", "-f", "{{.Dir}}", module)
}
