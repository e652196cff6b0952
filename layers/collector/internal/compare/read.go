package compare

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/headgate/headgate/layers/collector/internal/operation"
)

// maxMembers and maxRecords bound the memory of both outputs to some 300 MB: their opening braces, each of which may
// become a message of some hundred bytes, as in a text of nothing but `{},{}`; and their records.
const (
	maxMembers = 600_000
	maxRecords = 200_000
)

// part is what many records have in common: a resource, a scope, a metric.
type part struct {
	value value
	// whole is the value with what is ignored, for the record's name.
	whole    value
	digest   digest
	timeless digest
}

// record is a log record, a span, a data point, or a metric without data points.
type record struct {
	// index is the place among the output's records of this signal.
	index int
	// parts are the resource, the scope and, of a data point, the metric.
	parts []*part
	own   part
}

// digest stands for the whole record.
func (r *record) digest(times bool) digest {
	encoded := make([]byte, 0, 64)
	for _, one := range append(r.parts[:len(r.parts):len(r.parts)], &r.own) {
		if times {
			encoded = append(encoded, one.digest[:]...)
		} else {
			encoded = append(encoded, one.timeless[:]...)
		}
	}
	return digestOf(encoded)
}

var signals = []string{"logs", "traces", "metrics"}

// output is what one side put out.
type output struct {
	records  map[string][]*record
	profiles int
	// knowsTimes is set if the run's own times are known.
	knowsTimes bool
}

// reader makes records of a text.
type reader struct {
	ignore *ignored
	ran    *Span
	output *output
	signal string
}

// duringRun tells whether a time lies in the run. The clock of a text may have whole seconds.
func (r *reader) duringRun(at time.Time) bool {
	return r.ran != nil && !at.Before(r.ran.From.Add(-time.Second)) && !at.After(r.ran.Until.Add(time.Second))
}

func (r *reader) textDuringRun(text string) bool {
	if r.ran == nil {
		return false
	}
	at, ok := parseTime(text)
	return ok && r.duringRun(at)
}

// read returns the records of a text with OTLP/JSON documents, one after the other.
func read(side, documents string, ran *Span, ignore *ignored) (*output, error) {
	r := &reader{ignore, ran, &output{records: map[string][]*record{}, knowsTimes: ran != nil}, ""}
	decoder := json.NewDecoder(strings.NewReader(documents))
	for {
		var document json.RawMessage
		start := decoder.InputOffset()
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			return r.output, nil
		}
		if err == nil {
			err = r.document(document)
		}
		if errors.Is(err, errTooMany) {
			return nil, tooLarge("%s: there are over %d records", side, maxRecords/2)
		}
		if err != nil {
			line := 1 + strings.Count(documents[:start], "\n") + leadingLines(documents[start:])
			return nil, &operation.Error{Code: NotOTLP, Message: fmt.Sprintf("%s: line %d: %v", side, line, plain(err))}
		}
	}
}

func leadingLines(text string) int {
	return strings.Count(text[:len(text)-len(strings.TrimLeft(text, " \t\r\n"))], "\n")
}

// plain names what a reader of JSON complains of.
func plain(err error) string {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) || errors.Is(err, io.ErrUnexpectedEOF) {
		return "it is not JSON: " + err.Error()
	}
	return err.Error()
}

func (r *reader) document(document json.RawMessage) error {
	var members map[string]json.RawMessage
	if !bytes.HasPrefix(document, []byte("{")) || json.Unmarshal(document, &members) != nil {
		return errors.New("it is not OTLP/JSON: use an object with resourceLogs, resourceSpans or resourceMetrics")
	}
	if len(members) == 0 {
		return nil // An empty batch.
	}
	known := false
	has := func(camel, snake string) bool {
		_, one := members[camel]
		_, other := members[snake]
		known = known || one || other
		return one || other
	}
	if has("resourceLogs", "resource_logs") {
		batch, err := new(plog.JSONUnmarshaler).UnmarshalLogs(document)
		if err != nil {
			return err
		}
		if err := r.fits(batch.LogRecordCount()); err != nil {
			return err
		}
		r.logs(batch)
	}
	if has("resourceSpans", "resource_spans") {
		batch, err := new(ptrace.JSONUnmarshaler).UnmarshalTraces(document)
		if err != nil {
			return err
		}
		if err := r.fits(batch.SpanCount()); err != nil {
			return err
		}
		r.traces(batch)
	}
	if has("resourceMetrics", "resource_metrics") {
		batch, err := new(pmetric.JSONUnmarshaler).UnmarshalMetrics(document)
		if err != nil {
			return err
		}
		if err := r.fits(batch.MetricCount() + batch.DataPointCount()); err != nil {
			return err
		}
		r.metrics(batch)
	}
	if has("resourceProfiles", "resource_profiles") {
		r.output.profiles++
	}
	if !known {
		return errors.New("it is not OTLP/JSON: it has no resourceLogs, resourceSpans or resourceMetrics")
	}
	return nil
}

var errTooMany = errors.New("too many records")

// fits bounds the records of an output to half of maxRecords.
func (r *reader) fits(more int) error {
	for _, records := range r.output.records {
		more += len(records)
	}
	if more > maxRecords/2 {
		return errTooMany
	}
	return nil
}

// part makes a part of records; name is how paths begin, empty for the record itself.
func (r *reader) part(name string, v value) part {
	whole := v
	v = r.ignore.without(r.signal, name, v)
	return part{v, whole, digestOf(encode(nil, v, true)), digestOf(encode(nil, v, false))}
}

func (r *reader) add(own value, parts ...*part) {
	list := r.output.records[r.signal]
	r.output.records[r.signal] = append(list, &record{len(list), parts, r.part("", own)})
}

func (r *reader) resource(from pcommon.Resource, schemaURL string) *part {
	m := r.message(3)
	m.attributes("attributes", from.Attributes())
	m.small("dropped_attributes_count", int64(from.DroppedAttributesCount()))
	m.text("schema_url", schemaURL)
	resource := r.part("resource", m.value())
	return &resource
}

func (r *reader) scope(from pcommon.InstrumentationScope, schemaURL string) *part {
	m := r.message(5)
	m.text("name", from.Name())
	m.text("version", from.Version())
	m.attributes("attributes", from.Attributes())
	m.small("dropped_attributes_count", int64(from.DroppedAttributesCount()))
	m.text("schema_url", schemaURL)
	scope := r.part("scope", m.value())
	return &scope
}
