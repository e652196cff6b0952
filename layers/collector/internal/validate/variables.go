package validate

import (
	"fmt"
	"math"
	"regexp"

	"github.com/headgate/headgate/layers/collector/internal/source"
)

// maxReplaced bounds the text's length with the values of its variables, which may refer to others: thirty variables
// that each refer to the next one twice make 1 GB.
const maxReplaced = 8 << 20

// A name may itself be the value of a variable, `${env:${env:NAME}}`.
var named = regexp.MustCompile(`\$\{(?:env:)?(?:([A-Za-z_][A-Za-z0-9_]*)|\$)`)

// replaced returns a *source.Cost if the text is too long with the values of its variables.
func (r Request) replaced() error {
	lengths := lengths{env: r.Env, known: map[string]float64{}}
	if total := lengths.of(r.YAML); total > maxReplaced {
		return &source.Cost{Line: 1, Message: fmt.Sprintf(
			"with the values of its variables it is longer than %d bytes; nothing was checked", maxReplaced)}
	}
	return nil
}

// lengths are the lengths of variables' values with their references replaced, infinite if one refers to itself.
type lengths struct {
	env   map[string]string
	known map[string]float64
}

func (l lengths) of(text string) float64 {
	total := float64(len(text))
	for _, match := range named.FindAllStringSubmatch(text, -1) {
		if match[1] != "" {
			total += l.ofVariable(match[1])
			continue
		}
		longest := 0.0
		for name := range l.env {
			longest = max(longest, l.ofVariable(name))
		}
		total += longest
	}
	return total
}

func (l lengths) ofVariable(name string) float64 {
	if known, measured := l.known[name]; measured {
		return known
	}
	l.known[name] = math.Inf(1)
	l.known[name] = l.of(l.env[name])
	return l.known[name]
}
