package policies

import (
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

var (
	reference = regexp.MustCompile(`\$\{([^${}]*)`)
	// organizationVariable stands for a value that only the service knows.
	organizationVariable = regexp.MustCompile(`\$orgvar:`)
)

// unknown tells whether the text leaves the value at a path, or one that holds it, to something that is not known here:
// a variable without a value, a file, an address.
func (c *configuration) unknown(path ...string) bool {
	if !c.hasReferences {
		return false
	}
	for end := len(path); end > 0; end-- {
		node := c.document.Node(path[:end]...)
		if node == nil {
			continue
		}
		return node.Kind == yaml.ScalarNode && c.isOpen(node.Value)
	}
	return false
}

// isOpen tells whether a text has a reference without a value.
func (c *configuration) isOpen(text string) bool {
	if organizationVariable.MatchString(text) {
		return true
	}
	for _, match := range reference.FindAllStringSubmatch(text, maxReferences) {
		name := match[1]
		if scheme, rest, has := strings.Cut(name, ":"); has && !strings.HasPrefix(rest, "-") {
			if scheme == "yaml" {
				continue
			}
			if scheme != "env" {
				return true
			}
			name = rest
		}
		name, _, hasDefault := strings.Cut(name, ":-")
		if _, given := c.request.Env[name]; !given && !hasDefault {
			return true
		}
	}
	return false
}

// maxReferences bounds how many references of a text are looked at.
const maxReferences = 100

// unknown tells whether a setting's value is not known here.
func (e *entry) unknown(path ...string) bool { return e.of.unknown(e.path(path...)...) }
