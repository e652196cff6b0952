// Package machine knows what tells about the machine on which a collector answers.
package machine

import (
	"os"
	"strings"
)

// Facts are texts that tell about this machine: its name, and the values of its environment. A default that repeats one
// differs from machine to machine.
type Facts struct {
	Host        string
	Environment []string
}

// Here returns the facts of this machine.
func Here() Facts {
	const shortest = 5 // shorter ones are words that any default may contain
	var facts Facts
	if name, err := os.Hostname(); err == nil && len(name) >= shortest && name != "localhost" {
		facts.Host = name
	}
	for _, variable := range os.Environ() {
		if _, value, _ := strings.Cut(variable, "="); len(value) >= shortest && value != "false" {
			facts.Environment = append(facts.Environment, value)
		}
	}
	return facts
}
