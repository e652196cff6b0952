package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/headgate/headgate/layers/supervisor/internal/identity"
)

// More than the secrets of a group can have.
const largestSealed = 1 << 20

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
