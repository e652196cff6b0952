package prepare

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/headgate/headgate/layers/collector/internal/inputname"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// sample is telemetry as a receiver reads it: OTLP/JSON, one document a line, or raw lines.
type sample struct {
	otlp bool
	// guessed is set if the request did not say what the sample is.
	guessed bool
	input   string
	// name is the path of its file, InputFile by default.
	name string
	// records counts its log records, spans, data points or samples of profiles; for raw lines, the lines that are not blank.
	records int
}

// inputFor returns the sample as its receiver is to find it. Without a last line break, a receiver would wait for the
// rest of the last line; with `multiline`, the break could be the start of another record.
func (s *sample) inputFor(receiver sampleReceiver) string {
	if receiver.multiline || strings.HasSuffix(s.input, "\n") {
		return s.input
	}
	return s.input + "\n"
}

// members are the names that OTLP/JSON gives the list of resources of each signal; the unmarshalers take both.
var members = map[string][]string{
	"logs":     {"resourceLogs", "resource_logs"},
	"traces":   {"resourceSpans", "resource_spans"},
	"metrics":  {"resourceMetrics", "resource_metrics"},
	"profiles": {"resourceProfiles", "resource_profiles"},
}

var things = map[string]string{"logs": "log records", "traces": "spans", "metrics": "metrics", "profiles": "profiles"}

// The values of Request.SampleFormat.
const (
	formatRaw  = "raw"
	formatOTLP = "otlp"
)

func readSample(request Request) (*sample, error) {
	text, signal := *request.Sample, request.SignalType
	if err := checkFormat(request); err != nil {
		return nil, err
	}
	if strings.TrimSpace(text) == "" {
		return nil, badSample(1, "the sample is empty")
	}
	raw := &sample{input: text, name: cmp.Or(request.SampleName, InputFile), records: linesOf(text)}
	if request.SampleFormat == formatRaw {
		return raw, nil
	}
	documents, isOTLP, err := documentsOf(text)
	mustBeOTLP := request.SampleIsOTLP || request.SampleFormat == formatOTLP
	if signal == "logs" && !mustBeOTLP && !isOTLP {
		return raw, nil
	}
	if request.SampleName != "" {
		return nil, &Problem{Field: "sample_name", Message: "the sample is OTLP/JSON, which has no file name: " +
			"leave out sample_name, or set sample_format to raw for log lines that are OTLP/JSON"}
	}
	if err != nil {
		return nil, err
	}
	var input bytes.Buffer
	records, empty := 0, true
	for _, document := range documents {
		found, err := document.check(signal)
		if err != nil {
			return nil, err
		}
		records += found.records
		empty = empty && found.records == 0 && found.holders == 0
		if err := json.Compact(&input, document.content); err != nil {
			return nil, badSample(document.line, err.Error())
		}
		input.WriteByte('\n')
	}
	if empty {
		return nil, badSample(1, "the sample contains no "+things[signal])
	}
	return &sample{otlp: true, guessed: !mustBeOTLP, input: input.String(), name: InputFile, records: records}, nil
}

// checkFormat returns the problem of what the request says of its sample, if there is one.
func checkFormat(request Request) error {
	switch request.SampleFormat {
	case "", formatOTLP:
	case formatRaw:
		if request.SignalType != "logs" {
			return &Problem{Field: "sample_format", Message: fmt.Sprintf(
				"raw lines become logs, and the run is for %s: use otlp", request.SignalType)}
		}
		if request.SampleIsOTLP {
			return &Problem{Field: "sample_format", Message: "a sample that is a JSON value is OTLP/JSON: send raw lines as text"}
		}
	default:
		return &Problem{Field: "sample_format", Message: fmt.Sprintf("%q is not a format: use raw or otlp", request.SampleFormat)}
	}
	if request.SampleName == "" {
		return nil
	}
	if problem := inputname.Problem(request.SampleName); problem != "" {
		return &Problem{Field: "sample_name", Message: "the name " + problem}
	}
	return nil
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

// held is what a document holds. Processors also handle metrics without data points and profiles without samples, the
// holders, which are not records.
type held struct{ records, holders int }

// check reads a document as the receiver will, and counts what it holds.
func (d document) check(signal string) (found held, err error) {
	switch of := d.signal(); of {
	case signal:
	case "":
		return held{}, badSample(d.line, fmt.Sprintf("it is not OTLP/JSON for %s: it has no %q", signal, members[signal][0]))
	default:
		return held{}, badSample(d.line, fmt.Sprintf("it contains %s, but the run is for %s", of, signal))
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
			found.records = logs.LogRecordCount()
		}
	case "traces":
		var traces ptrace.Traces
		if traces, err = new(ptrace.JSONUnmarshaler).UnmarshalTraces(d.content); err == nil {
			found.records = traces.SpanCount()
		}
	case "metrics":
		var metrics pmetric.Metrics
		if metrics, err = new(pmetric.JSONUnmarshaler).UnmarshalMetrics(d.content); err == nil {
			found = held{metrics.DataPointCount(), metrics.MetricCount()}
		}
	case "profiles":
		var profiles pprofile.Profiles
		if profiles, err = new(pprofile.JSONUnmarshaler).UnmarshalProfiles(d.content); err == nil {
			found = held{profiles.SampleCount(), profilesIn(profiles)}
			if found.records == 0 && samplesOfProfiles.Match(d.content) {
				err = errors.New("this collector reads none of its samples of profiles, whose form another release wrote")
			}
		}
	}
	if err != nil {
		return held{}, badSample(d.line, fmt.Sprintf("it is not OTLP/JSON for %s: %v", signal, err))
	}
	return found, nil
}

// samplesOfProfiles matches samples in the form of any release: the name of their list has changed.
var samplesOfProfiles = regexp.MustCompile(`"samples?"\s*:\s*\[\s*\{`)

func profilesIn(batch pprofile.Profiles) int {
	count := 0
	for _, resource := range batch.ResourceProfiles().All() {
		for _, scope := range resource.ScopeProfiles().All() {
			count += scope.Profiles().Len()
		}
	}
	return count
}
