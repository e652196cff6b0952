// Package evaluate judges rules over the telemetry that a test run recorded: one OTLP/JSON document a line.
package evaluate

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/headgate/headgate/layers/collector/internal/operation"
	"github.com/headgate/headgate/layers/collector/internal/rules"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// Tallies evaluates every condition on everything in the recorded output, and returns what each of them counted.
func Tallies(ctx context.Context, output io.Reader, conditions []rules.Condition) ([]rules.Tally, error) {
	tallies := make([]rules.Tally, len(conditions))
	lines := bufio.NewReaderSize(output, 1<<20)
	for number := 1; ; number++ {
		line, err := lines.ReadBytes('\n')
		if document := bytes.TrimSpace(line); len(document) > 0 {
			if err := judge(ctx, document, conditions, tallies); err != nil {
				return nil, fmt.Errorf("line %d of the output: %w", number, err)
			}
		}
		if errors.Is(err, io.EOF) {
			return tallies, nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading the output: %w", err)
		}
	}
}

// judge evaluates the conditions on one document. The recorder writes the document's one member first.
func judge(ctx context.Context, document []byte, conditions []rules.Condition, tallies []rules.Tally) error {
	switch {
	case bytes.HasPrefix(document, []byte(`{"resourceLogs"`)):
		batch, err := new(plog.JSONUnmarshaler).UnmarshalLogs(document)
		if err != nil {
			return err
		}
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
		for i, condition := range conditions {
			if err := condition.Metrics(ctx, batch, &tallies[i]); err != nil {
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

type request struct {
	Signals    []string     `json:"signals"`
	Rules      []rules.Rule `json:"rules"`
	OutputPath string       `json:"output_path"`
}

type result struct {
	Verdicts []Verdict `json:"verdicts"`
}

// Handle answers `evaluate {signals, rules, output_path}` with `{verdicts: [{matched, total, passed, message}]}`, in the
// order of the rules.
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
	output, err := os.Open(asked.OutputPath)
	if err != nil {
		return nil, errors.New("the output cannot be opened")
	}
	defer output.Close()
	tallies, err := Tallies(ctx, output, conditions)
	if err != nil {
		return nil, err
	}
	verdicts := make([]Verdict, len(tallies))
	for i, tally := range tallies {
		verdicts[i] = Judge(asked.Rules[i], tally)
	}
	return result{verdicts}, nil
}
