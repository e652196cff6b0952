// Package inspect tells what this version of the collector makes of a configuration, so that two versions can be
// compared: the verdict, and for each component its new name, the settings that the text leaves to their defaults, and
// what it logs while it is built.
//
// The verdict and the findings are those of the package validate. Components that a reduced build lacks are taken as
// able to do anything, so that the rest is checked; they are listed, and without an error elsewhere there is no verdict.
package inspect

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/headgate/headgate/layers/collector/internal/alias"
	"github.com/headgate/headgate/layers/collector/internal/decoded"
	"github.com/headgate/headgate/layers/collector/internal/history"
	"github.com/headgate/headgate/layers/collector/internal/machine"
	"github.com/headgate/headgate/layers/collector/internal/operation"
	"github.com/headgate/headgate/layers/collector/internal/source"
	"github.com/headgate/headgate/layers/collector/internal/validate"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/otelcol"
)

const separator = "::"

// Result is the answer. Valid is nil if nothing is wrong but a component is not in the build, and so is ValidOnHost, which
// is that of `validate`. Incomplete is set if there were more settings or messages than are told.
type Result struct {
	Valid       *bool              `json:"valid"`
	ValidOnHost *bool              `json:"valid_on_host"`
	Errors      []validate.Finding `json:"errors"`
	Warnings    []validate.Finding `json:"warnings"`
	Components  []Component        `json:"components"`
	NotInBuild  []NotInBuild       `json:"not_in_build"`
	Incomplete  bool               `json:"incomplete"`
}

// Component is a component of the configuration. RenamedTo is its type's new name, empty if Type is not deprecated.
// Defaults are the settings that the text does not write, by their path; it is empty for a component that cannot be
// read. Logs are warnings and errors.
type Component struct {
	ComponentPath string   `json:"component_path"`
	Section       string   `json:"section"`
	ID            string   `json:"id"`
	Type          string   `json:"type"`
	Line          int      `json:"line"`
	Column        int      `json:"column"`
	RenamedTo     string   `json:"renamed_to"`
	Defaults      settings `json:"defaults"`
	Logs          []Log    `json:"logs"`
	// Words are those of history.Words among its settings.
	Words []string `json:"words"`
}

// Log is a message that a component logged while it was built.
type Log struct {
	Level   string `json:"level"`
	Message string `json:"message"`
}

// NotInBuild is a component that the official release has and this build lacks.
type NotInBuild struct {
	ComponentPath string `json:"component_path"`
	Line          int    `json:"line"`
	Column        int    `json:"column"`
	Kind          string `json:"kind"`
	Type          string `json:"type"`
}

// Handler returns the handler that answers `inspect {yaml, env}` with a Result. Its errors are those of `validate`.
func Handler() operation.Handler {
	known := newKnownDefaults()
	return func(ctx context.Context, env *operation.Environment, raw json.RawMessage) (any, error) {
		var request validate.Request
		if err := json.Unmarshal(raw, &request); err != nil {
			return nil, operation.BadRequest("inspect takes yaml and env: %v", err)
		}
		return inspect(ctx, env, known, request)
	}
}

func inspect(
	ctx context.Context, env *operation.Environment, known *knownDefaults, request validate.Request,
) (*Result, error) {
	document, err := source.Parse(request.YAML)
	if err != nil {
		document = nil // what validate says about it is enough
	}
	i := &inspection{env: env, known: known, document: document, recorder: newRecorder(), absent: absences{}}
	defer i.recorder.shutdown(ctx)
	if document != nil {
		i.absent = i.lacking(i.written)
	}
	verdict, conf, err := i.check(ctx, request)
	if err != nil {
		return nil, err
	}
	if conf != nil {
		// A section may come from a variable, so that only the resolved configuration shows what is in it.
		if absent := i.lacking(idsOf(conf)); !i.absent.cover(absent) {
			i.absent = absent
			if verdict, conf, err = i.check(ctx, request); err != nil {
				return nil, err
			}
		}
	}
	result := &Result{Errors: verdict.Errors, Warnings: verdict.Warnings, Components: []Component{}, NotInBuild: []NotInBuild{}}
	if conf != nil && document != nil {
		if err := i.components(ctx, conf, result); err != nil {
			return nil, err
		}
	}
	result.Incomplete = result.Incomplete || i.recorder.isIncomplete()
	if !verdict.Valid || len(result.NotInBuild) == 0 {
		result.Valid = &verdict.Valid
	}
	if onHost := verdict.ValidOnHost; onHost != nil && (!*onHost || len(result.NotInBuild) == 0) {
		result.ValidOnHost = onHost
	}
	return result, nil
}

// inspection is one question while it is answered.
type inspection struct {
	env      *operation.Environment
	known    *knownDefaults
	document *source.Document
	recorder *recorder
	absent   absences
}

// check validates the text with recording factories, and with a stand-in for what is absent.
func (i *inspection) check(ctx context.Context, request validate.Request) (*validate.Result, *confmap.Conf, error) {
	env := &operation.Environment{BuildInfo: i.env.BuildInfo, Factories: func() (otelcol.Factories, error) {
		factories, err := i.factories()
		if err == nil {
			factories = i.recorder.recorded(factories)
		}
		return factories, err
	}}
	return validate.Check(ctx, env, request)
}

func (i *inspection) factories() (otelcol.Factories, error) {
	factories, err := i.env.Factories()
	if err != nil {
		return factories, fmt.Errorf("making the factories: %w", err)
	}
	i.absent.standIns(factories)
	return factories, nil
}

// written returns the names of the components that the text itself writes in a section.
func (i *inspection) written(section string) []string { return i.document.Keys(section) }

// idsOf returns the names of a section's components in a resolved configuration.
func idsOf(conf *confmap.Conf) func(section string) []string {
	plain := conf.ToStringMap()
	return func(section string) []string {
		content, _ := plain[section].(map[string]any)
		return slices.Collect(maps.Keys(content))
	}
}

// lacking returns the types in use that this build lacks.
func (i *inspection) lacking(names func(section string) []string) absences {
	absent := absences{}
	if len(i.env.Lacking) == 0 {
		return absent
	}
	for _, section := range source.Sections {
		for _, name := range names(section) {
			var id component.ID
			if id.UnmarshalText([]byte(name)) != nil {
				continue
			}
			if lacked, lacks := i.env.Lacks(section, id.Type()); lacks {
				if absent[section] == nil {
					absent[section] = map[component.Type]operation.Absent{}
				}
				absent[section][id.Type()] = lacked
			}
		}
	}
	return absent
}

// cover tells whether all of the others are among these.
func (a absences) cover(others absences) bool {
	for section, types := range others {
		for kind := range types {
			if _, known := a[section][kind]; !known {
				return false
			}
		}
	}
	return true
}

// components adds the components of a configuration to the result, in the order of the text.
func (i *inspection) components(ctx context.Context, conf *confmap.Conf, result *Result) error {
	factories, err := i.factories()
	if err != nil {
		return err
	}
	r := &reader{inspection: i, result: result, plain: conf.ToStringMap(), machine: machine.Here(), left: maxSettings}
	read(r, conf, "receivers", factories.Receivers)
	read(r, conf, "processors", factories.Processors)
	read(r, conf, "exporters", factories.Exporters)
	read(r, conf, "connectors", factories.Connectors)
	r.createExtensions(ctx, factories.Extensions, read(r, conf, "extensions", factories.Extensions))
	r.takeLogs()
	slices.SortFunc(result.Components, func(a, b Component) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), strings.Compare(a.ComponentPath, b.ComponentPath))
	})
	slices.SortFunc(result.NotInBuild, func(a, b NotInBuild) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), strings.Compare(a.ComponentPath, b.ComponentPath))
	})
	return nil
}

// reader reads the components of a resolved configuration.
type reader struct {
	*inspection
	result  *Result
	plain   map[string]any
	machine machine.Facts
	// left is how many more settings are told.
	left int
}

// read adds the components of a section to the result, and returns the configurations of those that can be read.
func read[F component.Factory](
	r *reader, conf *confmap.Conf, section string, factories map[component.Type]F,
) map[component.ID]component.Config {
	configs := map[component.ID]component.Config{}
	sub, err := conf.Sub(section)
	if err != nil {
		return configs // the findings say that it is not a mapping
	}
	content, _ := r.plain[section].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(content)) {
		var id component.ID
		if id.UnmarshalText([]byte(name)) != nil {
			continue // the findings say so
		}
		_, position := r.document.Nearest(section, name)
		path := section + separator + name
		if lacked, isAbsent := r.absent[section][id.Type()]; isAbsent {
			r.result.NotInBuild = append(r.result.NotInBuild, NotInBuild{
				ComponentPath: path, Line: position.Line, Column: position.Column, Kind: lacked.Kind, Type: id.Type().String(),
			})
			continue
		}
		one := Component{
			ComponentPath: path, Section: section, ID: id.String(), Type: id.Type().String(),
			Line: position.Line, Column: position.Column, Defaults: settings{}, Words: wordsIn(content[name]),
		}
		if factory, known := factories[id.Type()]; known {
			if renamed, is := alias.RenamedTo(factory, id.Type()); is {
				one.RenamedTo = renamed.String()
			}
			if config, err := decoded.Config(sub, name, factory); err == nil {
				configs[id] = config
				one.Defaults = r.defaults(section, factory, config, content[name])
			}
		}
		r.result.Components = append(r.result.Components, one)
	}
	return configs
}

// wordsIn returns those of history.Words that settings match.
func wordsIn(settings any) []string {
	words := []string{}
	written, _ := json.Marshal(settings)
	for _, word := range slices.Sorted(maps.Keys(history.Words)) {
		if history.Words[word].Match(written) {
			words = append(words, word)
		}
	}
	return words
}

// defaults returns the settings of a component that the text leaves to their defaults.
func (r *reader) defaults(section string, factory component.Factory, config component.Config, written any) settings {
	plain, err := decoded.Settings(config)
	if err != nil || r.left <= 0 {
		r.result.Incomplete = true
		return settings{}
	}
	found := unwritten(plain, written)
	const shortest = 4 // shorter texts occur in anything
	own := r.known.of(section, factory)
	found.withoutDrawn(own)
	found.withoutDerived(own.settings, decoded.Texts(written, shortest))
	found.withoutMachine(r.machine)
	if r.left -= len(found); r.left < 0 {
		r.result.Incomplete = true
		return settings{}
	}
	return found
}

// takeLogs gives each component what it logged, with the configuration's own texts left out.
func (r *reader) takeLogs() {
	for i := range r.result.Components {
		one := &r.result.Components[i]
		one.Logs = r.recorder.of(one.Section + separator + one.ID)
		if len(one.Logs) == 0 {
			continue
		}
		content, _ := r.plain[one.Section].(map[string]any)
		_, name, _ := strings.Cut(one.ComponentPath, separator)
		hide := decoded.Hiding(content[name])
		for j := range one.Logs {
			one.Logs[j].Message = hide.Replace(one.Logs[j].Message)
		}
	}
}
