package lint

import (
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/alecthomas/participle/v2/lexer"
)

var errRequestEffort = errors.New("the expressions of this request together take too long to parse; send fewer, or simpler ones")

const ottlModule = "github.com/open-telemetry/opentelemetry-collector-contrib/pkg/ottl"

// OTTLVersion is the version of the linked module pkg/ottl. In tests the binary does not tell what it is linked with:
// there it is the collector's version, under which all modules of contrib are released.
func OTTLVersion(collector string) string {
	if info, known := debug.ReadBuildInfo(); known {
		for _, dependency := range info.Deps {
			if dependency.Path == ottlModule {
				return dependency.Version
			}
		}
	}
	return "v" + collector
}

// syntaxError is an error of the parser with a position.
type syntaxError interface {
	error
	Message() string
	Position() lexer.Position
}

// item returns the verdict on the expression as the answer holds it.
//
// An invalid expression is located at the token that the parser failed at, a valid one at its start.
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
	item.Notes = e.findings
	notes := slices.Concat(e.advice, e.note)
	for _, one := range e.findings {
		notes = append(notes, one.Message)
	}
	if len(notes) > 0 {
		note := strings.Join(notes, "; ")
		item.Note = &note
	}
	return item
}

// message returns the parser's message, with the position in the text instead of the parser's own.
func (e *expression) message(place Location) string {
	cause := parserError(e.err)
	message := cause.Error()
	var syntax syntaxError
	if errors.As(cause, &syntax) {
		translated := fmt.Sprintf("%d:%d: %s", place.Line, place.Column, syntax.Message())
		message = strings.Replace(message, syntax.Error(), translated, 1)
	}
	return message
}

// parserError returns the parser's part of a component's error. What the component wraps around it repeats the
// expression and names fields of the configuration made for the probe, which the user does not have.
func parserError(err error) error {
	for {
		inner := within(err)
		if inner == nil {
			return err
		}
		around, found := strings.CutSuffix(err.Error(), inner.Error())
		if !found || !fromComponent(around) {
			return err
		}
		err = inner
	}
}

// within returns the single error that another wraps, nil if there is none or more than one.
func within(err error) error {
	if several, joined := err.(interface{ Unwrap() []error }); joined {
		if wrapped := several.Unwrap(); len(wrapped) == 1 {
			return wrapped[0]
		}
		return nil
	}
	return errors.Unwrap(err)
}

// fromComponent reports whether the text before an error comes from the component, not the parser.
func fromComponent(around string) bool {
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
