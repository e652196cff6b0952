package prepare

import (
	"fmt"
	"slices"
	"strings"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/receiver"
	"go.yaml.in/yaml/v3"
)

// sampleReceiver reads the sample in place of the target pipeline's receivers.
type sampleReceiver struct {
	id    string
	body  *yaml.Node
	notes []string
	// multiline is set if it has settings on where a record ends, own if it is one of the target's receivers of log lines
	// or would be, if the sample were raw lines.
	multiline bool
	own       string
}

// takenAsOTLP tells what a reader of an empty output may not know: that the sample did not go through the target's own
// receiver of log lines.
func (r sampleReceiver) takenAsOTLP() string {
	text := "the sample was taken as OTLP/JSON"
	if r.own != "" {
		text += fmt.Sprintf(", so it did not go through receivers::%s", r.own)
	}
	return text + "; if its lines are to stay raw log lines, set sample_format to raw"
}

// Readers are the types of the receivers that can read a sample, the collector's own name first: releases rename them,
// and take the old name for a time.
type Readers struct {
	// Lines are those of the receiver of log lines, OTLP of that of OTLP in JSON.
	Lines, OTLP []string
}

// ReadersOf returns the names that these receivers have in a collector.
func ReadersOf(factories map[component.Type]receiver.Factory) Readers {
	return Readers{Lines: namesOf(factories, "file_log", "filelog"), OTLP: namesOf(factories, "otlp_json_file", "otlpjsonfile")}
}

// namesOf returns the known names of a receiver, its factory's own first.
func namesOf(factories map[component.Type]receiver.Factory, names ...string) []string {
	for _, name := range names {
		if factory, known := factories[component.MustNewType(name)]; known {
			own := factory.Type().String()
			others := slices.DeleteFunc(names, func(other string) bool {
				_, known := factories[component.MustNewType(other)]
				return other == own || !known
			})
			return append([]string{own}, others...)
		}
	}
	return names
}

// givingWay are the settings of a filelog receiver on where, when and how it reads its files, which the sample
// replaces. The other settings, above all the operators, decide what happens to a line.
var givingWay = []string{
	"include", "exclude", "exclude_older_than", "ordering_criteria", "start_at", "poll_interval", "storage", "encoding",
	"compression", "delete_after_read", "polls_to_archive", "acquire_fs_lock",
	"include_file_owner_name", "include_file_owner_group_name", "include_file_permissions",
}

// receiverFor returns the receiver for a sample: for raw lines the target's own filelog receiver if it has one.
func (s *source) receiverFor(sample *sample, target pipeline, readers Readers) sampleReceiver {
	var own []string
	for _, id := range target.receivers {
		if slices.Contains(readers.Lines, typeOf(id)) && s.component("receivers", id) != nil {
			own = append(own, id)
		}
	}
	if sample.otlp {
		result := sampleReceiver{id: readers.OTLP[0] + "/sample", body: readingAll(sample)}
		if len(own) > 0 {
			result.own = own[0]
		}
		return result
	}
	if len(own) == 0 {
		return sampleReceiver{id: readers.Lines[0] + "/sample", body: readingAll(sample)}
	}
	result := sampleReceiver{id: own[0], own: own[0], body: reading(sample)}
	if len(own) > 1 {
		result.notes = append(result.notes, fmt.Sprintf(
			"the first filelog receiver, %s, reads the sample; %s do not", own[0], strings.Join(own[1:], ", ")))
	}
	given := flattened(s.component("receivers", own[0]))
	result.multiline = at(given, "multiline") != nil
	for i := 0; i+1 < len(given.Content); i += 2 {
		if !slices.Contains(givingWay, given.Content[i].Value) {
			result.body.Content = append(result.body.Content, given.Content[i], given.Content[i+1])
		}
	}
	return result
}

// reading are the settings with which any receiver on files reads the sample.
func reading(sample *sample) *yaml.Node {
	body := mapping()
	put(body, "include", list([]string{sample.name}))
	put(body, "start_at", scalar("beginning"))
	return body
}

// readingAll are those of a receiver of our own, which takes lines of any length. A record that
// did not come from a file does not get a file name as an attribute.
func readingAll(sample *sample) *yaml.Node {
	body := reading(sample)
	put(body, "max_log_size", scalar("8MiB"))
	put(body, "include_file_name", boolean(false))
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
