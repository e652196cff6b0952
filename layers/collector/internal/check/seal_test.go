package check

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const sealedChild = "HEADGATE_SEALED_TEST"

// TestASealedProcessReachesNothing seals a process of its own, for a seal cannot be taken off.
func TestASealedProcessReachesNothing(t *testing.T) {
	if os.Getenv(sealedChild) != "" {
		sealAndTry(t)
		return
	}
	command := exec.Command("/proc/self/exe", "-test.run", "^"+t.Name()+"$", "-test.v")
	command.Env = []string{sealedChild + "=1"}
	said, err := command.CombinedOutput()
	if err != nil || !strings.Contains(string(said), "--- PASS") {
		t.Errorf("%v:\n%s", err, said)
	}
}

func sealAndTry(t *testing.T) {
	memory, err := openStatm()
	if err != nil {
		t.Fatal(err)
	}
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	parent := os.Getppid()
	begin, ended := make(chan struct{}), make(chan error)
	go func() {
		runtime.LockOSThread() // a thread from before the seal
		<-begin
		_, err := os.ReadFile("/etc/passwd")
		ended <- err
	}()
	if err := seal(); err != nil {
		t.Fatal(err)
	}
	close(begin)
	if err := <-ended; !errors.Is(err, syscall.ENOENT) {
		t.Errorf("a thread from before read a file: %v", err)
	}
	raw := func(number uintptr, arguments ...uintptr) func() error {
		return func() error {
			words := [6]uintptr{}
			copy(words[:], arguments)
			if _, _, errno := unix.Syscall6(number, words[0], words[1], words[2], words[3], words[4], words[5]); errno != 0 {
				return errno
			}
			return nil
		}
	}
	for name, row := range map[string]struct {
		do       func() error
		expected syscall.Errno
	}{
		"read a file":             {func() error { _, err := os.ReadFile("/etc/hosts"); return err }, syscall.ENOENT},
		"read its own binary":     {func() error { _, err := os.Open(own); return err }, syscall.ENOENT},
		"read its environment":    {func() error { _, err := os.Open("/proc/self/environ"); return err }, syscall.ENOENT},
		"read its parent's":       {func() error { _, err := os.Open("/proc/" + strconv.Itoa(parent) + "/environ"); return err }, syscall.ENOENT},
		"list a folder":           {func() error { _, err := os.ReadDir("/"); return err }, syscall.ENOENT},
		"write a file":            {func() error { return os.WriteFile("new", nil, 0o600) }, syscall.ENOENT},
		"make a folder":           {func() error { return os.Mkdir("new", 0o700) }, syscall.EACCES},
		"execute a program":       {func() error { return exec.Command("/bin/true").Run() }, syscall.ENOENT},
		"execute it at once":      {func() error { return syscall.Exec("/bin/true", nil, nil) }, syscall.EACCES},
		"execute by a descriptor": {raw(unix.SYS_EXECVEAT, 10, 0, 0, 0, unix.AT_EMPTY_PATH), syscall.EACCES},
		"make a process":          {raw(unix.SYS_CLONE, uintptr(unix.SIGCHLD)), syscall.EACCES},
		"make a process anew":     {raw(unix.SYS_CLONE3), syscall.ENOSYS},
		"signal its parent":       {func() error { return syscall.Kill(parent, 0) }, syscall.EACCES},
		"signal a thread of its":  {raw(unix.SYS_TGKILL, uintptr(parent), uintptr(parent), 0), syscall.EACCES},
		"have others signalled":   {raw(unix.SYS_FCNTL, 0, unix.F_SETOWN, uintptr(parent)), syscall.EACCES},
		"trace its parent":        {raw(unix.SYS_PTRACE, unix.PTRACE_ATTACH, uintptr(parent)), syscall.EACCES},
		"read its memory":         {raw(unix.SYS_PROCESS_VM_READV, uintptr(parent)), syscall.EACCES},
		"hold a process":          {raw(unix.SYS_PIDFD_OPEN, uintptr(parent)), syscall.ENOSYS},
		"dial":                    {func() error { _, err := net.Dial("tcp", "127.0.0.1:9001"); return err }, syscall.EACCES},
		"dial a Unix socket":      {func() error { _, err := net.Dial("unix", "/run/docker.sock"); return err }, syscall.EACCES},
		"listen":                  {func() error { _, err := net.Listen("tcp", "127.0.0.1:0"); return err }, syscall.EACCES},
		"a pair of sockets":       {raw(unix.SYS_SOCKETPAIR, unix.AF_UNIX, unix.SOCK_STREAM), syscall.EACCES},
		"send descriptors":        {raw(unix.SYS_SENDMSG, 3), syscall.EACCES},
		"io_uring":                {raw(unix.SYS_IO_URING_SETUP, 1), syscall.EACCES},
		"another filter":          {raw(unix.SYS_SECCOMP, 1), syscall.EACCES},
		"namespaces":              {raw(unix.SYS_UNSHARE, unix.CLONE_NEWUSER), syscall.EACCES},
		"be read by others":       {raw(unix.SYS_PRCTL, unix.PR_SET_PTRACER, uintptr(parent)), syscall.EACCES},
	} {
		if err := row.do(); !errors.Is(err, row.expected) {
			t.Errorf("%s: %v, not %v", name, err, row.expected)
		}
	}
	if memory.residentBytes() == 0 {
		t.Error("it does not know its memory")
	}
	if _, err := os.Stat("/"); err != nil {
		t.Errorf("a folder that is everywhere is not there: %v", err)
	}
	if _, err := time.LoadLocation("Europe/Berlin"); err != nil {
		t.Errorf("a time zone: %v", err)
	}
	computes(t)
}

// computes needs threads, timers, preemption by signals, and garbage collected.
func computes(t *testing.T) {
	t.Helper()
	var all sync.WaitGroup
	for range 100 {
		all.Add(1)
		go func() {
			defer all.Done()
			runtime.LockOSThread()
			time.Sleep(time.Millisecond)
			_ = make([]byte, 1<<20)
		}()
	}
	all.Wait()
	runtime.GC()
}
