package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/headgate/headgate/layers/collector/internal/confine"
	"github.com/headgate/headgate/layers/collector/internal/inputname"
	"github.com/headgate/headgate/layers/collector/internal/tracefile"
	"golang.org/x/sys/unix"
)

// root is the file system that a collector sees: its folder, and the few files that it needs to start.
type root struct {
	path   string
	folder string
	// mounted is the folder that the launcher has mounted, nil without one. Only the collector's processes see it by path.
	mounted *os.File
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
	if tier.chroot {
		if err := r.furnish(run); err != nil {
			return nil, err
		}
	}
	if run.InputName != "" {
		if !tier.chroot {
			return nil, &unableError{errors.New("a sample with a name needs a root directory of its own")}
		}
		if err := r.place(run.InputName, run.Input); err != nil {
			return nil, fmt.Errorf("placing the sample: %w", err)
		}
	}
	if tier.otherUser {
		return r, os.Chown(r.folder, run.user, run.user)
	}
	return r, nil
}

// listen reads the launcher's messages until it has become the collector, or ended.
func (r *root) listen(status *os.File) (failure string, err error) {
	text, rights := make([]byte, 4096), make([]byte, 64)
	for {
		size, held, _, _, err := unix.Recvmsg(int(status.Fd()), text, rights, unix.MSG_CMSG_CLOEXEC)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil || size == 0 {
			return failure, err
		}
		if string(text[:size]) != confine.FolderMessage {
			failure += string(text[:size])
			continue
		}
		if r.mounted, err = received(rights[:held]); err != nil {
			return failure, err
		}
		// The path by which this process reaches an open descriptor.
		r.folder = fmt.Sprintf("/proc/self/fd/%d/.", r.mounted.Fd())
	}
}

// received returns the file whose descriptor came with a message.
func received(rights []byte) (*os.File, error) {
	messages, err := unix.ParseSocketControlMessage(rights)
	if err != nil {
		return nil, err
	}
	for _, message := range messages {
		descriptors, err := unix.ParseUnixRights(&message)
		if err == nil && len(descriptors) == 1 {
			return os.NewFile(uintptr(descriptors[0]), "folder"), nil
		}
	}
	return nil, errors.New("the launcher's message came without its folder's descriptor")
}

// furnish writes the files that a process needs in a root directory of its own.
func (r *root) furnish(run Run) error {
	// The memory that the collector sees is its limit: a memory_limiter's percentages refer to it.
	kilobytes := run.Limits.Data >> 10
	meminfo := fmt.Sprintf("MemTotal: %d kB\nMemFree: %d kB\nMemAvailable: %d kB\n", kilobytes, kilobytes, kilobytes)
	for name, content := range map[string]string{
		"proc/meminfo": meminfo, "proc/self/cgroup": "", "proc/self/mountinfo": "",
		// One processor, whatever the machine has: resource detection counts them when it starts, and asks for the time of the boot.
		"proc/stat": "cpu  0 0 0 0 0 0 0 0 0 0\ncpu0 0 0 0 0 0 0 0 0 0 0\nbtime 1\n", "proc/cpuinfo": "processor\t: 0\n",
	} {
		if err := r.write(name, []byte(content)); err != nil {
			return err
		}
	}
	// A component looks up the path of its own binary, and whether the file exists.
	if err := r.write("otelcol-contrib", nil); err != nil {
		return err
	}
	if err := os.Symlink("/otelcol-contrib", filepath.Join(r.path, "proc/self/exe")); err != nil {
		return err
	}
	libraries, err := confine.SharedLibraries(run.Collector)
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

// place writes a new file at an absolute path of the collector's root directory, where it can be read only. It follows
// no link out of the root and replaces nothing.
func (r *root) place(name string, content []byte) error {
	if problem := inputname.Problem(name); problem != "" {
		return fmt.Errorf("%q %s", name, problem)
	}
	within, err := os.OpenRoot(r.path)
	if err != nil {
		return err
	}
	defer within.Close()
	parts := strings.Split(name[1:], "/")
	for depth := 1; depth < len(parts); depth++ {
		err := within.Mkdir(strings.Join(parts[:depth], "/"), 0o755)
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	file, err := within.OpenFile(name[1:], os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	return errors.Join(err, file.Close())
}

// sample is where this process finds the run's input.
func (r *root) sample(run Run) string {
	if run.InputName != "" {
		return filepath.Join(r.path, run.InputName)
	}
	return filepath.Join(r.folder, InputFile)
}

// overLimit returns which limit of the folder is exceeded, or "".
func (r *root) overLimit(limits Limits) string {
	if r.recordedBytes() > limits.Output {
		return fmt.Sprintf("the collector's output exceeded %d MB", limits.Output>>20)
	}
	bytes, names, err := r.held(limits)
	switch {
	case err != nil:
		return "what the collector wrote could not be counted: " + err.Error()
	case bytes > limits.Disk:
		return fmt.Sprintf("the collector wrote more than %d MB", limits.Disk>>20)
	case names > limits.Names:
		return fmt.Sprintf("the collector created more than %d files", limits.Names)
	}
	return ""
}

func (r *root) recordedBytes() int64 {
	var all int64
	for _, name := range outputFiles {
		if info, err := os.Lstat(filepath.Join(r.folder, name)); err == nil {
			all += info.Size()
		}
	}
	return all
}

// interval is how often to check the folder. If it is not mounted, only these checks enforce its limits.
func (r *root) interval() time.Duration {
	if r.mounted != nil {
		return 50 * time.Millisecond
	}
	return 10 * time.Millisecond
}

// held returns the folder's size and number of files. A mounted folder is asked; any other is walked, which finds
// everything, because no file can be unlinked there.
func (r *root) held(limits Limits) (bytes, names int64, err error) {
	if r.mounted != nil {
		var status unix.Statfs_t
		if err := unix.Fstatfs(int(r.mounted.Fd()), &status); err != nil {
			return 0, 0, err
		}
		return int64(status.Blocks-status.Bfree) * status.Bsize, int64(status.Files - status.Ffree), nil
	}
	err = filepath.WalkDir(r.folder, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		var status unix.Stat_t
		if err := unix.Lstat(path, &status); err != nil {
			return nil //nolint:nilerr // a file that has just been removed takes no space
		}
		// The larger one: a sparse file counts with its length, a folder with its blocks.
		bytes += max(status.Size, status.Blocks*512)
		names++
		if bytes > limits.Disk || names > limits.Names {
			return fs.SkipAll
		}
		return nil
	})
	return bytes, names, err
}

// outputFiles are the files of the target's signal and of the three others.
var outputFiles = []string{OutputFile, OutputFile + ".1", OutputFile + ".2", OutputFile + ".3"}

// output reads the records of every signal, one after the other, up to the limit in total.
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

// steps reads the trace.
func (r *root) steps() ([]byte, error) {
	var all []byte
	for _, name := range []string{tracefile.First, tracefile.Second} {
		content, err := r.recorded(name, tracefile.Largest+1)
		if err != nil {
			return nil, err
		}
		all = append(all, content...)
	}
	return asText(all), nil
}

// recorded reads a file up to the limit, without following a link. A missing file is empty.
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

// hideIn removes this machine's paths from a text.
func (r *root) hideIn(text []byte) []byte {
	return bytes.ReplaceAll(bytes.ReplaceAll(text, []byte(r.path+"/run"), []byte("/run")), []byte(r.path), nil)
}

func (r *root) remove() {
	if r.mounted != nil {
		_ = r.mounted.Close()
	}
	_ = os.RemoveAll(r.path)
}
