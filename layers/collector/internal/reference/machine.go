package reference

import (
	"os"
	"slices"
	"strings"
	"sync"
)

// machine holds texts that tell about this machine. A default that is one of them is another elsewhere.
type machine struct {
	host        string
	environment []string
}

func (m machine) tells(text string) bool {
	return m.host != "" && text == m.host || slices.Contains(m.environment, text)
}

var thisMachine = sync.OnceValue(func() machine {
	const shortest = 5 // shorter ones are words that any default may contain
	var facts machine
	if name, err := os.Hostname(); err == nil && len(name) >= shortest && name != "localhost" {
		facts.host = name
	}
	for _, variable := range os.Environ() {
		if _, value, _ := strings.Cut(variable, "="); len(value) >= shortest && value != "false" {
			facts.environment = append(facts.environment, value)
		}
	}
	return facts
})
