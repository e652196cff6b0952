package sandbox

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// root is the file system that a collector sees: its folder, and the few files that it needs in order to start.
type root struct {
	path   string
	folder string
}

// newRoot makes the file system of a run under the temporary directory.
func newRoot(run Run, tier tier) (_ *root, err error) {
	path, err := os.MkdirTemp("", "headgate-run-")
	if err != nil {
		return nil, fmt.Errorf("making the run's folder: %w", err)
	}
	r := &root{path: path, folder: filepath.Join(path, "run")}
	defer func() {
		if err != nil {
			r.remove()
		}
	}()
	if err := os.Chmod(path, 0o755); err != nil {
		return nil, err
	}
	if err := os.Mkdir(r.folder, 0o700); err != nil {
		return nil, err
	}
	for name, content := range map[string][]byte{ConfigFile: run.Config, InputFile: run.Input} {
		if err := os.WriteFile(filepath.Join(r.folder, name), content, 0o600); err != nil {
			return nil, err
		}
	}
	if tier.chroot {
		if err := r.furnish(run); err != nil {
			return nil, err
		}
	}
	if tier.otherUser {
		return r, r.giveAway(uid())
	}
	return r, nil
}

// furnish puts in place what a process needs in a root of its own.
func (r *root) furnish(run Run) error {
	// The memory that the collector is told of is what it may use: a memory_limiter with percentages goes by it.
	kilobytes := run.Limits.Data >> 10
	meminfo := fmt.Sprintf("MemTotal: %d kB\nMemFree: %d kB\nMemAvailable: %d kB\n", kilobytes, kilobytes, kilobytes)
	for name, content := range map[string]string{
		"proc/meminfo": meminfo, "proc/self/cgroup": "", "proc/self/mountinfo": "",
	} {
		if err := r.write(name, []byte(content)); err != nil {
			return err
		}
	}
	// A component looks for the path of its own binary, and that there is something.
	if err := r.write("otelcol-contrib", nil); err != nil {
		return err
	}
	if err := os.Symlink("/otelcol-contrib", filepath.Join(r.path, "proc/self/exe")); err != nil {
		return err
	}
	libraries, err := sharedLibraries(run.Collector)
	if err != nil {
		return err
	}
	for _, library := range libraries {
		content, err := os.ReadFile(library)
		if err != nil {
			return err
		}
		if err := r.write(library, content); err != nil {
			return err
		}
	}
	return nil
}

func (r *root) write(name string, content []byte) error {
	path := filepath.Join(r.path, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o755)
}

// sharedLibraries are the files that a dynamically linked binary is loaded with: none for an official release.
func sharedLibraries(binary string) ([]string, error) {
	file, err := elf.Open(binary)
	if err != nil {
		return nil, fmt.Errorf("reading the collector: %w", err)
	}
	defer file.Close()
	var found []string
	for _, program := range file.Progs {
		if program.Type == elf.PT_INTERP {
			interpreter, err := io.ReadAll(program.Open())
			if err != nil {
				return nil, fmt.Errorf("reading the collector: %w", err)
			}
			found = append(found, string(bytes.TrimRight(interpreter, "\x00")))
		}
	}
	if len(found) == 0 {
		return nil, nil
	}
	names, err := file.ImportedLibraries()
	if err != nil {
		return nil, fmt.Errorf("reading the collector: %w", err)
	}
	for _, name := range names {
		for _, directory := range libraryDirectories {
			if path := filepath.Join(directory, name); exists(path) {
				found = append(found, path)
				break
			}
		}
	}
	return found, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// giveAway makes the run's folder that of the user whom the collector runs as.
func (r *root) giveAway(user int) error {
	return filepath.WalkDir(r.folder, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chown(path, user, user)
	})
}

// overLimit says what of the folder has grown too large, or nothing.
func (r *root) overLimit(limits Limits) string {
	var all, recorded int64
	err := filepath.WalkDir(r.folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // a file that has just gone takes no room
		}
		info, err := entry.Info()
		if err == nil && entry.Type().IsRegular() {
			all += info.Size()
			if filepath.Dir(path) == r.folder && slices.Contains(outputFiles, entry.Name()) {
				recorded += info.Size()
			}
			if recorded > limits.Output {
				return errOutput
			}
		}
		return nil
	})
	if errors.Is(err, errOutput) {
		return fmt.Sprintf("the collector put out more than %d MB", limits.Output>>20)
	}
	if all > limits.Disk {
		return fmt.Sprintf("the collector wrote more than %d MB", limits.Disk>>20)
	}
	return ""
}

// outputFiles are those of the target's signal and of three more: there are four.
var outputFiles = []string{OutputFile, OutputFile + ".1", OutputFile + ".2", OutputFile + ".3"}

var errOutput = errors.New("the output is over its limit")

// output reads what was recorded of every signal, one after the other, up to the limit in all.
func (r *root) output(limit int64) ([]byte, error) {
	var all []byte
	for _, name := range outputFiles {
		content, err := r.recorded(name, limit-int64(len(all)))
		if err != nil {
			return nil, err
		}
		all = append(all, content...)
	}
	return all, nil
}

// recorded reads a file up to the limit and without following a link. One that is not there holds nothing.
func (r *root) recorded(name string, limit int64) ([]byte, error) {
	file, err := os.OpenFile(filepath.Join(r.folder, name), os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ELOOP) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the output: %w", err)
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, limit))
	if err != nil {
		return nil, fmt.Errorf("reading the output: %w", err)
	}
	if int64(len(content)) == limit {
		// Cut between documents.
		content = content[:bytes.LastIndexByte(content, '\n')+1]
	}
	return content, nil
}

// hideIn takes this machine's paths out of a text.
func (r *root) hideIn(text []byte) []byte {
	return bytes.ReplaceAll(bytes.ReplaceAll(text, []byte(r.folder), []byte("/run")), []byte(r.path), nil)
}

func (r *root) remove() {
	_ = os.RemoveAll(r.path)
}
