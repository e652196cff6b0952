package prepare

import (
	"fmt"
	"slices"
	"strings"
)

// refuseOperators refuses operators of log receivers that read or write by themselves (file_output, tcp_input, …): the
// input of a run is the sample, and its output is recorded. It takes the resolved configuration, because the default of
// a `${env:NAME}` may contain an operator as well.
func refuseOperators(resolved map[string]any) error {
	for _, kind := range []string{"receivers", "processors", "connectors", "extensions"} {
		for _, id := range names(section(resolved, kind)) {
			if found := opening(section(resolved, kind)[id]); found != "" {
				return &Refusal{fmt.Sprintf(
					"operators in a run cannot open files or connections: remove the operator %s from %s::%s", found, kind, id)}
			}
		}
	}
	return nil
}

// opening returns the type of an operator in a value that opens a file or connection, or "".
func opening(value any) string {
	switch value := value.(type) {
	case map[string]any:
		for _, name := range names(value) {
			if strings.EqualFold(name, "operators") {
				if found := firstOpening(value[name]); found != "" {
					return found
				}
			}
			if found := opening(value[name]); found != "" {
				return found
			}
		}
	case []any:
		for _, entry := range value {
			if found := opening(entry); found != "" {
				return found
			}
		}
	}
	return ""
}

// firstOpening is opening for a single operator or a list of them.
func firstOpening(operators any) string {
	switch operators := operators.(type) {
	case []any:
		for _, operator := range operators {
			if found := firstOpening(operator); found != "" {
				return found
			}
		}
	case map[string]any:
		for name, value := range operators {
			if kind, isText := value.(string); isText && strings.EqualFold(name, "type") && opens(kind) {
				return kind
			}
		}
	}
	return ""
}

func opens(kind string) bool {
	return strings.HasSuffix(kind, "_input") || strings.HasSuffix(kind, "_output") ||
		slices.Contains([]string{"stdin", "stdout", "namedpipe"}, kind)
}
