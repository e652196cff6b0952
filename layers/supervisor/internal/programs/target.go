// Package programs fetches collectors, keeps those that this host may run, and says which of them is to run.
//
// The files are in the supervisor's storage, which the collector may write to: it runs as the same user. So a program is
// readable and executable only, in folders that cannot be written to, and nothing is started that is not the file which
// was verified.
package programs

import (
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
)

const (
	// largest bounds a program in bytes; a collector has 370 MB.
	largest = 1 << 30
	// longestPath bounds a link.
	longestPath = 2 << 10
)

var version = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z.+-]{0,63}$`)

// Target is a program to run: the one that was installed, or one to fetch. SHA256 is of what is fetched, BinarySHA256
// and Size of the program itself. Path is a signed link, without scheme and host.
type Target struct {
	Installed    bool   `json:"installed,omitempty"`
	Version      string `json:"version,omitempty"`
	Path         string `json:"path,omitempty"`
	SHA256       string `json:"sha256,omitempty"`
	Gzip         bool   `json:"gzip,omitempty"`
	BinarySHA256 string `json:"binary_sha256,omitempty"`
	Size         int64  `json:"size,omitempty"`
}

// ID names the program: its hash, or nothing for the installed one.
func (t Target) ID() string { return t.BinarySHA256 }

// Check refuses what the service never sends.
func (t Target) Check() error {
	if t.Installed {
		if t != (Target{Installed: true}) {
			return errors.New("it names the installed program and another one")
		}
		return nil
	}
	if !version.MatchString(t.Version) {
		return fmt.Errorf("%.70q is not a version", t.Version)
	}
	for _, hash := range []string{t.SHA256, t.BinarySHA256} {
		if !isHash(hash) {
			return fmt.Errorf("%.70q is not a SHA-256 in hex", hash)
		}
	}
	if t.Size <= 0 || t.Size > largest {
		return fmt.Errorf("a program of %d bytes is not fetched", t.Size)
	}
	if len(t.Path) > longestPath || !strings.HasPrefix(t.Path, "/") || strings.HasPrefix(t.Path, "//") {
		return errors.New("the link is not a path of this service")
	}
	return nil
}

func isHash(text string) bool {
	decoded, err := hex.DecodeString(text)
	return err == nil && len(decoded) == 32 && strings.ToLower(text) == text
}

// Address is where the program is fetched: at the server that this host reports to, and nowhere else.
func (t Target) Address(endpoint string) (string, error) {
	base, err := url.Parse(endpoint)
	if err != nil {
		return "", err
	}
	path, err := url.Parse(t.Path)
	if err != nil {
		return "", err
	}
	if path.Scheme != "" || path.Host != "" || path.User != nil {
		return "", errors.New("the link is not a path of this service")
	}
	path.Scheme, path.Host = base.Scheme, base.Host
	return path.String(), nil
}
