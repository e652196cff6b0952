// Package launch runs another supervisor than the installed one, and keeps the one before until the new one has reported.
//
// The installed program stays the process that the service manager knows. Once there is another one, it starts that as
// its child and waits: a child that ends before Headgate has answered it is replaced by the one before.
package launch

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/headgate/headgate/layers/supervisor/internal/programs"
	"github.com/headgate/headgate/layers/supervisor/internal/system"
)

const (
	// Name is that of the supervisor's file.
	Name = "headgate-supervisor"
	// variable says that this process was started by its launcher.
	variable = "HEADGATE_LAUNCHED"
	// Restart is the exit code by which a child asks its launcher for the program that is to run next.
	Restart = 75
	// grace is how long a child may take to stop its collector.
	grace = 30 * time.Second
	// mostStarts is how often a new supervisor is started until Headgate has answered it. On a busy machine a start may
	// fail because its collector takes too long, and a service manager starts the installed one again as well.
	mostStarts = 3
)

// patience is how long a new supervisor may take in all until Headgate has answered it. It starts two collectors before.
var patience = 3 * time.Minute

// answers is how long a new supervisor may take to say its version.
var answers = 20 * time.Second

// ErrRestart ends a supervisor, because another one is to run.
var ErrRestart = errors.New("another supervisor is to run")

// Launched reports whether this process is a child of its launcher, and hides that from the processes that it starts.
func Launched() bool {
	_, is := os.LookupEnv(variable)
	_ = os.Unsetenv(variable)
	return is
}

// Launcher starts supervisors with these arguments and this environment.
type Launcher struct {
	Storage     string
	Installed   string
	Arguments   []string
	Environment []string
}

// Needed reports whether another program than the installed one is to run. A change that was under way when the last
// process ended is undone; so is every change if another program was installed since.
func (l *Launcher) Needed() bool {
	store, err := programs.Open(l.Storage, Name)
	if err != nil {
		log.Printf("the installed supervisor runs: %v", err)
		return false
	}
	if store.State.Current == "" && store.State.Trial == nil {
		return false
	}
	if digest, err := Digest(l.Installed); err != nil || digest != store.State.Installed {
		log.Printf("another supervisor was installed, and runs")
		store.State = programs.State{Known: map[string]programs.Known{}}
		store.Prune()
		save(store)
		return false
	}
	if store.State.Trial != nil {
		undo(store, "the host was restarted before it had reported")
	}
	return store.State.Current != ""
}

// Run starts the program that is to run, until it ends otherwise than to be replaced; the exit code is its own. A signal
// stops it.
func (l *Launcher) Run(signals <-chan os.Signal) int {
	// The kernel tells a child of the end of the thread that started it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	starts, deadline := 0, time.Now().Add(patience)
	for {
		starts++
		code, stopped, late := l.once(signals, time.Until(deadline))
		if stopped {
			return code
		}
		store, err := programs.Open(l.Storage, Name)
		switch {
		case err != nil:
			log.Print(err)
			return code
		case code == Restart:
		case store.State.Trial == nil:
			return code
		case late:
			undo(store, fmt.Sprintf("it had not reported within %.0f minutes", patience.Minutes()))
		case starts < mostStarts:
			log.Printf("the new supervisor ended with exit code %d before it had reported, and is started again", code)
			continue
		default:
			undo(store, fmt.Sprintf("it ended with exit code %d before it had reported, %d times", code, starts))
		}
		starts, deadline = 0, time.Now().Add(patience)
	}
}

// once runs one program. It reports whether a signal stopped it, and whether it was ended for not proving itself in time.
func (l *Launcher) once(signals <-chan os.Signal, within time.Duration) (code int, stopped, late bool) {
	child := exec.Command(programs.Start(l.Storage, Name, l.Installed), l.Arguments...)
	child.Env = append(l.Environment, variable+"=yes")
	child.Stdin, child.Stdout, child.Stderr = os.Stdin, os.Stdout, os.Stderr
	child.SysProcAttr = system.EndsWithParent(syscall.SIGTERM)
	if err := child.Start(); err != nil {
		log.Printf("start the supervisor: %v", err)
		return 1, false, false
	}
	ended := make(chan int, 1)
	go func() {
		_ = child.Wait()
		ended <- child.ProcessState.ExitCode()
	}()
	overdue := time.NewTimer(within)
	defer overdue.Stop()
	for {
		select {
		case code := <-ended:
			return code, stopped, late
		case sent := <-signals:
			stopped = true
			_ = child.Process.Signal(sent)
		case <-overdue.C:
			if store, err := programs.Open(l.Storage, Name); err == nil && store.State.Trial != nil && !stopped {
				late = true
				_ = child.Process.Signal(syscall.SIGTERM)
				time.AfterFunc(grace, func() { _ = child.Process.Kill() })
			}
		}
	}
}

// Replace fetches a supervisor, tries it, and makes it the one that runs next: the caller ends then. The order is told
// as carried out by the new one, or as failed by the one before.
func Replace(ctx context.Context, storage, installed, endpoint, order string, target programs.Target) error {
	if err := target.Check(); err != nil {
		return err
	}
	store, err := programs.Open(storage, Name)
	if err != nil {
		return err
	}
	known, err := store.Fetch(ctx, endpoint, target, store.State.Known[target.ID()])
	if err != nil {
		return err
	}
	if err := isVersion(ctx, store.Path(target.ID()), target.Version); err != nil {
		return err
	}
	if store.State.Current == "" {
		if store.State.Installed, err = Digest(installed); err != nil {
			return err
		}
	}
	store.State.Known[target.ID()] = known
	store.State.Trial = &programs.Trial{Before: store.State.Current, ConfigHash: []byte(order)}
	store.State.Current = target.ID()
	return store.Save()
}

// isVersion returns an error if a program does not say in time that it is this version.
func isVersion(ctx context.Context, program, version string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, answers, fmt.Errorf("it did not end within %v", answers))
	defer cancel()
	command := exec.CommandContext(ctx, program, "version")
	command.WaitDelay = time.Second
	said, err := command.Output()
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	if err != nil {
		return fmt.Errorf("it does not run on this host: %w", err)
	}
	if found := strings.TrimSpace(string(said)); found != version {
		return fmt.Errorf("it says that it is version %.70q", found)
	}
	return nil
}

// Ended is the order that the last start was about: carried out if Headgate has answered this program, or failed for the
// reason.
type Ended struct {
	Order  string
	Reason string
}

// Failed is the order that was not carried out, if there is one that nobody was told of.
func Failed(storage string) *Ended {
	store, err := programs.Open(storage, Name)
	if err != nil || store.State.Failure == nil {
		return nil
	}
	ended := &Ended{string(store.State.Failure.ConfigHash), store.State.Failure.Reason}
	store.State.Failure = nil
	save(store)
	return ended
}

// Proved notes that Headgate has answered this program. It returns the order that brought it, "" if none did.
func Proved(storage string) string {
	store, err := programs.Open(storage, Name)
	if err != nil || store.State.Trial == nil {
		return ""
	}
	trial := store.State.Trial
	store.State.Before, store.State.Trial = trial.Before, nil
	save(store)
	store.Prune()
	return string(bytes.Clone(trial.ConfigHash))
}

func undo(store *programs.Store, reason string) {
	trial := store.State.Trial
	log.Printf("the supervisor before runs again: the new one was started, but %s", reason)
	store.State.Failure = &programs.Failure{ConfigHash: trial.ConfigHash, Reason: "The supervisor before runs again: " + reason}
	store.State.Current, store.State.Trial = trial.Before, nil
	save(store)
	store.Prune()
}

func save(store *programs.Store) {
	if err := store.Save(); err != nil {
		log.Printf("which supervisor runs cannot be written down: %v", err)
	}
}

// Digest is the SHA-256 of a file, in hex.
func Digest(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
