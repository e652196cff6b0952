package policies

import (
	"iter"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/google/cel-go/common/types/ref"
	"github.com/headgate/headgate/layers/collector/internal/alias"
	"github.com/headgate/headgate/layers/collector/internal/decoded"
	"github.com/headgate/headgate/layers/collector/internal/operation"
	"github.com/headgate/headgate/layers/collector/internal/source"
	"github.com/headgate/headgate/layers/collector/internal/validate"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/otelcol"
)

// configuration is a resolved configuration as the policies see it.
type configuration struct {
	reading  *validate.Reading
	request  validate.Request
	document *source.Document
	plain    map[string]any
	conf     *confmap.Conf
	// sections are those of conf that somebody has asked for.
	sections map[string]*confmap.Conf
	// entries are all components, in the order of their sections and names.
	entries   []*entry
	pipelines []*pipeline
	// hasReferences is set if the text has a dollar sign at all.
	hasReferences bool
	// started are the extensions that the service lists.
	started entries
	// exportingTo are the pipelines that export to a component, nil until a policy asks.
	exportingTo map[*entry][]*pipeline
	// values are the components as rules see them, nil until a rule asks.
	values []ref.Val
}

// entry is a component as the configuration declares it.
type entry struct {
	of      *configuration
	section string
	// id is the name in the text, kind the type in it, factory nil if this build has none.
	id, kind string
	factory  component.Factory
	// written is what the text sets, with `${...}` replaced.
	written any
	// used is set if a pipeline or the service lists the component.
	used bool

	isRead    bool
	config    component.Config
	isWritten bool
	settings  map[string]any
	// clientsFound and serversFound are nil until a policy asks.
	clientsFound, serversFound []place
	// value is the component as rules see it, settingsSeen its settings; both are nil until a rule asks.
	value, settingsSeen ref.Val
}

// pipeline is one of service::pipelines. A component that is not declared is missing in its lists.
type pipeline struct {
	id, signal                       string
	path                             []string
	receivers, processors, exporters []*entry
}

func newConfiguration(
	reading *validate.Reading, conf *confmap.Conf, plain map[string]any, factories otelcol.Factories,
) *configuration {
	c := &configuration{
		reading: reading, request: reading.Request, document: reading.Document, plain: plain, conf: conf,
		sections: map[string]*confmap.Conf{},
	}
	c.hasReferences = strings.Contains(c.request.YAML, "$")
	for _, section := range source.Sections {
		c.addEntries(section, operation.FactoriesOf(section, factories))
	}
	c.addService()
	return c
}

func (c *configuration) addEntries(section string, factories map[component.Type]component.Factory) {
	content, _ := c.plain[section].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(content)) {
		var id component.ID
		if id.UnmarshalText([]byte(name)) != nil {
			continue
		}
		c.entries = append(c.entries, &entry{
			of: c, section: section, id: name, kind: id.Type().String(), factory: factories[id.Type()], written: content[name],
		})
	}
}

func (c *configuration) addService() {
	known := map[string]*entry{}
	for _, one := range c.entries {
		known[one.section+separator+strings.TrimSpace(one.id)] = one
	}
	list := func(value any, sections ...string) []*entry {
		var found []*entry
		names, _ := value.([]any)
		for _, name := range names {
			text, _ := name.(string)
			for _, section := range sections {
				if one, declared := known[section+separator+strings.TrimSpace(text)]; declared {
					one.used = true
					found = append(found, one)
					break
				}
			}
		}
		return found
	}
	service, _ := c.plain["service"].(map[string]any)
	c.started = list(service["extensions"], "extensions")
	pipelines, _ := service["pipelines"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(pipelines)) {
		body, _ := pipelines[name].(map[string]any)
		signal, _, _ := strings.Cut(name, "/")
		c.pipelines = append(c.pipelines, &pipeline{
			id: name, signal: strings.TrimSpace(signal), path: []string{"service", "pipelines", name},
			receivers:  list(body["receivers"], "receivers", "connectors"),
			processors: list(body["processors"], "processors"),
			exporters:  list(body["exporters"], "exporters", "connectors"),
		})
	}
}

// entries are components of a configuration.
type entries []*entry

// of returns those that are of one of these types.
func (list entries) of(types ...string) entries {
	var found entries
	for _, one := range list {
		if one.is(types...) {
			found = append(found, one)
		}
	}
	return found
}

// running returns the components that the service uses, of these sections, or of all without any.
func (c *configuration) running(sections ...string) entries {
	var found entries
	for _, one := range c.entries {
		if one.used && (len(sections) == 0 || slices.Contains(sections, one.section)) {
			found = append(found, one)
		}
	}
	return found
}

// path returns the component's path, and what follows it.
func (e *entry) path(more ...string) []string {
	return append([]string{e.section, e.id}, more...)
}

// is tells whether the component is of one of these types, by the new name of a type or the old one. Underscores do not
// count: releases have renamed `filelog` to `file_log`.
func (e *entry) is(types ...string) bool {
	names := []string{plain(e.kind)}
	if e.factory != nil {
		names = append(names, plain(e.factory.Type().String()))
		if former, renamed := alias.Of(e.factory); renamed {
			names = append(names, plain(former.String()))
		}
	}
	return slices.ContainsFunc(types, func(one string) bool { return slices.Contains(names, plain(one)) })
}

func plain(kind string) string { return strings.ReplaceAll(kind, "_", "") }

// read decodes the component's configuration once. It is nil if the component refuses it.
func (e *entry) read() component.Config {
	if e.isRead {
		return e.config
	}
	e.isRead = true
	if e.factory == nil {
		return nil
	}
	config := e.of.reading.Config(e.section, e.id)
	if config == nil {
		var err error
		if config, err = decoded.Config(e.of.sectionConf(e.section), e.id, e.factory); err != nil {
			return nil
		}
	}
	e.config = config
	return e.config
}

// allSettings writes down the component's configuration once. If the component refuses it or is not in this build, it is
// what the text sets.
func (e *entry) allSettings() map[string]any {
	if !e.isWritten {
		e.isWritten = true
		e.settings, _ = e.written.(map[string]any)
		if config := e.read(); config != nil {
			if settings, err := decoded.Settings(config); err == nil {
				e.settings = settings
			}
		}
	}
	return e.settings
}

// sectionConf returns the configuration of a section, which confmap copies, so once.
func (c *configuration) sectionConf(section string) *confmap.Conf {
	if c.sections[section] == nil {
		sub, err := c.conf.Sub(section)
		if err != nil {
			sub = confmap.New()
		}
		c.sections[section] = sub
	}
	return c.sections[section]
}

// setting returns a setting's value, with the component's default: nil, a boolean, a number, a text, a list or a mapping.
// If the component refuses its configuration or is not in this build, it is what the text sets.
func (e *entry) setting(path ...string) any {
	if !e.isWritten {
		if value, known := field(reflect.ValueOf(e.read()), path); known {
			return decoded.Simple(value)
		}
	}
	return below(e.allSettings(), path)
}

// sets tells whether the text itself sets something.
func (e *entry) sets(path ...string) bool { return valueAt(e.written, path...) != nil }

func below(value any, path []string) any {
	for _, key := range path {
		mapping, isMapping := decoded.Simple(value).(map[string]any)
		if !isMapping {
			return nil
		}
		value = mapping[key]
	}
	return decoded.Simple(value)
}

// text returns a setting that is a text, else "".
func (e *entry) text(path ...string) string {
	value, _ := e.setting(path...).(string)
	return value
}

// on tells whether a setting is true.
func (e *entry) on(path ...string) bool {
	value, _ := e.setting(path...).(bool)
	return value
}

// number returns a setting that is a number, else 0.
func (e *entry) number(path ...string) float64 {
	switch value := e.setting(path...).(type) {
	case int:
		return float64(value)
	case int64:
		return float64(value)
	case uint64:
		return float64(value)
	case float64:
		return value
	default:
		return 0
	}
}

// list returns the entries of a setting that is a list, else none.
func (e *entry) list(path ...string) []any {
	value, _ := e.setting(path...).([]any)
	return value
}

// leaves yields every value below another that is not a mapping or a list, with the keys and indices that lead to it.
func leaves(value any) iter.Seq2[[]string, any] {
	return func(yield func([]string, any) bool) { visit(value, nil, yield) }
}

// visit returns false as soon as yield does.
func visit(value any, path []string, yield func([]string, any) bool) bool {
	switch content := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(content)) {
			if !visit(content[key], append(path[:len(path):len(path)], key), yield) {
				return false
			}
		}
	case []any:
		for i, inner := range content {
			if !visit(inner, append(path[:len(path):len(path)], strconv.Itoa(i)), yield) {
				return false
			}
		}
	default:
		return len(path) == 0 || yield(path, value)
	}
	return true
}

// texts yields every text that the configuration sets for a component, with the path of its setting.
func (e *entry) texts() iter.Seq2[[]string, string] {
	return func(yield func([]string, string) bool) {
		for path, value := range leaves(e.written) {
			if text, isText := value.(string); isText && !yield(path, text) {
				return
			}
		}
	}
}

// textAt returns the text at a path of keys and indices, else "".
func textAt(value any, path ...string) string {
	text, _ := valueAt(value, path...).(string)
	return text
}

// listAt returns the list at a path of keys and indices, else none.
func listAt(value any, path ...string) []any {
	list, _ := valueAt(value, path...).([]any)
	return list
}

// valueAt returns what is at a path of keys and indices, nil for nothing.
func valueAt(value any, path ...string) any {
	for _, key := range path {
		switch content := value.(type) {
		case map[string]any:
			value = content[key]
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i < 0 || i >= len(content) {
				return nil
			}
			value = content[i]
		default:
			return nil
		}
	}
	return value
}
