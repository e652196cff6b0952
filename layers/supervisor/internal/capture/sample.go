package capture

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

const (
	// mostBytes bounds a sample, largestRecord one record of it, deepest how far a record nests.
	mostBytes     = 1 << 20
	largestRecord = 64 << 10
	deepest       = 32
)

// levels are the names of the lists in OTLP's JSON: of resources, of scopes, and of records.
var levels = map[string][3]string{
	"logs":    {"resourceLogs", "scopeLogs", "logRecords"},
	"traces":  {"resourceSpans", "scopeSpans", "spans"},
	"metrics": {"resourceMetrics", "scopeMetrics", "metrics"},
}

// kindsOfMetrics are the fields of a metric that have data points.
var kindsOfMetrics = []string{"gauge", "sum", "histogram", "exponentialHistogram", "summary"}

// sample is what was captured: documents of OTLP's JSON without secrets, one a line.
type sample struct {
	levels   [3]string
	redactor *redactor
	lines    bytes.Buffer
	// room is for how many records more; leftOut counts those that are too large or nest too deeply.
	room, records, leftOut int
}

func newSample(order *Order) (*sample, error) {
	redactor, err := newRedactor(order.Redaction)
	if err != nil {
		return nil, err
	}
	return &sample{levels: levels[order.Signal], redactor: redactor, room: order.Records}, nil
}

func (s *sample) full() bool { return s.room == 0 }

// add takes the records of a document for which there is room.
func (s *sample) add(document []byte) error {
	if s.full() {
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(document))
	decoder.UseNumber()
	var root map[string]any
	if err := decoder.Decode(&root); err != nil {
		return fmt.Errorf("this is not OTLP as JSON: %w", err)
	}
	for _, resource := range objects(root[s.levels[0]]) {
		for _, scope := range objects(resource[s.levels[1]]) {
			s.addScope(resource, scope)
		}
	}
	return nil
}

// addScope makes a document of the records of one scope.
func (s *sample) addScope(resource, scope map[string]any) {
	records := objects(scope[s.levels[2]])
	if len(records) == 0 {
		return
	}
	whole, within := without(resource, s.levels[1]), without(scope, s.levels[2])
	if !searchable(whole, largestRecord) || !searchable(within, largestRecord) {
		s.leftOut += len(records)
		return
	}
	s.redactor.object(whole)
	s.redactor.object(within)
	whole[s.levels[1]] = []any{within}
	around, err := json.Marshal(map[string]any{s.levels[0]: []any{whole}})
	if err != nil || len(around) > largestRecord {
		s.leftOut += len(records)
		return
	}
	size := len(around) + len(s.levels[2]) + len(`,"":[]`)
	var kept []any
	for _, record := range records {
		if s.full() {
			break
		}
		points := s.cut(record)
		if points == 0 {
			continue
		}
		clean := s.clean(record, mostBytes-s.lines.Len()-size)
		if clean == nil || s.lines.Len()+size+len(clean)+2 > mostBytes {
			s.leftOut += points
			continue
		}
		kept, size = append(kept, clean), size+len(clean)+1
		s.room, s.records = s.room-points, s.records+points
	}
	within[s.levels[2]] = kept
	if content, err := json.Marshal(map[string]any{s.levels[0]: []any{whole}}); err == nil && len(kept) > 0 {
		s.lines.Write(content)
		s.lines.WriteByte('\n')
	}
}

// cut returns how many records this one counts as, after it was cut to those for which there is room: a metric counts
// as its data points.
func (s *sample) cut(record map[string]any) int {
	if s.levels[2] != "metrics" {
		return 1
	}
	for _, kind := range kindsOfMetrics {
		if data, is := record[kind].(map[string]any); is {
			points, _ := data["dataPoints"].([]any)
			points = points[:min(len(points), s.room)]
			data["dataPoints"] = points
			return len(points)
		}
	}
	return 0
}

// clean returns a record without secrets as JSON, nil if it is too large or has more bytes than there is room for.
func (s *sample) clean(record map[string]any, room int) json.RawMessage {
	if !searchable(record, min(room, largestRecord)) {
		return nil
	}
	content, err := json.Marshal(s.redactor.value("", record))
	if err != nil || len(content) > largestRecord {
		return nil
	}
	return content
}

// searchable reports whether an object is small enough to be searched for secrets, which costs more than to read it.
func searchable(object map[string]any, most int) bool {
	if depth(object) > deepest {
		return false
	}
	content, err := json.Marshal(object)
	return err == nil && len(content) <= most
}

func without(object map[string]any, field string) map[string]any {
	others := map[string]any{}
	for key, value := range object {
		if key != field {
			others[key] = value
		}
	}
	return others
}

func objects(value any) []map[string]any {
	list, _ := value.([]any)
	var found []map[string]any
	for _, one := range list {
		if object, is := one.(map[string]any); is {
			found = append(found, object)
		}
	}
	return found
}

func depth(value any) int {
	var inside []int
	switch value := value.(type) {
	case map[string]any:
		for _, one := range value {
			inside = append(inside, depth(one))
		}
	case []any:
		for _, one := range value {
			inside = append(inside, depth(one))
		}
	default:
		return 0
	}
	if len(inside) == 0 {
		return 1
	}
	return 1 + slices.Max(inside)
}
