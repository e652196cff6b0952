package output

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

func TestALogOfAFileStaysSmallAndKeepsTheOneBefore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "supervisor.log")
	file := &logFile{path: path}
	if err := file.open(); err != nil {
		t.Fatal(err)
	}
	for i := range 25 {
		if _, err := file.Write(bytes.Repeat([]byte{byte('a' + i)}, 1<<20)); err != nil {
			t.Fatal(err)
		}
	}
	_ = file.file.Close()
	now, _ := os.ReadFile(path)
	before, _ := os.ReadFile(path + ".1")
	if len(now) != 5<<20 || len(before) != 10<<20 || now[0] != 'u' || before[0] != 'k' {
		t.Errorf("%d bytes from %q, and before %d from %q", len(now), now[0], len(before), before[0])
	}
}
