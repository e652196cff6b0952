package validate

import (
	"fmt"
	"math"
	"path"
	"regexp"

	"github.com/headgate/headgate/layers/collector/internal/source"
)

// maxReplaced bounds the text's length with the values of its variables, which may refer to others: thirty variables
// that each refer to the next one twice make 1 GB.
const maxReplaced = 8 << 20

// A name may itself be composed of values, `${env:${env:NAME}}`: the first group. A path may have colons.
var named = regexp.MustCompile(`\$\{(?:(?:(?:env:)?[^${}:]*|file:[^${}]*)(\$)|file:([^${}]+)\}|(?:env:)?([A-Za-z_][A-Za-z0-9_]*))`)

// replaced returns a *source.Cost if the text is too long with the values of its variables and files.
func (r Request) replaced() error {
	lengths := lengths{request: r, known: map[string]float64{}}
	if total := lengths.of(r.YAML); total > maxReplaced {
		return &source.Cost{Line: 1, Message: fmt.Sprintf(
			"with the values of its variables and files it is longer than %d bytes; nothing was checked", maxReplaced)}
	}
	return nil
}

// lengths are the lengths of values with their references replaced, infinite if one refers to itself.
type lengths struct {
	request Request
	known   map[string]float64
}

func (l lengths) of(text string) float64 {
	total := float64(len(text))
	for _, match := range named.FindAllStringSubmatch(text, -1) {
		switch composed, file, variable := match[1], match[2], match[3]; {
		case file != "":
			content, _ := fileOf(l.request.Files, file)
			total += l.ofValue(fileScheme+":"+path.Clean(file), content)
		case variable != "":
			total += l.ofValue(variable, l.request.Env[variable])
		case composed != "":
			total += l.longest()
		}
	}
	return total
}

func (l lengths) longest() float64 {
	longest := 0.0
	for name, value := range l.request.Env {
		longest = max(longest, l.ofValue(name, value))
	}
	for name, text := range l.request.Files {
		longest = max(longest, l.ofValue(fileScheme+":"+path.Clean(name), text))
	}
	return longest
}

func (l lengths) ofValue(name, value string) float64 {
	if known, measured := l.known[name]; measured {
		return known
	}
	l.known[name] = math.Inf(1)
	l.known[name] = l.of(value)
	return l.known[name]
}
