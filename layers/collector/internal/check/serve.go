package check

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"github.com/headgate/headgate/layers/collector/internal/lint"
	"github.com/headgate/headgate/layers/collector/internal/operation"
)

// maxRequest bounds a request in bytes. The largest hold a test run's output of up to 32 MB, which JSON's escapes at
// worst double. A longer line is discarded and answered with an error.
const maxRequest = 72 << 20

type ready struct {
	Ready       bool   `json:"ready"`
	Protocol    int    `json:"protocol"`
	Version     string `json:"version"`
	OTTLVersion string `json:"ottl_version"`
}

type question struct {
	ID int64  `json:"id"`
	Op string `json:"op"`
}

type answer struct {
	ID       *int64           `json:"id"`
	Result   any              `json:"result,omitempty"`
	Error    *operation.Error `json:"error,omitempty"`
	RSSBytes int64            `json:"rss_bytes"`
	Calls    int64            `json:"calls"`
}

// Serve writes that it is ready, then answers one request after the other until the channel ends.
func Serve(
	ctx context.Context, channel io.ReadWriter, env *operation.Environment, handlers map[string]operation.Handler,
	residentBytes func() int64,
) error {
	version := env.BuildInfo.Version
	first := ready{Ready: true, Protocol: operation.Protocol, Version: version, OTTLVersion: lint.OTTLVersion(version)}
	if err := writeLine(channel, first); err != nil {
		return fmt.Errorf("writing that it is ready: %w", err)
	}
	lines := bufio.NewReaderSize(channel, 64<<10)
	idle, env := newIdle(env)
	defer idle.asked()
	for calls := int64(1); ; calls++ {
		line, err := readLine(lines)
		if errors.Is(err, io.EOF) {
			return nil
		}
		idle.asked()
		reply := answer{Calls: calls}
		switch {
		case errors.Is(err, errTooLong):
			reply.Error = &operation.Error{
				Code: "too_large", Message: fmt.Sprintf("a request is one line of at most %d bytes", maxRequest),
			}
		case err != nil:
			return fmt.Errorf("reading a request: %w", err)
		default:
			watched := watch(func(failure *operation.Error) {
				_ = writeLine(channel, answer{ID: idOf(line), Error: failure, RSSBytes: residentBytes(), Calls: calls})
				os.Exit(exceededStatus)
			})
			reply.ID, reply.Result, reply.Error = respond(ctx, env, handlers, line)
			watched.end()
			if !watched.mayAnswer() {
				select {} // the process ends
			}
		}
		reply.RSSBytes = residentBytes()
		if err := writeLine(channel, reply); err != nil {
			return fmt.Errorf("writing an answer: %w", err)
		}
		idle.answered()
	}
}

// exceededStatus is the exit status of a process that ended because a question took too much.
const exceededStatus = 3

func idOf(line []byte) *int64 {
	var asked question
	if json.Unmarshal(line, &asked) != nil {
		return nil
	}
	return &asked.ID
}

func respond(
	ctx context.Context, env *operation.Environment, handlers map[string]operation.Handler, line []byte,
) (*int64, any, *operation.Error) {
	var asked question
	if err := json.Unmarshal(line, &asked); err != nil {
		return nil, nil, operation.BadRequest("a request is a JSON object with id and op: %v", err)
	}
	handle, known := handlers[asked.Op]
	if !known {
		return &asked.ID, nil, &operation.Error{Code: "unknown_op", Message: fmt.Sprintf("there is no operation %q", asked.Op)}
	}
	result, err := guard(handle)(ctx, env, line)
	if err == nil {
		return &asked.ID, result, nil
	}
	var failure *operation.Error
	if !errors.As(err, &failure) {
		failure = &operation.Error{Code: "failed", Message: err.Error()}
	}
	return &asked.ID, nil, failure
}

// guard turns a panic into an error: components panic on some configurations, and one question must not end the
// process. The trace goes to standard error, which the supervisor records.
func guard(handle operation.Handler) operation.Handler {
	return func(ctx context.Context, env *operation.Environment, request json.RawMessage) (result any, err error) {
		defer func() {
			if reason := recover(); reason != nil {
				fmt.Fprintf(os.Stderr, "panic: %v\n%s", reason, debug.Stack())
				result, err = nil, &operation.Error{Code: "panicked", Message: fmt.Sprint(reason)}
			}
		}()
		return handle(ctx, env, request)
	}
}

var errTooLong = errors.New("the line is too long")

// readLine returns the next line without its end. A line over the bound is discarded and returns errTooLong.
func readLine(lines *bufio.Reader) ([]byte, error) {
	var line []byte
	tooLong := false
	for {
		part, err := lines.ReadSlice('\n')
		if !tooLong {
			line = append(line, part...)
		}
		if len(line) > maxRequest {
			tooLong, line = true, nil
		}
		switch {
		case err == nil && tooLong:
			return nil, errTooLong
		case err == nil:
			return bytes.TrimRight(line, "\r\n"), nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

func writeLine(channel io.Writer, value any) error {
	var line bytes.Buffer
	encoder := json.NewEncoder(&line) // ends what it writes with a newline
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return err
	}
	_, err := channel.Write(line.Bytes())
	return err
}
