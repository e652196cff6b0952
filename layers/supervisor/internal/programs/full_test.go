package programs

import (
	"os"
	"strings"
	"testing"
)

func TestAFullDiskIsSaid(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = full.Close() }()
	target := Target{Version: "1.2.3", Size: 100, SHA256: strings.Repeat("a", 64), BinarySHA256: strings.Repeat("b", 64)}
	err = write(strings.NewReader(strings.Repeat("a", 100)), target, full)
	if err == nil || !strings.Contains(err.Error(), "no space left on device") {
		t.Error(err)
	}
}
