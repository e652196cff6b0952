package tell

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

var (
	// record matches a line of the collector's log: time, level, and the rest, which is a place in the source, a message, and
	// fields in JSON.
	record = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\S+\t(debug|info|warn|error|dpanic|panic|fatal)\t(.*)$`)
	// place matches the second line of a frame of a stack trace.
	place     = regexp.MustCompile(`^\t\S+\.\w+:\d+( \+0x[0-9a-f]+)?$`)
	goroutine = regexp.MustCompile(`^goroutine \d+ [^\[]*\[[^\]]*\]:$`)
	crash     = regexp.MustCompile(`(?m)^(?:panic|fatal error|SIG[A-Z]+): `)
)

// resource is what the collector writes first of the fields.
const resource = `{"resource": `

type line struct {
	text    string
	matters bool
	times   int
}

// Log returns what a collector wrote on its standard error, for a reader: errors, warnings and what is not its log come
// first, then the rest, each in its order. The resource, stack traces of log records, and repetitions are left out. A
// crash keeps the goroutine that crashed.
func Log(stderr string) string {
	lines := withoutRepetitions(stderr)
	var all strings.Builder
	for _, matters := range []bool{true, false} {
		for _, one := range lines {
			switch {
			case one.matters != matters:
			case one.times > 1:
				fmt.Fprintf(&all, "%s (%d times)\n", one.text, one.times)
			default:
				all.WriteString(one.text + "\n")
			}
		}
	}
	return all.String()
}

// Crashed reports whether there is Go's report of a crash.
func Crashed(stderr string) bool { return crash.MatchString(stderr) }

func withoutRepetitions(stderr string) []*line {
	var lines []*line
	known := map[string]*line{}
	for _, text := range withoutTraces(stderr) {
		parts := record.FindStringSubmatch(text)
		if parts == nil {
			lines = append(lines, &line{text: text, matters: true, times: 1})
			continue
		}
		level, rest := parts[1], withoutResource(parts[2])
		if same := known[level+"\t"+rest]; same != nil {
			same.times++
			continue
		}
		time, _, _ := strings.Cut(text, "\t")
		one := &line{text: time + "\t" + level + "\t" + rest, matters: level != "debug" && level != "info", times: 1}
		known[level+"\t"+rest] = one
		lines = append(lines, one)
	}
	return lines
}

// withoutTraces returns the lines but those of stack traces below log records, and of goroutines beside the one that
// crashed.
func withoutTraces(stderr string) []string {
	if stderr == "" {
		return nil
	}
	lines := strings.Split(strings.TrimSuffix(stderr, "\n"), "\n")
	var kept []string
	goroutines := 0
	for at := 0; at < len(lines); at++ {
		text := lines[at]
		if record.MatchString(text) {
			goroutines = 0
		} else if goroutine.MatchString(text) {
			goroutines++
		}
		inTrace := at+1 < len(lines) && place.MatchString(lines[at+1])
		if inTrace && goroutines != 1 {
			at++
			continue
		}
		if goroutines < 2 {
			kept = append(kept, text)
		}
	}
	return kept
}

// withoutResource returns the rest of a line without its first field, the resource.
func withoutResource(rest string) string {
	end := strings.LastIndexByte(rest, '\t')
	before, fields := rest[:max(0, end)], rest[end+1:]
	if !strings.HasPrefix(fields, resource) {
		return rest
	}
	decoder := json.NewDecoder(strings.NewReader(fields[len(resource):]))
	var value json.RawMessage
	if decoder.Decode(&value) != nil {
		return rest
	}
	others := strings.TrimPrefix(fields[len(resource)+int(decoder.InputOffset()):], ", ")
	if others == "}" {
		return before
	}
	if end < 0 {
		return "{" + others
	}
	return before + "\t{" + others
}
