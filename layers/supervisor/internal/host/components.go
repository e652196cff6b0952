package host

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"log"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

const (
	// mostComponents bounds the list, so that it fits into a report; otelcol-contrib has some 240.
	mostComponents = 600
	// largestPrinted bounds what is read of the collector's list. otelcol-contrib prints 53 KB.
	largestPrinted = 1 << 20
	// listTimeout is for the first start of a program of 360 MB from a slow disk.
	listTimeout = 30 * time.Second
)

// A type of a component, as the collector allows it.
var componentType = regexp.MustCompile(`^[a-zA-Z][0-9a-zA-Z_]{0,62}$`)

// Components asks a collector which components it was built with, `receiver/otlp` and the like, sorted.
func Components(ctx context.Context, collector string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	command := exec.CommandContext(ctx, collector, "components")
	output, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, err
	}
	content, err := io.ReadAll(io.LimitReader(output, largestPrinted))
	if ended := command.Wait(); err == nil {
		err = ended
	}
	if err != nil {
		return nil, err
	}
	names, err := componentNames(content)
	if err == nil && len(names) == 0 {
		err = fmt.Errorf("it prints no components")
	}
	return names, err
}

func componentNames(printed []byte) ([]string, error) {
	type named []struct {
		Name string `yaml:"name"`
	}
	var said struct {
		Receivers  named `yaml:"receivers"`
		Processors named `yaml:"processors"`
		Exporters  named `yaml:"exporters"`
		Extensions named `yaml:"extensions"`
		Connectors named `yaml:"connectors"`
	}
	if err := yaml.Unmarshal(printed, &said); err != nil {
		return nil, err
	}
	var names []string
	for kind, components := range map[string]named{
		"receiver": said.Receivers, "processor": said.Processors, "exporter": said.Exporters,
		"extension": said.Extensions, "connector": said.Connectors,
	} {
		for _, one := range components {
			if componentType.MatchString(one.Name) {
				names = append(names, kind+"/"+one.Name)
			}
		}
	}
	slices.Sort(names)
	return names[:min(mostComponents, len(names))], nil
}

// components are what the collector was built with, and the orders that ask for the list.
type components struct {
	list    []string
	hash    string
	ordered []string
}

func newComponents(list []string) components {
	if len(list) == 0 {
		return components{}
	}
	sum := sha256.Sum256([]byte(strings.Join(list, "\n")))
	return components{list: list, hash: inHex(sum[:])}
}

func (c *components) order(id string) {
	if !slices.Contains(c.ordered, id) {
		c.ordered = append(c.ordered, id)
	}
}

// report is what to tell, nil if nothing is known.
func (c *components) report() *componentList {
	switch {
	case c.hash == "":
		return nil
	case len(c.ordered) == 0:
		return &componentList{Hash: c.hash}
	}
	return &componentList{Hash: c.hash, List: c.list}
}

// listed returns the orders that a report carried out, if it had the list.
func (c *components) listed(told bool) []string {
	if !told {
		return nil
	}
	done := c.ordered
	c.ordered = nil
	return done
}

// list asks the collector for its components if it is another one than before, and has proved itself.
func (h *Host) list(ctx context.Context) {
	current := h.settings.Upgrades.Current()
	if current == h.listed || h.settings.Upgrades.UnderWay() {
		return
	}
	found, err := h.settings.List(ctx, h.settings.Upgrades.Program())
	if err != nil {
		log.Printf("the new collector does not list its components, so Headgate cannot tell what it lacks: %v", err)
	}
	if h.settings.Upgrades.Current() != current {
		return
	}
	h.mutex.Lock()
	defer h.mutex.Unlock()
	ordered := h.components.ordered
	h.components, h.listed = newComponents(found), current
	for _, id := range ordered {
		h.orderList(id)
	}
}

// orderList notes an order for the list of components.
func (h *Host) orderList(id string) {
	if h.components.hash == "" {
		log.Printf("the list of components is ordered, and not known")
		h.orders.carriedOut(id)
		return
	}
	h.components.order(id)
}

// Components are those of the collector, none if they are not known.
func (h *Host) Components() []string {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	return h.components.list
}
