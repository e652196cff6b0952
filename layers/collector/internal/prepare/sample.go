package prepare

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// sample is telemetry as a receiver reads it: OTLP/JSON, one document a line, or raw lines.
type sample struct {
	otlp  bool
	input string
	// records counts its log records, spans or data points; for raw lines, the lines that are not blank.
	records int
}

// members are the names that OTLP/JSON gives the list of resources of each signal; the unmarshalers take both.
var members = map[string][]string{
	"logs":    {"resourceLogs", "resource_logs"},
	"traces":  {"resourceSpans", "resource_spans"},
	"metrics": {"resourceMetrics", "resource_metrics"},
}

var things = map[string]string{"logs": "log records", "traces": "spans", "metrics": "data points"}

func readSample(text, signal string, mustBeOTLP bool) (*sample, error) {
	if strings.TrimSpace(text) == "" {
		return nil, badSample(1, "the sample is empty")
	}
	documents, isOTLP, err := documentsOf(text)
	if signal == "logs" && !mustBeOTLP && !isOTLP {
		return &sample{input: strings.TrimSuffix(text, "\n") + "\n", records: linesOf(text)}, nil
	}
	if err != nil {
		return nil, err
	}
	var input bytes.Buffer
	count := 0
	for _, document := range documents {
		found, err := document.check(signal)
		if err != nil {
			return nil, err
		}
		count += found
		if err := json.Compact(&input, document.content); err != nil {
			return nil, badSample(document.line, err.Error())
		}
		input.WriteByte('\n')
	}
	if count == 0 {
		return nil, badSample(1, "the sample contains no "+things[signal])
	}
	return &sample{otlp: true, input: input.String(), records: count}, nil
}

func linesOf(text string) int {
	count := 0
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) != "" {
			count++
		}
	}
	return count
}

func badSample(line int, message string) *Problem {
	return &Problem{Field: "sample", Message: fmt.Sprintf("line %d: %s", line, message), Line: line}
}

type document struct {
	content json.RawMessage
	line    int
}

// documentsOf splits a text into JSON documents. isOTLP is set if any of them has a member of OTLP/JSON. With an error,
// it returns the documents before it.
func documentsOf(text string) (documents []document, isOTLP bool, err error) {
	decoder := json.NewDecoder(strings.NewReader(text))
	for {
		var content json.RawMessage
		err := decoder.Decode(&content)
		if errors.Is(err, io.EOF) {
			return documents, isOTLP, nil
		}
		if err != nil {
			return documents, isOTLP, notJSON(text, decoder.InputOffset(), err)
		}
		end := int(decoder.InputOffset())
		found := document{content, lineAt(text, end-len(content))}
		documents = append(documents, found)
		isOTLP = isOTLP || found.signal() != ""
	}
}

func notJSON(text string, offset int64, err error) *Problem {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		// Its offset counts from the start of the decoder's current value.
		offset = max(offset, syntax.Offset)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		offset = int64(len(strings.TrimRight(text, "\n\r\t ")))
	}
	return badSample(lineAt(text, int(offset)), "it is not OTLP/JSON: "+err.Error())
}

func lineAt(text string, offset int) int {
	return 1 + strings.Count(text[:min(max(offset, 0), len(text))], "\n")
}

// signal returns the signal of a document, or "".
func (d document) signal() string {
	var content map[string]json.RawMessage
	if json.Unmarshal(d.content, &content) != nil {
		return ""
	}
	for signal, names := range members {
		for _, name := range names {
			if _, found := content[name]; found {
				return signal
			}
		}
	}
	return ""
}

// check reads a document as the receiver will, and counts its records.
func (d document) check(signal string) (count int, err error) {
	switch found := d.signal(); found {
	case signal:
	case "":
		return 0, badSample(d.line, fmt.Sprintf("it is not OTLP/JSON for %s: it has no %q", signal, members[signal][0]))
	default:
		return 0, badSample(d.line, fmt.Sprintf("it contains %s, but the run is for %s", found, signal))
	}
	defer func() {
		// The unmarshalers panic on some documents that no SDK would send.
		if fault := recover(); fault != nil {
			err = badSample(d.line, fmt.Sprintf("it is not OTLP/JSON for %s: %v", signal, fault))
		}
	}()
	switch signal {
	case "logs":
		var logs plog.Logs
		if logs, err = new(plog.JSONUnmarshaler).UnmarshalLogs(d.content); err == nil {
			count = logs.LogRecordCount()
		}
	case "traces":
		var traces ptrace.Traces
		if traces, err = new(ptrace.JSONUnmarshaler).UnmarshalTraces(d.content); err == nil {
			count = traces.SpanCount()
		}
	case "metrics":
		var metrics pmetric.Metrics
		if metrics, err = new(pmetric.JSONUnmarshaler).UnmarshalMetrics(d.content); err == nil {
			count = metrics.DataPointCount()
		}
	}
	if err != nil {
		return 0, badSample(d.line, fmt.Sprintf("it is not OTLP/JSON for %s: %v", signal, err))
	}
	return count, nil
}
