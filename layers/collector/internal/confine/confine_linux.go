// Package confine turns a process of this binary into a confined collector.
package confine

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// Command is the hidden command that confines itself and becomes the collector. The sandbox starts it.
const Command = "sandbox-init"

// It does not wait for the initialization of all packages of a collector, most of which it does not need: that takes eight
// times as long. This package must import few others for that.
func init() {
	if len(os.Args) == 2 && os.Args[1] == Command {
		os.Exit(run())
	}
}

// The room that a mounted folder has above the limits, so that exceeding them can be noticed.
const (
	OverDisk  = 1 << 20
	OverNames = 16
)

// Descriptors that the command inherits.
const (
	planDescriptor   = 3
	statusDescriptor = 4
)

// FolderMessage comes with the descriptor of the folder that the command has mounted. Any other message is an error.
const FolderMessage = "folder"

// Plan tells the command what to do.
type Plan struct {
	Collector string   `json:"collector"`
	Arguments []string `json:"arguments"`
	// Environment is the collector's. The launcher, whose own is empty, does not read it.
	Environment []string `json:"environment"`
	Root        string   `json:"root"`
	Folder      string   `json:"folder"`
	// Files are what the run's folder holds at the start, by name.
	Files  map[string][]byte `json:"files"`
	Mount  bool              `json:"mount"`
	Chroot bool              `json:"chroot"`
	// User is 0 where the user stays the same.
	User          int    `json:"user"`
	UserNamespace bool   `json:"user_namespace"`
	Data          uint64 `json:"data"`
	Processes     uint64 `json:"processes"`
	Disk          uint64 `json:"disk"`
	Names         uint64 `json:"names"`
}

// run carries out the plan on descriptor 3. It returns only on failure, which it reports on descriptor 4; that
// descriptor closes when this process becomes the collector.
func run() int {
	// The collector must not inherit other open descriptors.
	_ = unix.CloseRange(planDescriptor, 1<<31-1, unix.CLOSE_RANGE_CLOEXEC)
	syscall.CloseOnExec(planDescriptor)
	syscall.CloseOnExec(statusDescriptor)
	err := becomeCollector()
	status := os.NewFile(statusDescriptor, "status")
	if status == nil {
		fmt.Fprintln(os.Stderr, Command+" is started by the sandbox command only")
		return 2
	}
	fmt.Fprint(status, err)
	return 1
}

func becomeCollector() error {
	// Some steps apply to the thread only, and this thread becomes the collector.
	runtime.LockOSThread()
	file := os.NewFile(planDescriptor, "plan")
	if file == nil {
		return errors.New("sandbox-init got no plan: it is started by the command sandbox")
	}
	var asked Plan
	if err := json.NewDecoder(file).Decode(&asked); err != nil {
		return fmt.Errorf("reading the plan: %w", err)
	}
	return asked.carryOut()
}

// procSelf are the files of /proc that a memory_limiter with percentages and resource detection read, where a collector
// sees the machine's /proc.
func procSelf() []string {
	self := "/proc/" + strconv.Itoa(os.Getpid())
	return []string{self + "/cgroup", self + "/mountinfo", "/proc/meminfo", "/proc/stat", "/proc/cpuinfo"}
}
