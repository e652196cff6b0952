package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/headgate/headgate/layers/collector/internal/confine"
	"github.com/headgate/headgate/layers/collector/internal/tracefile"
	"golang.org/x/sys/unix"
)

// tier is a set of means to confine a process. Tiers are tried from the strongest on; if one is not permitted, the next
// one is tried.
type tier struct {
	name string
	// namespaces are those of network, processes, mounts and the like. With a mount namespace, the run's folder is a file
	// system of its own with a size limit, and everything else is mounted read-only.
	namespaces bool
	// userNamespace gives the right to the other namespaces to a user who is not root.
	userNamespace bool
	chroot        bool
	// otherUser runs the collector as a user that owns nothing else.
	otherUser bool
}

// Every tier also has an environment of the run's variables only, resource limits, no new privileges, and a
// system call filter; see internal/confine.
func tiers() []tier {
	if os.Geteuid() == 0 {
		return ofRoot
	}
	return ofUsers
}

var ofRoot = []tier{
	{name: "root: namespaces, root directory, user", namespaces: true, chroot: true, otherUser: true},
	// A container without CAP_SYS_ADMIN, as on Fargate.
	{name: "container: root directory, user", chroot: true, otherUser: true},
}

var ofUsers = []tier{
	{name: "user: namespaces, root directory", namespaces: true, userNamespace: true, chroot: true},
	{name: "user: Landlock"},
}

// started counts the runs of this process.
var started atomic.Int64

// newUser returns a user for one run only, so that its processes are counted separately, and cannot signal or read those
// of a run beside it.
func newUser() int {
	// Linux has at most four million processes.
	const first, each, most = 200_000, 1 << 22, 500
	return first + os.Getpid() + each*int(started.Add(1)%most)
}

func (run Run) arguments() []string {
	arguments := []string{"otelcol-contrib", "--config", ConfigFile}
	if len(run.FeatureGates) > 0 {
		arguments = append(arguments, "--feature-gates="+strings.Join(run.FeatureGates, ","))
	}
	if run.Trace {
		arguments = append(arguments, "--"+tracefile.Flag+"=.")
	}
	return arguments
}

// environment has the run's variables, and no others.
func (run Run) environment() []string {
	variables := make([]string, 0, len(run.Env))
	for _, name := range slices.Sorted(maps.Keys(run.Env)) {
		variables = append(variables, name+"="+run.Env[name])
	}
	return variables
}

// files are what the collector's folder holds at the start.
func (run Run) files() map[string][]byte {
	if run.InputName != "" {
		return map[string][]byte{ConfigFile: run.Config}
	}
	return map[string][]byte{ConfigFile: run.Config, InputFile: run.Input}
}

// launch starts the collector. It returns when `sandbox-init` has become the collector, with an unableError if one of
// the tier's means was refused.
func launch(run Run, tier tier, root *root) (*collector, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding this binary: %w", err)
	}
	program, err := filepath.Abs(run.Collector)
	if err != nil {
		return nil, fmt.Errorf("finding the collector: %w", err)
	}
	asked := confine.Plan{
		Collector: program, Arguments: run.arguments(), Environment: run.environment(),
		Root: root.path, Folder: root.folder, Mount: tier.namespaces, Chroot: tier.chroot,
		Files:         run.files(),
		UserNamespace: tier.userNamespace,
		Data:          run.Limits.Data, Processes: run.Limits.Processes,
		Disk: uint64(run.Limits.Disk), Names: uint64(run.Limits.Names),
	}
	if tier.otherUser {
		asked.User = run.user
	}
	encoded, err := json.Marshal(asked)
	if err != nil {
		return nil, err
	}
	planRead, planWrite, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer planRead.Close()
	status, statusOfInit, err := messages()
	if err != nil {
		planWrite.Close()
		return nil, err
	}
	defer status.Close()

	stderr := newTail()
	command := exec.Command(self, confine.Command)
	command.Env = []string{}
	command.Stderr = stderr
	command.ExtraFiles = []*os.File{planRead, statusOfInit}
	command.SysProcAttr = attributes(tier)
	started := &collector{command: command, stderr: stderr, ended: make(chan struct{})}
	begun := make(chan error)
	go func() {
		// "Die with the parent" means with the parent's thread, so this one stays until the collector has ended.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := command.Start()
		begun <- err
		if err == nil {
			started.state = command.Wait()
			close(started.ended)
		}
	}()
	err = <-begun
	statusOfInit.Close()
	if err != nil {
		planWrite.Close()
		return nil, &unableError{err}
	}
	_, writeError := planWrite.Write(encoded)
	closeError := planWrite.Close()
	failure, readError := root.listen(status)
	if failure != "" {
		// Report this first: a launcher that has failed does not read the plan to its end.
		started.end()
		return nil, &unableError{errors.New(failure)}
	}
	if err := errors.Join(writeError, closeError, readError); err != nil {
		started.end()
		return nil, fmt.Errorf("talking to the launcher: %w", err)
	}
	if tier.namespaces && root.mounted == nil {
		started.end()
		return nil, errors.New("talking to the launcher: it passed no folder")
	}
	return started, nil
}

// messages returns the two ends of a connection that preserves message boundaries and can carry descriptors.
func messages() (*os.File, *os.File, error) {
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("connecting to the launcher: %w", err)
	}
	return os.NewFile(uintptr(ends[0]), "status"), os.NewFile(uintptr(ends[1]), "status of init"), nil
}

func attributes(tier tier) *syscall.SysProcAttr {
	attributes := &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	if !tier.namespaces {
		return attributes
	}
	attributes.Cloneflags = syscall.CLONE_NEWNET | syscall.CLONE_NEWPID | syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS |
		syscall.CLONE_NEWNS
	if tier.userNamespace {
		attributes.Cloneflags |= syscall.CLONE_NEWUSER
		// Root inside, to be allowed to change the root directory; it gives that up before it becomes the collector.
		attributes.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}}
		attributes.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}}
	}
	return attributes
}
