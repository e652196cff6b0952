package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"github.com/headgate/headgate/layers/supervisor/internal/identity"
	"github.com/headgate/headgate/layers/supervisor/internal/install"
	"github.com/headgate/headgate/layers/supervisor/internal/takeover"
)

// More than the secrets of a group can have.
const largestSealed = 1 << 20

// installCommand carries out the words of an install script, and reports whether they are some.
func installCommand(words []string) (bool, error) {
	switch {
	case len(words) == 0:
		return false, nil
	case len(words) == 2 && (words[0] == "key" || words[0] == "unseal"):
		return true, installing(words[0], words[1])
	case len(words) == 4 && words[0] == "takeover":
		pid, err := strconv.Atoi(words[1])
		if err != nil {
			return true, fmt.Errorf("%q is not the number of a process", words[1])
		}
		return true, takeover.Bring("/proc", pid, words[2], words[3], os.Stdout)
	case words[0] == "install" && len(words) <= 2:
		self, err := os.Executable()
		if err != nil {
			return true, err
		}
		order, err := install.Read(os.Stdin, strings.Join(words[1:], ""))
		if err != nil {
			return true, err
		}
		// An interrupted install leaves the collector that runs as it is, and no partial download.
		ctx, end := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
		defer end()
		if err := install.Install(ctx, order, self); err != nil {
			return true, err
		}
		fmt.Printf("Installed in %s. To remove it: headgate-supervisor uninstall %q\n", order.Root, order.Root)
		return true, nil
	case len(words) == 2 && words[0] == "uninstall":
		err := install.Uninstall(words[1])
		if err == nil {
			fmt.Printf("Removed from %s.\n", words[1])
		}
		return true, err
	}
	return false, nil
}

// installing carries out a command of the install script: `key` prints the public key of this host, which it makes if
// there is none, and `unseal` what was sealed for it.
func installing(command, storage string) error {
	key, err := identity.ReadKey(storage)
	if err != nil {
		return err
	}
	if command == "key" {
		fmt.Println(key.Public())
		return nil
	}
	sealed, err := io.ReadAll(io.LimitReader(os.Stdin, largestSealed+1))
	if err != nil {
		return err
	}
	if len(sealed) > largestSealed {
		return errors.New("what is on the standard input is too large")
	}
	opened, err := key.Open(sealed)
	if err != nil {
		return err
	}
	_, err = os.Stdout.Write(opened)
	return err
}
