package validate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/headgate/headgate/layers/collector/internal/bounds"
	"github.com/headgate/headgate/layers/collector/internal/operation"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension"
	"go.opentelemetry.io/collector/otelcol"
	"go.opentelemetry.io/collector/service/telemetry"
	"go.yaml.in/yaml/v3"
)

// Plan is what a collector would build of a text: its components without those that have an error, which the verdict
// tells.
type Plan struct {
	parts   *parts
	graph   *graph
	report  *report
	request Request
	// telemetry is the decoded configuration of the collector's own telemetry, nil if it has an error.
	telemetry component.Config
}

// Extension is an extension that the service lists.
type Extension struct {
	ID      component.ID
	Config  component.Config
	Factory extension.Factory
}

// NewPlan decodes the components of a text. It returns nil for a text of which nothing can be built. Its error has the
// code too_costly or is internal.
func NewPlan(ctx context.Context, env *operation.Environment, request Request) (*Plan, error) {
	reading := NewReading(request)
	if reading.NotYAML != nil {
		return nil, nil
	}
	if cost := tooCostly(reading.Document.Affordable(), request.replaced()); cost != nil {
		return nil, cost
	}
	resolved, err := resolve(ctx, reading.Document, request)
	if cost := tooCostly(err, bounds.Configuration(resolved.plain)); cost != nil {
		return nil, cost
	}
	if err != nil {
		return nil, nil
	}
	factories, err := env.Factories()
	if err != nil {
		return nil, fmt.Errorf("making the factories: %w", err)
	}
	report := &report{document: reading.Document}
	diagnosis := &diagnosis{report: report, env: env, refused: report.refusals(resolved)}
	parts := diagnosis.decode(resolved.conf, factories)
	if diagnosis.refused[""] || report.result.NoConfiguration {
		return nil, nil
	}
	plan := &Plan{parts: parts, graph: diagnosis.graph(parts), report: report, request: request}
	if plan.graph == nil || len(plan.graph.pipelines) == 0 || plan.graph.incomplete() {
		return nil, nil
	}
	ownTelemetry := []string{"service", "telemetry"}
	hasError := slices.ContainsFunc(report.result.Errors, func(finding Finding) bool { return isWithin(finding.path, ownTelemetry) })
	if !hasError && !diagnosis.incomplete(ownTelemetry) {
		plan.telemetry = parts.service.Telemetry
	}
	return plan, nil
}

// Build builds the pipelines from what `around` makes of the collector's factories, and again without each component that
// cannot be built. It calls `begin` before each time, and tells whether it has built them.
func (p *Plan) Build(ctx context.Context, around func(otelcol.Factories) otelcol.Factories, begin func()) bool {
	p.parts.factories = around(p.parts.factories)
	for range maxBuilds {
		begin()
		err := p.graph.build(ctx)
		if err == nil {
			return true
		}
		section, id, is := p.graph.blame(err.Error())
		if !is || section == "connectors" {
			return false
		}
		p.graph.takeOut(section, id)
		if p.graph.incomplete() {
			return false
		}
	}
	return false
}

// Extensions returns the extensions that the service lists, without those that have an error.
func (p *Plan) Extensions() []Extension {
	var listed []Extension
	for _, id := range p.parts.service.Extensions {
		factory, known := p.parts.factories.Extensions[id.Type()]
		config := p.parts.extensions[id]
		repeated := slices.ContainsFunc(listed, func(earlier Extension) bool { return earlier.ID == id })
		if known && config != nil && !repeated {
			listed = append(listed, Extension{id, config, factory})
		}
	}
	return listed
}

// Telemetry returns the factory of the collector's own telemetry and its configuration, nil if it has an error, which the
// verdict tells.
func (p *Plan) Telemetry() (telemetry.Factory, component.Config) {
	return p.parts.factories.Telemetry, p.telemetry
}

// Finding is a finding about the part of the text at a path, at the value that its message quotes, or at its key. If that
// comes from a variable without a value here, the host decides.
func (p *Plan) Finding(code Code, path []string, message string) Finding {
	finding := p.placed(code, path, message)
	if finding.Code == StartFailed {
		finding.addCauses(p.report.variableReferences(), p.request)
		if finding.Cause != nil {
			finding.Code = DependsOnHost
		}
	}
	return finding
}

func (p *Plan) placed(code Code, path []string, message string) Finding {
	if quoted, is := p.report.quotedBelow(path, message); is {
		_, at := p.report.document.Nearest(quoted...)
		if position, placed := p.report.document.Value(quoted...); placed {
			at = position
		}
		return *(&report{document: p.report.document}).addAt(new([]Finding), at, code, quoted, message)
	}
	return *(&report{document: p.report.document}).add(new([]Finding), code, atKey, path, message)
}

// quotedBelow returns the path of the value below a path that a message quotes: of several the one that it quotes last,
// for an error names what is around it first. A value that is among its words, and not at its end, counts if none is in
// quotes.
func (r *report) quotedBelow(path []string, message string) (quoted []string, is bool) {
	best, repeats := quotation{}, strings.Contains(message, "duplicate")
	r.document.Scalars(func(at []string, node *yaml.Node) bool {
		if node.Value != "" && len(at) > len(path) && isWithin(at, path) {
			if here := quotationIn(message, node.Value); here.isBetter(best) || repeats && here == best && is {
				best, quoted, is = here, slices.Clone(at), true
			}
		}
		return true
	})
	return quoted, is
}

// quotation is where a message has a value.
type quotation struct {
	inQuotes   bool
	at, length int
}

func (q quotation) isBetter(than quotation) bool {
	if q.length == 0 || than.length == 0 {
		return q.length > 0
	}
	if q.inQuotes != than.inQuotes {
		return q.inQuotes
	}
	return q.at > than.at || q.at == than.at && q.length > than.length
}

// shortestWord is the length of a value that a message has as a word and not by chance.
const shortestWord = 4

func quotationIn(message, value string) quotation {
	for _, quote := range []string{strconv.Quote(value), "'" + value + "'", "`" + value + "`"} {
		if at := strings.LastIndex(message, quote); at >= 0 {
			return quotation{true, at, len(value)}
		}
	}
	if at := strings.LastIndex(message, value); len(value) >= shortestWord && at >= 0 {
		before, after := message[:at], message[at+len(value):]
		if (before == "" || isNoWord(before[len(before)-1])) && (after == "" || isNoWord(after[0])) {
			return quotation{after == "", at, len(value)}
		}
	}
	return quotation{}
}

func isNoWord(character byte) bool {
	return character < utf8.RuneSelf && character != '_' && !unicode.IsLetter(rune(character)) && !unicode.IsDigit(rune(character))
}

// Guarded does some work of a component. A panic is an error that IsCrash knows.
func Guarded(work func() error) (err error) {
	defer recovered(&err)
	return work()
}

// IsCrash tells whether an error is a component's panic.
func IsCrash(err error) bool { return errors.As(err, new(panicked)) }
