package compare

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/headgate/headgate/layers/collector/internal/nearest"
	"github.com/headgate/headgate/layers/collector/internal/operation"
)

// DefaultIgnore is what is left out of a comparison that names nothing: a collector sets it whenever it receives a log
// record without it, and the writer of an expected output does not.
var DefaultIgnore = []string{"observed_time_unix_nano"}

const (
	maxIgnore       = 100
	maxIgnoreLength = 512
)

// ignored is a tree of paths: what is below a leaf is left out.
type ignored struct {
	leaf     bool
	children map[string]*ignored
}

// anyStep is the step `[*]` of a path, which no name equals.
const anyStep = "*\x00"

// heads are the first steps that a path may have, with the only signal that has them, if there is one.
var heads = map[string]string{
	"resource": "", "scope": "", "metric": "metrics", "attributes": "", "dropped_attributes_count": "", "flags": "",
	"time_unix_nano": "", "observed_time_unix_nano": "logs", "severity_number": "logs", "severity_text": "logs",
	"body": "logs", "event_name": "logs", "trace_id": "", "span_id": "", "parent_span_id": "traces", "trace_state": "traces",
	"name": "traces", "kind": "traces", "start_time_unix_nano": "", "end_time_unix_nano": "traces", "events": "traces",
	"dropped_events_count": "traces", "links": "traces", "dropped_links_count": "traces", "status": "traces",
	"value_int": "metrics", "value_double": "metrics", "count": "metrics", "sum": "metrics", "min": "metrics",
	"max": "metrics", "bucket_counts": "metrics", "explicit_bounds": "metrics", "scale": "metrics",
	"zero_count": "metrics", "zero_threshold": "metrics", "positive": "metrics", "negative": "metrics",
	"quantile_values": "metrics", "exemplars": "metrics",
}

// contexts are OTTL's names of what a path begins at.
var contexts = map[string]string{"log": "logs", "span": "traces", "datapoint": "metrics"}

var synonyms = map[string]string{
	"instrumentation_scope": "scope", "time": "time_unix_nano", "observed_time": "observed_time_unix_nano",
	"start_time": "start_time_unix_nano", "end_time": "end_time_unix_nano",
}

// newIgnored reads paths as OTTL writes them, such as `resource.attributes["host.name"]`, `log.body["id"]` or
// `spanevent.time_unix_nano`. `[*]` is every key, or every place of a list.
func newIgnored(paths []string) (*ignored, error) {
	root := &ignored{}
	if len(paths) > maxIgnore {
		return nil, &operation.Error{Code: BadPath, Message: fmt.Sprintf("ignore: at most %d paths may be left out", maxIgnore)}
	}
	for i, path := range paths {
		steps, err := parsePath(path)
		if err != nil {
			return nil, &operation.Error{Code: BadPath, Message: fmt.Sprintf("ignore[%d]: %v", i, err)}
		}
		for _, signal := range steps.signals {
			root.child(signal).add(steps.names)
		}
	}
	return root, nil
}

func (i *ignored) child(name string) *ignored {
	if i.children == nil {
		i.children = map[string]*ignored{}
	}
	if i.children[name] == nil {
		i.children[name] = &ignored{}
	}
	return i.children[name]
}

func (i *ignored) add(names []string) {
	for _, name := range names {
		i = i.child(name)
	}
	i.leaf = true
}

type steps struct {
	signals []string
	names   []string
}

func parsePath(path string) (steps, error) {
	if len(path) > maxIgnoreLength {
		return steps{}, fmt.Errorf("a path has at most %d characters", maxIgnoreLength)
	}
	names, err := split(path)
	if err != nil {
		return steps{}, err
	}
	signals := signals
	if signal, isContext := contexts[names[0]]; isContext && len(names) > 1 {
		signals, names = []string{signal}, names[1:]
	} else if names[0] == "spanevent" {
		names = append([]string{"events", anyStep}, names[1:]...)
	}
	for n, name := range names {
		if synonym, found := synonyms[name]; found && (n == 0 || names[0] == "events" && n == 2) {
			names[n] = synonym
		}
	}
	if last := len(names) - 1; names[last] == "string" && last > 0 && strings.HasSuffix(names[last-1], "_id") {
		names = names[:last]
	}
	only, known := heads[names[0]]
	if !known {
		var candidates []string
		for head := range heads {
			candidates = append(candidates, head)
		}
		slices.Sort(candidates)
		return steps{}, fmt.Errorf("%s: no record has a field %q%s", strconv.Quote(path), names[0],
			nearest.DidYouMean(names[0], candidates))
	}
	if only != "" {
		if !slices.Contains(signals, only) {
			return steps{}, fmt.Errorf("%s: only %s have %q", strconv.Quote(path), only, names[0])
		}
		signals = []string{only}
	}
	return steps{signals, names}, nil
}

// split returns the steps of a path: names, and what is in brackets.
func split(path string) ([]string, error) {
	wrong := func(at int, why string) error {
		return fmt.Errorf("%s: %s at character %d; write a path as OTTL does, for example resource.attributes[\"host.name\"]",
			strconv.Quote(path), why, at+1)
	}
	var names []string
	for at := 0; at < len(path); {
		if path[at] != '[' {
			if at > 0 {
				if path[at] != '.' {
					return nil, wrong(at, "there is neither . nor [")
				}
				at++
			}
			end := at
			for end < len(path) && (path[end] == '_' || 'a' <= path[end] && path[end] <= 'z') {
				end++
			}
			if end == at {
				return nil, wrong(at, "a name is missing")
			}
			names, at = append(names, path[at:end]), end
			continue
		}
		if at == 0 {
			return nil, wrong(at, "a name is missing")
		}
		inside := path[at+1:]
		switch quoted, err := strconv.QuotedPrefix(inside); {
		case err == nil && quoted[0] == '"':
			key, _ := strconv.Unquote(quoted) // QuotedPrefix has read it.
			names, at = append(names, key), at+1+len(quoted)
		case strings.HasPrefix(inside, "*"):
			names, at = append(names, anyStep), at+2
		default:
			end := strings.IndexByte(inside, ']')
			number, err := strconv.Atoi(inside[:max(end, 0)])
			if err != nil || number < 0 {
				return nil, wrong(at, "there is no key in double quotes, no number and no *")
			}
			names, at = append(names, strconv.Itoa(number)), at+1+end
		}
		if at >= len(path) || path[at] != ']' {
			return nil, wrong(at, "a ] is missing")
		}
		at++
	}
	if len(names) == 0 {
		return nil, wrong(0, "a name is missing")
	}
	return names, nil
}

// without returns the value without what is left out. name is the first step of its paths, empty for a record itself.
func (i *ignored) without(signal, name string, v value) value {
	at := i.children[signal]
	if at != nil && name != "" {
		at = at.children[name]
	}
	if at == nil {
		return v
	}
	if at.leaf {
		return value{}
	}
	return at.prune(v)
}

func (i *ignored) prune(v value) value {
	if v.items == nil || len(i.children) == 0 {
		return v
	}
	kept := &items{}
	for n, child := range v.items.values {
		step := strconv.Itoa(n)
		if v.items.names != nil {
			step = v.items.names[n]
		}
		out := false
		for _, below := range []*ignored{i.children[step], i.children[anyStep]} {
			if below == nil {
				continue
			}
			out = out || below.leaf
			child = below.prune(child)
		}
		// A list keeps its places.
		if out && v.items.names == nil {
			child, out = value{}, false
		}
		if out {
			continue
		}
		kept.values = append(kept.values, child)
		if v.items.names != nil {
			kept.names = append(kept.names, v.items.names[n])
		}
	}
	v.items = kept
	return v
}
