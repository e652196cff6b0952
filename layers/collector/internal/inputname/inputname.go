// Package inputname says which names the file of a sample may have in the root directory of a test run.
package inputname

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

const (
	longestName = 1024
	longestPart = 255
	mostParts   = 32
)

// part has no character that a receiver's pattern of file names gives a meaning to, as `*`, `[` and `{`.
var part = regexp.MustCompile(`^[A-Za-z0-9 ._:@%+=,~#-]+$`)

// taken are the folders of the root directory that a collector's start or the run itself needs, or that a component
// takes for the machine's.
var taken = []string{
	"bin", "boot", "dev", "etc", "lib", "lib32", "lib64", "libx32", "otelcol-contrib", "proc", "run", "sbin", "sys", "usr",
}

// Problem returns what is wrong with a name, as the end of a sentence about it, or "".
func Problem(name string) string {
	if len(name) > longestName {
		return fmt.Sprintf("is longer than %d bytes", longestName)
	}
	if !strings.HasPrefix(name, "/") {
		return "is not an absolute path: write one, for example /var/log/app.log"
	}
	parts := strings.Split(name[1:], "/")
	if len(parts) > mostParts {
		return fmt.Sprintf("has more than %d parts", mostParts)
	}
	for _, one := range parts {
		switch {
		case one == "" || one == "." || one == "..":
			return "is not a plain path: leave out empty parts, `.` and `..`"
		case len(one) > longestPart:
			return fmt.Sprintf("has a part longer than %d bytes", longestPart)
		case !part.MatchString(one):
			return "has a character that a sample's name cannot have: use ASCII letters, digits, spaces and ._:@%+=,~#-"
		}
	}
	if slices.Contains(taken, parts[0]) {
		return fmt.Sprintf("lies under /%s, which the run itself uses: choose another folder, for example /var/log", parts[0])
	}
	return ""
}
