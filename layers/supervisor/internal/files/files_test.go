package files_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/headgate/headgate/layers/supervisor/internal/files"
)

func TestAFileIsReadIfItIsOneAndNotTooLarge(t *testing.T) {
	folder := t.TempDir()
	plain, pipe, link := filepath.Join(folder, "plain"), filepath.Join(folder, "pipe"), filepath.Join(folder, "link")
	if err := files.Replace(plain, []byte("12345")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(plain, link); err != nil {
		t.Fatal(err)
	}
	if content, err := files.Read(plain, 5); err != nil || string(content) != "12345" {
		t.Errorf("%q, %v", content, err)
	}
	for _, path := range []string{pipe, link, folder, filepath.Join(folder, "none")} {
		if content, err := files.Read(path, 5); err == nil {
			t.Errorf("%s: %q", path, content)
		}
	}
	if content, err := files.Read(plain, 4); err == nil {
		t.Errorf("%q", content)
	}
}

func TestAFileIsReplacedWholeAndForItsOwnerOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	for _, content := range []string{"first", "second"} {
		if err := files.Replace(path, []byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	stat, err := os.Stat(path)
	if err != nil || stat.Mode().Perm() != 0o600 || stat.Size() != int64(len("second")) {
		t.Errorf("%v, %v", stat, err)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
}

func TestAFolderHasOneHolderWhoseProcessIsNamedToTheNext(t *testing.T) {
	folder := t.TempDir()
	unlock, err := files.Lock(folder)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		_, err := files.Lock(folder)
		if err == nil || !strings.HasSuffix(err.Error(), fmt.Sprintf("in use by another supervisor, process %d", os.Getpid())) {
			t.Errorf("%v", err)
		}
	}
	unlock()
	unlock, err = files.Lock(folder)
	if err != nil {
		t.Fatal(err)
	}
	unlock()
	if _, err := files.Lock(filepath.Join(folder, "missing")); err == nil {
		t.Error("a folder that is not there is locked")
	}
}

func TestAFileThatCannotBeWrittenWholeLeavesTheOneBefore(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "file")
	if err := os.MkdirAll(filepath.Join(path, "held"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := files.Replace(path, []byte("new")); err == nil {
		t.Error("a folder is replaced")
	}
	if entries, err := os.ReadDir(folder); err != nil || len(entries) != 1 {
		t.Errorf("%v are left, %v", entries, err)
	}
	if err := files.Sync(filepath.Join(folder, "missing")); err == nil {
		t.Error("what is not there is on the disk")
	}
}
