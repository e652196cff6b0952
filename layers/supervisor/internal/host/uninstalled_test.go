package host

import (
	"os"
	"path/filepath"
	"testing"
)

func TestOnlyTheInstallersFolderSaysThatAHostIsUninstalled(t *testing.T) {
	storage := t.TempDir()
	place := filepath.Join(storage, "uninstalled")
	if Uninstalled(storage) != nil {
		t.Error("it says so without the folder")
	}
	if err := os.WriteFile(place, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if Uninstalled(storage) != nil {
		t.Error("it says so of a file")
	}
	if err := os.Remove(place); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(place, 0o700); err != nil {
		t.Fatal(err)
	}
	if said := Uninstalled(storage); string(said.GetData()) != `{"v":1,"uninstalled":true}` {
		t.Errorf("%v", said)
	}
}
