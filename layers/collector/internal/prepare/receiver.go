package prepare

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// sampleReceiver reads the sample in place of the target pipeline's receivers.
type sampleReceiver struct {
	id    string
	body  *yaml.Node
	notes []string
}

// givingWay are the settings of a filelog receiver on where, when and how it reads its files, which the sample
// replaces. The other settings, above all the operators, decide what happens to a line.
var givingWay = []string{
	"include", "exclude", "exclude_older_than", "ordering_criteria", "start_at", "poll_interval", "storage", "encoding",
	"compression", "delete_after_read", "polls_to_archive", "acquire_fs_lock", "max_log_size",
	"include_file_owner_name", "include_file_owner_group_name", "include_file_permissions",
}

// receiverFor returns the receiver for a sample: for raw lines the target's own filelog receiver if it has one.
func (s *source) receiverFor(sample *sample, target pipeline) sampleReceiver {
	if sample.otlp {
		body := reading()
		put(body, "include_file_name", boolean(false))
		return sampleReceiver{id: "otlpjsonfile/sample", body: body}
	}
	var own []string
	for _, id := range target.receivers {
		if typeOf(id) == "filelog" && s.component("receivers", id) != nil {
			own = append(own, id)
		}
	}
	if len(own) == 0 {
		body := reading()
		put(body, "include_file_name", boolean(false))
		return sampleReceiver{id: "filelog/sample", body: body}
	}
	result := sampleReceiver{id: own[0], body: reading()}
	if len(own) > 1 {
		result.notes = append(result.notes, fmt.Sprintf(
			"the first filelog receiver, %s, reads the sample; %s do not", own[0], strings.Join(own[1:], ", ")))
	}
	given := flattened(s.component("receivers", own[0]))
	for i := 0; i+1 < len(given.Content); i += 2 {
		if !slices.Contains(givingWay, given.Content[i].Value) {
			result.body.Content = append(result.body.Content, given.Content[i], given.Content[i+1])
		}
	}
	return result
}

// reading are the settings with which any receiver on files reads the whole sample, however long its lines are.
func reading() *yaml.Node {
	body := mapping()
	put(body, "include", list([]string{InputFile}))
	put(body, "start_at", scalar("beginning"))
	put(body, "max_log_size", scalar("8MiB"))
	return body
}

func boolean(value bool) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: fmt.Sprint(value)}
}

// typeOf returns the type of a component's id: `filelog` for `filelog/app`.
func typeOf(id string) string {
	kind, _, _ := strings.Cut(id, "/")
	return kind
}
