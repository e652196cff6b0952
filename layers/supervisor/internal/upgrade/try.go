package upgrade

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/headgate/headgate/layers/supervisor/internal/programs"
	"github.com/headgate/headgate/layers/supervisor/internal/system"
	"github.com/headgate/headgate/layers/supervisor/internal/variables"
	"github.com/open-telemetry/opamp-go/protobufs"
)

const (
	// patience is for a program of 370 MB that is read from a slow disk for the first time.
	patience = time.Minute
	// mostSaid bounds what is kept of what a program prints.
	mostSaid = 4 << 10
)

// Version asks a collector for its version.
func Version(ctx context.Context, collector string) (string, error) {
	said, err := run(ctx, collector, nil, "--version")
	if err != nil {
		return "", err
	}
	words := strings.Fields(said)
	if len(words) == 0 {
		return "", errors.New("it prints no version")
	}
	return words[len(words)-1], nil
}

// Try returns a function that runs a collector as this host would, with this environment and the variables of the
// configuration, which the storage folder has: it must be the version that was published, and accept the text. The file of
// the text is in the folder for as long.
func Try(folder string, environment func() []string) func(context.Context, string, programs.Target, *protobufs.AgentRemoteConfig) error {
	return func(ctx context.Context, collector string, target programs.Target, config *protobufs.AgentRemoteConfig) error {
		text := config.GetConfig().GetConfigMap()[""].GetBody()
		with, err := variables.With(environment(), folder, variables.Of(config))
		if err != nil {
			return err
		}
		version, err := Version(ctx, collector)
		if err != nil {
			return fmt.Errorf("it does not run on this host: %w", err)
		}
		if version != target.Version {
			return fmt.Errorf("it says that it is version %.70q", version)
		}
		file, err := os.CreateTemp(folder, "validate-config-*.yaml")
		if err != nil {
			return err
		}
		defer func() { _ = os.Remove(file.Name()) }()
		_, err = file.Write(text)
		if closing := file.Close(); err == nil {
			err = closing
		}
		if err != nil {
			return fmt.Errorf("write the text to validate: %w", err)
		}
		if said, err := run(ctx, collector, with, "validate", "--config", file.Name()); err != nil {
			return fmt.Errorf("it refuses the text: %w\n%s", err, said)
		}
		return nil
	}
}

// run returns what a program prints, at its end if that is long.
func run(ctx context.Context, program string, environment []string, arguments ...string) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("it did not end within %.0f s", patience.Seconds()))
	defer cancel()
	command := exec.CommandContext(ctx, program, arguments...)
	command.Env, command.Dir = environment, filepath.Dir(program)
	// Not even if this program is killed meanwhile.
	command.SysProcAttr = system.EndsWithParent(syscall.SIGKILL)
	command.WaitDelay = time.Second
	said := &last{}
	command.Stdout, command.Stderr = said, said
	err := command.Run()
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	return strings.TrimSpace(string(bytes.ToValidUTF8(said.text, []byte("?")))), err
}

// last keeps the end of what is written to it.
type last struct{ text []byte }

func (l *last) Write(more []byte) (int, error) {
	l.text = append(l.text, more...)
	if extra := len(l.text) - mostSaid; extra > 0 {
		l.text = append([]byte{}, l.text[extra:]...)
	}
	return len(more), nil
}
