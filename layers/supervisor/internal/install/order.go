// Package install makes a host of Windows or macOS run the supervisor as a service, and takes that back. Linux has a
// script for it.
package install

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"

	"github.com/headgate/headgate/layers/supervisor/internal/programs"
)

const mostOrder = 2 << 20

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// Order is what the install command and its script say, as JSON on the standard input, one after the other: no argument
// of a process has the token.
type Order struct {
	Root         string `json:"-"`
	Platform     string `json:"platform"`
	Endpoint     string `json:"endpoint"`
	DeploymentID string `json:"deployment_id"`
	Token        string `json:"token"`
	// Files is the link below which this install fetches, and Query its signature.
	Files string `json:"files"`
	Query string `json:"query"`
	// Collectors are the programs to fetch, by architecture.
	Collectors map[string]programs.Target `json:"collectors"`
	// Variables are those of the command. Stored says that the group has others, and Code opens its secrets.
	Variables map[string]string `json:"variables"`
	Stored    bool              `json:"stored"`
	Code      string            `json:"code"`
	collector programs.Target
}

// Read reads an order, for this folder if it is not empty. It names the field that is wrong.
func Read(from io.Reader, root string) (*Order, error) {
	order := &Order{}
	for parts := json.NewDecoder(io.LimitReader(from, mostOrder)); ; {
		err := parts.Decode(order)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("the order on the standard input: %w", err)
		}
	}
	order.Root = root
	if root == "" {
		order.Root = defaultRoot()
	}
	return order, order.check()
}

func (o *Order) check() error {
	for field, value := range map[string]string{
		"endpoint": o.Endpoint, "deployment_id": o.DeploymentID, "token": o.Token, "files": o.Files, "platform": o.Platform,
	} {
		if value == "" || strings.ContainsAny(value, "\x00\r\n") {
			return fmt.Errorf("%s of the order must be one line", field)
		}
	}
	if err := checkRoot(o.Root); err != nil {
		return err
	}
	for name, value := range o.Variables {
		if !variableName.MatchString(name) || strings.Contains(value, "\x00") {
			return fmt.Errorf("%q of the order's variables is not the name of a variable, or its value contains a NUL", name)
		}
	}
	published := false
	if o.collector, published = o.Collectors[runtime.GOARCH]; !published {
		return fmt.Errorf("the collector for %s and %s is not published on this server", o.Platform, runtime.GOARCH)
	}
	address, err := url.Parse(o.Files)
	if err != nil {
		return fmt.Errorf("files of the order: %w", err)
	}
	o.collector.Path = address.Path + "/collector-" + o.Platform + "-" + runtime.GOARCH + "?" + o.Query
	// An install has no version to compare.
	o.collector.Version = "published"
	if err := o.collector.Check(); err != nil {
		return fmt.Errorf("collectors of the order: %w", err)
	}
	return nil
}

// checkRoot refuses a folder that is not one of its own.
func checkRoot(root string) error {
	if !filepath.IsAbs(root) || filepath.Clean(root) != root || filepath.Dir(filepath.Dir(root)) == filepath.Dir(root) {
		return fmt.Errorf("the folder %q must be an absolute path without `.` and `..`, of at least two names", root)
	}
	return nil
}

// address is the link to a file of this install.
func (o *Order) address(name string) string { return o.Files + "/" + name + "?" + o.Query }
