// Package evaluate applies rules to the telemetry that a test run recorded: one OTLP/JSON document a line.
package evaluate

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/headgate/headgate/layers/collector/internal/operation"
	"github.com/headgate/headgate/layers/collector/internal/rules"
	"github.com/headgate/headgate/layers/collector/internal/tell"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// Records counts log records, spans, data points and samples of profiles, by signal.
type Records map[string]int

// Count evaluates every condition on all recorded telemetry and adds the outcomes to the conditions' tallies. It
// returns the number of records.
func Count(ctx context.Context, output io.Reader, conditions []rules.Condition, tallies []rules.Tally) (Records, error) {
	records := Records{}
	lines := bufio.NewReaderSize(output, 1<<20)
	for number := 1; ; number++ {
		line, err := lines.ReadBytes('\n')
		if document := bytes.TrimSpace(line); len(document) > 0 {
			if err := evaluateDocument(ctx, document, conditions, tallies, records); err != nil {
				return nil, fmt.Errorf("line %d of the output: %w", number, err)
			}
		}
		if errors.Is(err, io.EOF) {
			return records, nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading the output: %w", err)
		}
	}
}

// evaluateDocument evaluates the conditions on one document. The recorder writes the document's only member first.
func evaluateDocument(
	ctx context.Context, document []byte, conditions []rules.Condition, tallies []rules.Tally, records Records,
) error {
	switch {
	case bytes.HasPrefix(document, []byte(`{"resourceLogs"`)):
		batch, err := new(plog.JSONUnmarshaler).UnmarshalLogs(document)
		if err != nil {
			return err
		}
		records["logs"] += batch.LogRecordCount()
		for i, condition := range conditions {
			if err := condition.Logs(ctx, batch, &tallies[i]); err != nil {
				return err
			}
		}
	case bytes.HasPrefix(document, []byte(`{"resourceSpans"`)):
		batch, err := new(ptrace.JSONUnmarshaler).UnmarshalTraces(document)
		if err != nil {
			return err
		}
		records["traces"] += batch.SpanCount()
		for i, condition := range conditions {
			if err := condition.Traces(ctx, batch, &tallies[i]); err != nil {
				return err
			}
		}
	case bytes.HasPrefix(document, []byte(`{"resourceMetrics"`)):
		batch, err := new(pmetric.JSONUnmarshaler).UnmarshalMetrics(document)
		if err != nil {
			return err
		}
		records["metrics"] += batch.DataPointCount()
		for i, condition := range conditions {
			if err := condition.Metrics(ctx, batch, &tallies[i]); err != nil {
				return err
			}
		}
	case bytes.HasPrefix(document, []byte(`{"resourceProfiles"`)), bytes.HasPrefix(document, []byte(`{"dictionary"`)):
		batch, err := new(pprofile.JSONUnmarshaler).UnmarshalProfiles(document)
		if err != nil {
			return err
		}
		records["profiles"] += batch.SampleCount()
		for i, condition := range conditions {
			if err := condition.Profiles(ctx, batch, &tallies[i]); err != nil {
				return err
			}
		}
	case bytes.Equal(document, []byte("{}")):
		// An empty batch.
	default:
		return errors.New("it is not OTLP/JSON")
	}
	return nil
}

// evaluationTime bounds one request, below the time after which the checker is killed for it.
const evaluationTime = 8 * time.Second

type request struct {
	Signals   []string      `json:"signals"`
	Rules     []rules.Rule  `json:"rules"`
	Documents string        `json:"documents"`
	Tallies   []rules.Tally `json:"tallies"`
	// Log is what the collector wrote to its standard error, with the first part of the output.
	Log string `json:"log"`
}

type result struct {
	Tallies  []rules.Tally `json:"tallies"`
	Verdicts []Verdict     `json:"verdicts"`
	Records  Records       `json:"records"`
}

// Handle answers `evaluate {signals, rules, documents, tallies, log}` with `{tallies, verdicts: [{matched, total, passed,
// message}], records: {signal: n}}`, the first two in the order of the rules. A large output comes in parts: each
// request continues from the tallies of the one before, and the verdicts of the last one count. Records are those of
// the part.
func Handle(ctx context.Context, raw json.RawMessage) (any, error) {
	var asked request
	if err := json.Unmarshal(raw, &asked); err != nil {
		return nil, operation.BadRequest("reading the request: %v", err)
	}
	conditions, refusals, err := rules.Compile(asked.Signals, asked.Rules)
	if err != nil {
		return nil, err
	}
	if len(refusals) > 0 {
		refusal := refusals[0]
		return nil, fmt.Errorf("rule %q: %s: %s", asked.Rules[refusal.Index].Name, refusal.Field, refusal.Message)
	}
	tallies := asked.Tallies
	if tallies == nil {
		tallies = make([]rules.Tally, len(conditions))
	}
	if len(tallies) != len(conditions) {
		return nil, operation.BadRequest("there are %d tallies for %d rules", len(tallies), len(conditions))
	}
	ctx, cancel := context.WithTimeout(ctx, evaluationTime)
	defer cancel()
	first := asked.Tallies == nil
	records, err := Count(ctx, strings.NewReader(asked.Documents), conditions, tallies)
	if err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			return nil, fmt.Errorf("the rules took longer than %.0f s", evaluationTime.Seconds())
		}
		return nil, err
	}
	if first {
		if err := countComplaints(ctx, asked.Log, conditions, tallies); err != nil {
			return nil, err
		}
	}
	verdicts := make([]Verdict, len(tallies))
	for i, tally := range tallies {
		verdicts[i] = NewVerdict(asked.Rules[i], tally)
	}
	if first {
		addNotes(ctx, asked, tallies)
	}
	for i, tally := range tallies {
		verdicts[i].Note = tally.Note
	}
	return result{tallies, verdicts, records}, nil
}

// countComplaints evaluates the conditions on what components complained of in the log, each message once.
func countComplaints(ctx context.Context, log string, conditions []rules.Condition, tallies []rules.Tally) error {
	batch := plog.NewLogs()
	records := batch.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords()
	for _, one := range tell.ComponentErrors(log) {
		record := records.AppendEmpty()
		record.Body().SetStr(one.Message)
		record.Attributes().PutStr("component", one.Component)
		record.Attributes().PutInt("count", int64(one.Count))
	}
	for i, condition := range conditions {
		if err := rules.OnComplaints(ctx, condition, batch, &tallies[i]); err != nil {
			return err
		}
	}
	return nil
}

// notesTime bounds looking for what is to be noted.
const notesTime = time.Second

// addNotes notes the comparisons of different types in the rules. Nothing depends on them, so they are looked for on the
// first part of the output only, and not for long.
func addNotes(ctx context.Context, asked request, tallies []rules.Tally) {
	var comparisons []rules.Comparison
	var mixed []rules.Rule
	var of []int
	for i, rule := range asked.Rules {
		for _, found := range rules.ComparisonsIn(rule) {
			comparisons, mixed, of = append(comparisons, found), append(mixed, found.Mixed), append(of, i)
		}
	}
	if len(mixed) == 0 {
		return
	}
	conditions, refusals, err := rules.Compile(asked.Signals, mixed)
	if err != nil {
		return
	}
	for _, refusal := range slices.Backward(refusals) {
		// What looked like a path may be an enum, or what is not there in this context.
		at := refusal.Index
		conditions, of = slices.Delete(conditions, at, at+1), slices.Delete(of, at, at+1)
		comparisons = slices.Delete(comparisons, at, at+1)
	}
	ctx, cancel := context.WithTimeout(ctx, notesTime)
	defer cancel()
	counts := make([]rules.Tally, len(conditions))
	if _, err := Count(ctx, strings.NewReader(asked.Documents), conditions, counts); err != nil {
		return
	}
	for i, count := range counts {
		if note := &tallies[of[i]].Note; count.Matched > 0 && *note == "" {
			*note = comparisons[i].Note(items(count.Matched, asked.Rules[of[i]].Context))
		}
	}
}
