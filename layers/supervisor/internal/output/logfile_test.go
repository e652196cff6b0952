package output

import (
	"bytes"
	"fmt"
	"log"
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

func TestWhatIsLoggedAndWrittenToStandardErrorIsInTheFileOnceItIsClosed(t *testing.T) {
	stderr, writer := os.Stderr, log.Writer()
	t.Cleanup(func() { os.Stderr = stderr; log.SetOutput(writer) })
	path := filepath.Join(t.TempDir(), "supervisor.log")
	closeLog, err := LogTo(path)
	if err != nil {
		t.Fatal(err)
	}
	log.Print("from the log")
	_, _ = fmt.Fprintln(os.Stderr, "from a library")
	closeLog()
	content, err := os.ReadFile(path)
	if lines := bytes.Split(content, []byte{'\n'}); err != nil || len(lines) != 3 || !bytes.HasSuffix(lines[0], []byte(" from the log")) || string(lines[1]) != "from a library" {
		t.Errorf("%q, %v", content, err)
	}
}

func TestALogThatCannotBeOpenedIsSaid(t *testing.T) {
	if _, err := LogTo(filepath.Join(t.TempDir(), "missing", "supervisor.log")); !os.IsNotExist(err) {
		t.Errorf("%v", err)
	}
}
