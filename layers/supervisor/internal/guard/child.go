package guard

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"time"
)

// watchEvery is how often the supervisor is looked for.
const watchEvery = 500 * time.Millisecond

// child runs the collector until it ends, and returns its exit code. It passes on what asks it to end, and asks the
// collector to end when the supervisor, which is the parent of this process, has ended. If this process is killed, the
// collector runs on: the next one of the storage ends it.
func child(storage, collector string, argv, environment []string) (int, error) {
	parent, err := parentOf()
	if err != nil {
		return 0, err
	}
	asked := make(chan os.Signal, 4)
	signal.Notify(asked, passed...)
	defer signal.Stop(asked)
	runs := len(argv) > 1 && strings.HasPrefix(argv[1], "-")
	if runs {
		endOrphan(storage)
	}
	command := &exec.Cmd{Path: collector, Args: argv, Env: environment, Stdout: os.Stdout, Stderr: os.Stderr}
	tied, err := start(command)
	if err != nil {
		return 0, fmt.Errorf("start the collector %s: %w", collector, err)
	}
	defer tied()
	if runs {
		defer record(storage, command.Process.Pid)()
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	look := time.NewTicker(watchEvery)
	defer look.Stop()
	for {
		select {
		case err := <-ended:
			if command.ProcessState == nil {
				return 0, err
			}
			return command.ProcessState.ExitCode(), nil
		case sent := <-asked:
			pass(command.Process, sent)
		case <-look.C:
			if parent.ended() {
				look.Stop()
				end(command.Process)
			}
		}
	}
}
