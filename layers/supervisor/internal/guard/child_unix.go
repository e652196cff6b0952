//go:build unix

package guard

import (
	"os"
	"os/exec"
	"syscall"
)

// passed are the signals that the supervisor sends to its collector.
var passed = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}

// supervisor is the process that started this one.
type supervisor int

func parentOf() (supervisor, error) { return supervisor(os.Getppid()), nil }

// ended reports whether this process got another parent.
func (s supervisor) ended() bool { return os.Getppid() != int(s) }

func start(command *exec.Cmd) (func(), error) { return func() {}, command.Start() }

func pass(process *os.Process, sent os.Signal) { _ = process.Signal(sent) }

func end(process *os.Process) { _ = process.Signal(syscall.SIGTERM) }
