package lint

import (
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/alecthomas/participle/v2/lexer"
)

var errRequestEffort = errors.New("the expressions of this request are so costly that the time for it has run out")

const ottlModule = "github.com/open-telemetry/opentelemetry-collector-contrib/pkg/ottl"

// version is that of the linked module pkg/ottl. All modules of contrib are released together under one version, so the
// collector's is as good where the binary does not say what it is linked with: in tests.
func version(collector string) string {
	if info, told := debug.ReadBuildInfo(); told {
		for _, dependency := range info.Deps {
			if dependency.Path == ottlModule {
				return dependency.Version
			}
		}
	}
	return "v" + collector
}

// syntaxError is an error of the parser that knows its place.
type syntaxError interface {
	error
	Message() string
	Position() lexer.Position
}

// item is the verdict on the expression, in the form of the answer.
//
// A broken expression is located at the token that the parser stumbled over, a good one where it starts.
func (e *expression) item() Item {
	offset := len(e.written) - len(strings.TrimLeft(e.written, " \t\r\n"))
	item := Item{Kind: e.kind(), Expression: e.written}
	if e.err != nil {
		offset = e.offending()
		if e.resolved != e.written {
			offset = writtenOffset(e.written, offset)
		}
	}
	item.Location.Path = e.path
	item.Location.Line, item.Location.Column = e.position(offset)
	if e.err != nil {
		message := e.message(item.Location)
		item.Error = &message
	}
	if e.context != "" {
		item.Context = &e.context
	}
	if len(e.note) > 0 {
		note := strings.Join(e.note, "; ")
		item.Note = &note
	}
	return item
}

// message is what the parser said, with the place in the text instead of its own.
func (e *expression) message(place Location) string {
	said := parserError(e.err)
	message := said.Error()
	var syntax syntaxError
	if errors.As(said, &syntax) {
		translated := fmt.Sprintf("%d:%d: %s", place.Line, place.Column, syntax.Message())
		message = strings.Replace(message, syntax.Error(), translated, 1)
	}
	return message
}

// parserError is the part of a component's error that the parser said: what the component wrapped around it names
// fields of the configuration that it was tried in, and repeats the expression.
func parserError(err error) error {
	for {
		inner := within(err)
		if inner == nil {
			return err
		}
		around, found := strings.CutSuffix(err.Error(), inner.Error())
		if !found || !componentsWords(around) {
			return err
		}
		err = inner
	}
}

// within is the one error that another wraps, nil if there are none or several.
func within(err error) error {
	if several, joined := err.(interface{ Unwrap() []error }); joined {
		if wrapped := several.Unwrap(); len(wrapped) == 1 {
			return wrapped[0]
		}
		return nil
	}
	return errors.Unwrap(err)
}

// componentsWords tells whether a text that precedes an error is the component's, not the parser's.
func componentsWords(around string) bool {
	if around == "" {
		return true
	}
	for _, start := range []string{"unable to parse OTTL ", "unable to infer a valid context"} {
		if strings.HasPrefix(around, start) {
			return true
		}
	}
	for _, ending := range []string{"has invalid syntax: ", "couldn't create function: ", "invalid argument at position"} {
		if strings.Contains(around, ending) {
			return false
		}
	}
	return !strings.HasPrefix(around, "error while parsing arguments")
}
